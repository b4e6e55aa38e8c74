"""The clock of simulated workers, and the table of what they gain."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from experiments import batches
from experiments.batches import BatchRun, batches_table, main, reached, simulate


class Recorder:
    """Asks for 0, 1, 2, ... and remembers what it was told before each ask."""

    def __init__(self):
        self.pending, self.events, self.n_asked = [], [], 0

    def ask(self, n):
        while len(self.pending) < n:
            self.pending.append(float(self.n_asked))
            self.events.append(("ask", self.n_asked))
            self.n_asked += 1
        return np.array(self.pending[:n])[:, None]

    def tell(self, x, y):
        self.pending.remove(x[0])
        self.events.append(("tell", int(x[0])))


def problem(x):
    return float(x[0])


def test_a_free_worker_asks_at_once_and_time_is_the_last_end():
    recorder = Recorder()
    times, values = simulate(recorder, problem, 4, 2, [3.0, 1.0, 1.0, 5.0])
    assert (times, values) == ([1.0, 2.0, 3.0, 7.0], [1.0, 2.0, 0.0, 3.0])
    told = [number for kind, number in recorder.events if kind == "tell"]
    assert told == [1, 2, 0, 3]
    assert recorder.events[:4] == [("ask", 0), ("ask", 1), ("tell", 1), ("ask", 2)]


def test_equal_times_make_batches_and_one_worker_a_sequence():
    recorder = Recorder()
    times, _ = simulate(recorder, problem, 4, 2, [1.0] * 4)
    assert times == [1.0, 1.0, 2.0, 2.0]
    assert [kind for kind, _ in recorder.events] == ["ask", "ask", "tell", "tell"] * 2
    recorder = Recorder()
    assert simulate(recorder, problem, 3, 1, [1.0, 2.0, 3.0])[0] == [1.0, 3.0, 6.0]


def test_the_table_pairs_seeds_and_tells_the_gain_in_time():
    def record(workers, times, regret):
        return {
            "run": ["camelback-2-in-5", "boring", workers, 0, "varied", 60],
            "times": times,
            "regret": regret,
        }

    one, four = record(1, [1.0, 2.0, 3.0], [1.0, 1e-2, 1e-4]), record(4, [1.0, 1.0], [1.0, 1e-3])
    assert reached(one, 1e-2) == 2.0
    assert reached(four, 1e-4) == math.inf
    text = batches_table([one, four])
    assert "| +1.0 |" in " ".join(text.split())
    assert "1.0 (2.0x)" in text
    assert "not reached" in text


def test_a_command_is_resumed(tmp_path, monkeypatch, capsys):
    made = []

    def run(task: BatchRun):
        made.append(task)
        return {"run": list(task.key), "times": [1.0], "regret": [0.5 / task.workers]}

    monkeypatch.setattr(batches, "run_workers", run)
    monkeypatch.setattr(batches, "register_methods", lambda: None)
    monkeypatch.setattr(batches, "absence_of", lambda method: None)
    path = tmp_path / "batches.jsonl"
    line = ["--problems", "camelback-2-in-5", "--methods", "boring", "--out", str(path)]
    assert main([*line, "--seeds", "1", "--workers", "1,4"]) == 0
    assert main([*line, "--seeds", "2", "--workers", "1,4"]) == 0
    assert [(task.seed, task.workers) for task in made] == [(0, 1), (0, 4), (1, 1), (1, 4)]
    assert "camelback-2-in-5 (60, varied)" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--problems", "nonsense", "--out", str(path)])


def test_a_real_run_of_two_workers_is_recorded():
    record = batches.run_workers(BatchRun("camelback-2-in-5", "sobol", 2, 0, budget=6))
    assert SimpleNamespace(**record).times[-1] < 6 * 1.5
    assert len(record["regret"]) == 6
    assert all(np.diff(record["regret"]) <= 0)
