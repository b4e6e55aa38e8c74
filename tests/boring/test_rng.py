import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from boring.exceptions import InvalidInputError
from boring.rng import (
    isolated_global_random_state,
    keyed_generator,
    seed_entropy,
    single_blas_thread,
)


def test_entropy_of_seeds():
    assert seed_entropy(3) == seed_entropy(np.int64(3)) == 3
    assert seed_entropy(None) != seed_entropy(None)
    sequence = np.random.SeedSequence(3)
    assert seed_entropy(sequence) == seed_entropy(np.random.SeedSequence(3))
    first, second = sequence.spawn(2)
    assert seed_entropy(first) != seed_entropy(second)
    assert sequence.n_children_spawned == 2


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True, [1]])
def test_wrong_seeds(seed):
    with pytest.raises(
        InvalidInputError, match=r"integer of at least 0, a numpy\.random\.SeedSequence"
    ):
        seed_entropy(seed)


def test_keys_separate_streams():
    keys = [(), (0,), (0, 0), (1,), ("a",), ("b",), ("a", 0), (2**32,), ("0",)]
    draws = [keyed_generator(5, *key).random() for key in keys]
    assert len(set(draws)) == len(keys)
    assert keyed_generator(6, "a").random() != keyed_generator(5, "a").random()


def test_keyed_streams_do_not_depend_on_the_process():
    code = "from boring.rng import keyed_generator as k; print(repr(k(5, 'proposal', 3).random()))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {repr(float(keyed_generator(5, "proposal", 3).random()))}


def test_integer_keys_have_a_range():
    for number in (-1, 2**64):
        with pytest.raises(InvalidInputError, match="integer key must lie in"):
            keyed_generator(0, number)


# What follows is about numpy's legacy generator, hence the exemptions from NPY002.


def _global_state():
    name, keys, *rest = np.random.get_state()  # noqa: NPY002
    return (name, keys.tobytes(), *rest)


def _draw_and_fail(drawn):
    with isolated_global_random_state(3):
        drawn.append(np.random.random())  # noqa: NPY002
        raise ZeroDivisionError


def test_global_state_is_restored_even_after_an_error():
    before = _global_state()
    drawn = []
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            _draw_and_fail(drawn)
        assert _global_state() == before
    assert drawn[0] == drawn[1]


def test_blas_threads_are_restored():
    before = _blas_threads()
    assert before, "no BLAS was found"
    with single_blas_thread():
        assert set(_blas_threads()) == {1}
    assert _blas_threads() == before


def _blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def _in_a_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    return thread


def test_blas_threads_are_restored_where_blocks_of_threads_overlap():
    before = threadpool_limits(user_api="blas")
    _in_a_thread(lambda: threadpool_limits(2, user_api="blas")).join()
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    meanwhile = []

    def first():
        with single_blas_thread():
            first_is_in.set()
            second_is_in.wait(60)
        first_is_out.set()

    def second():
        first_is_in.wait(60)
        with single_blas_thread():
            second_is_in.set()
            first_is_out.wait(60)
            meanwhile.extend(_blas_threads())

    try:
        assert set(_blas_threads()) == {2}
        for thread in [_in_a_thread(first), _in_a_thread(second)]:
            thread.join()
        assert set(meanwhile) == {1}
        assert set(_blas_threads()) == {2}
    finally:
        _in_a_thread(before.restore_original_limits).join()
