from pathlib import Path

import pytest

from boring.exceptions import InvalidInputError
from experiments.benchmark_page import main, worth_showing
from experiments.records import RecordError, append_record, read_folders

PNG = b"\x89PNG"


@pytest.fixture
def folders(make_record, tmp_path):
    """Two folders: ours and a rival's; a run repeated, a rival's seed more, a method too rare."""
    runs = {
        "rivals": [make_record([9.0, 2.0 + s], seed=s, method="sobol") for s in range(4)]
        + [make_record([9.0, 7.0], seed=0, method="peer-cma")]
        + [make_record([9.0, 8.0], seed=0)]
        + [
            make_record([9.0, 3.0], seed=s, method="sobol", experiment="easom-2-in-10")
            for s in (0, 1)
        ],
        "ours": [make_record([9.0, 0.5 + s / 10], seed=s) for s in range(3)],
    }
    for name, records in runs.items():
        (tmp_path / name).mkdir()
        for record in records:
            append_record(tmp_path / name / f"{record.experiment}.jsonl", record)
    return [tmp_path / name for name in runs]


def test_the_later_folder_counts_and_small_samples_are_left_out(folders):
    records = read_folders(folders)
    assert [r.y[-1] for r in records if r.key == ("camelback-2-in-5", "boring", 0)] == [0.5]
    shown, left_out = worth_showing(records, "boring")
    assert {r.method for r in shown} == {"boring", "sobol"}
    assert {r.experiment for r in shown} == {"camelback-2-in-5"}
    assert {r.seed for r in shown} == {0, 1, 2}, "those that the reference has run"
    assert left_out == 4


def test_the_page_holds_the_figures_of_the_records_and_its_pictures(folders, tmp_path):
    page = tmp_path / "site" / "benchmarks.md"
    page.parent.mkdir()
    main([*map(str, folders), "--page", str(page)])
    text = page.read_text(encoding="utf-8")
    assert "6 runs of 1 experiments by 2 methods" in text
    row = next(line for line in text.splitlines() if line.startswith("| camelback-2-in-5 ["))
    assert "**1.6 (1.6)**" in row
    assert "4 (4)" in row
    pictures = {path.name for path in (page.parent / "images").iterdir()}
    assert pictures == {"standing-light.png", "standing-dark.png", "convergence-thesis.png"}
    assert all(f"images/{name}" in text for name in pictures)
    for name in pictures:
        assert (page.parent / "images" / name).read_bytes().startswith(PNG)


def test_nothing_to_show_is_said(folders, tmp_path):
    with pytest.raises(RecordError, match="holds no"):
        read_folders([tmp_path / "none"])
    with pytest.raises(InvalidInputError, match="3 runs of gp"):
        main([*map(str, folders), "--reference", "gp", "--page", str(tmp_path / "page.md")])


def test_the_page_on_file_was_written_by_the_script():
    docs = Path(__file__).resolve().parents[2] / "docs"
    text = (docs / "benchmarks.md").read_text(encoding="utf-8")
    assert text.startswith("<!-- Written by `python -m experiments.benchmark_page`")
    assert (docs / "images" / "standing-dark.png").exists()
