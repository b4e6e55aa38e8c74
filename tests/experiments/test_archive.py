import gzip

import numpy as np
import pytest

from experiments.archive import compact, main, write_archive
from experiments.records import RecordError, append_record, read_folders, read_records


@pytest.fixture
def run(make_record):
    """A run with more digits than the archive keeps."""
    values = -1.03 + np.pi * 10.0 ** -np.arange(1.0, 9.0)
    return make_record([float(v) for v in values], seed=3)


def test_regrets_survive_and_points_do_not(run):
    kept = compact(run)
    np.testing.assert_allclose(kept.y, run.y, rtol=1e-11)
    np.testing.assert_allclose(kept.simple_regret, run.simple_regret, rtol=0, atol=1e-11)
    assert (kept.X, kept.x_best, kept.basis) == (None, None, None)
    assert (kept.key, kept.y_best, kept.optimum) == (run.key, run.y_best, run.optimum)


def test_an_archive_reads_like_its_sources_and_grows(run, make_record, tmp_path, capsys):
    file = tmp_path / "measured" / "arena.jsonl.gz"
    for name, record in {"first": run, "second": make_record([9.0, 2.0], seed=4)}.items():
        (tmp_path / name).mkdir()
        append_record(tmp_path / name / "any.jsonl", record)
        main([str(tmp_path / name), "--file", str(file)])
    assert "2 runs" in capsys.readouterr().out
    assert [r.seed for r in read_folders([file.parent])] == [3, 4]
    assert read_records(file)[0] == compact(run)
    main([str(tmp_path / "second"), "--file", str(file), "--anew"])
    assert [r.seed for r in read_records(file)] == [4]


def test_the_same_records_give_the_same_bytes(run, make_record, tmp_path):
    other = make_record([9.0, 2.0], seed=1)
    write_archive([run, other], tmp_path / "a.jsonl.gz")
    write_archive([other, other, run], tmp_path / "b.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(b"{}\n")[:-9]], ids=["no gzip", "cut off"]
)
def test_a_damaged_archive_is_named(content, tmp_path):
    file = tmp_path / "broken.jsonl.gz"
    file.write_bytes(content)
    with pytest.raises(RecordError, match=r"broken\.jsonl\.gz cannot be read"):
        read_records(file)
