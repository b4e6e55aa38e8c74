"""Random tells of any kind, and sound questions in between; see `experiments.fuzz`."""

import pytest

from experiments.fuzz import OPTIMIZERS, REGIMES, Fault, Scenario, run_scenario, scenarios


def check(scenario):
    record = run_scenario(scenario)
    assert record["error"] is None, record["error"]
    return record


@pytest.mark.parametrize("optimizer", [*OPTIMIZERS, "random"])
def test_asks_are_sound_whatever_is_told(optimizer):
    # BORING takes seconds for some scenarios; those of other seeds are in the slow tier.
    seeds, n_tells = range(5, 12) if optimizer == "boring" else range(8), 12
    if optimizer == "random":
        seeds, n_tells = range(20), 25
    records = [check(Scenario(seed, optimizer, n_tells)) for seed in seeds]
    assert sum(record["n_asks"] for record in records) >= len(seeds)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_tells(part):
    n_told = 0
    for scenario in scenarios(iter(range(10000 * part, 10000 * (part + 1))), OPTIMIZERS):
        n_told += check(scenario)["n_tells"]
        if n_told >= 1000:
            break


def test_the_fuzzer_finds_what_is_wrong(monkeypatch):
    from boring.study import Study

    ask = Study.ask

    def again(study, n=1):
        return [*study.outstanding[:1], *ask(study, n)]

    monkeypatch.setattr(Study, "ask", again)
    errors = [run_scenario(Scenario(seed, "random", 20))["error"] or "" for seed in range(4)]
    assert any(Fault.__name__ in error and "given twice" in error for error in errors)


def test_regimes_reach_the_ends_of_the_numbers():
    import numpy as np

    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        values = np.abs([make(rng, 0.5) for make in REGIMES.values() for _ in range(50)])
    finite = values[np.isfinite(values) & (values > 0)]
    assert finite.max() > 1e299
    assert finite.min() < 1e-299
    assert np.isnan(values).any()
    assert np.isinf(values).any()
