from dataclasses import replace

import pytest

from experiments import bench, recovery
from experiments.config import get_experiment
from experiments.growth import GrowthCell, GrowthTimes, growth_table
from experiments.records import read_records


@pytest.fixture
def small(monkeypatch):
    def get(name):
        experiment = get_experiment(name)
        return replace(experiment, budget=experiment.n_initial + 1, methods=("sobol", "random"))

    monkeypatch.setattr(bench, "get_experiment", get)


def test_optimisation_part_runs_every_experiment_of_the_table(small, tmp_path, capsys):
    written = bench.run_bench(tmp_path, seeds=1, jobs=1, only=["optimisation"])
    assert written == (tmp_path / "optimisation.md",)
    text = written[0].read_text()
    assert text in capsys.readouterr().out + "\n"
    for name in bench.OPTIMISATION_TABLE:
        assert f"### {name}" in text
        assert (tmp_path / "optimisation" / f"convergence-{name}.png").exists()
    assert len(read_records(tmp_path / "optimisation.jsonl")) == 2 * len(bench.OPTIMISATION_TABLE)


def test_recovery_part_writes_its_table_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(recovery, "CELLS", (recovery.Cell("camelback", 5, 50),))
    (written,) = bench.run_bench(tmp_path, seeds=1, only=["recovery"])
    text = written.read_text()
    assert "camelback-5-50" in text
    assert "1/1" in text
    before = (tmp_path / "recovery.jsonl").read_text()
    bench.run_bench(tmp_path, seeds=1, only=["recovery"])
    assert (tmp_path / "recovery.jsonl").read_text() == before


def test_speed_part_writes_what_was_measured(tmp_path, monkeypatch):
    times = [GrowthTimes(GrowthCell(5, n), 1.0, (0.1 * n,), 80.0) for n in (20, 40)]
    monkeypatch.setattr("experiments.speed.run_speed", lambda: "| the | table |")
    monkeypatch.setattr("experiments.growth.run_growth", lambda: times)
    (written,) = bench.run_bench(tmp_path, only=["speed"])
    text = written.read_text()
    assert text.startswith("| the | table |\n")
    assert growth_table(times) in text
    assert (tmp_path / "growth.png").exists()
