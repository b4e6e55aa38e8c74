"""Seeds, keyed generators, and fences around global state.

Every random number of an optimiser comes from a generator that is keyed by the run's entropy and
by what the number is for, never from a stream that remembers how often it was asked. A proposal
can therefore be repeated, and a resumed run equals an uninterrupted one.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from .exceptions import InvalidInputError
from .typing import SeedLike
from .validation import as_positive_int

__all__ = [
    "as_generator",
    "isolated_environment",
    "isolated_global_random_state",
    "keyed_generator",
    "seed_entropy",
    "single_blas_thread",
]

ENTROPY_BITS = 128
"""Bits of fresh entropy, the pool size that numpy recommends for a seed sequence."""

_INTEGER_TAG = 0
_STRING_TAG = 1
_WORD = 0xFFFFFFFF

_limits: dict[bool, _BlasLimit] = {}
_limits_lock = threading.Lock()


def seed_entropy(seed: SeedLike) -> int:
    """Return the integer from which every generator of a run derives.

    Parameters
    ----------
    seed : int, numpy.random.SeedSequence or None
        A non-negative integer is returned as it is; a seed sequence is hashed to 128 bits
        (without changing it); None draws 128 bits from the operating system.

    Returns
    -------
    int
        Non-negative.

    Raises
    ------
    InvalidInputError
        If the seed is negative or of another type.

    Examples
    --------
    >>> seed_entropy(7)
    7
    """
    if seed is None:
        return secrets.randbits(ENTROPY_BITS)
    if isinstance(seed, np.random.SeedSequence):
        words = seed.generate_state(ENTROPY_BITS // 32, np.uint32)
        return sum(int(word) << (32 * position) for position, word in enumerate(words))
    try:
        return as_positive_int(seed, "seed", minimum=0)
    except InvalidInputError:
        raise InvalidInputError(
            "seed must be an integer of at least 0, a numpy.random.SeedSequence, or None for "
            f"chance; received {seed!r}. Pass for example seed=1."
        ) from None


def _key_words(part: int | str) -> tuple[int, ...]:
    if isinstance(part, str):
        digest = hashlib.sha256(part.encode("utf-8")).digest()
        words = np.frombuffer(digest[:16], dtype="<u4")
        return (_STRING_TAG, *(int(word) for word in words))
    number = int(part)
    if not 0 <= number < 2**64:
        raise InvalidInputError(
            f"An integer key must lie in [0, 2**64); received {number}. Use a string key instead."
        )
    return (_INTEGER_TAG, number & _WORD, number >> 32)


def keyed_generator(entropy: int, *key: int | str) -> np.random.Generator:
    """Return the generator that belongs to one purpose of one run.

    Parameters
    ----------
    entropy : int
        The run's entropy, from :func:`seed_entropy`.
    *key : int or str
        What the generator is for. Strings are hashed by SHA-256, hence the same in every process;
        integers must lie in [0, 2**64).

    Returns
    -------
    numpy.random.Generator
        The same stream for the same arguments; unrelated streams otherwise.

    Examples
    --------
    >>> first = keyed_generator(0, "proposal", 3).random()
    >>> first == keyed_generator(0, "proposal", 3).random()
    True
    >>> first == keyed_generator(0, "proposal", 4).random()
    False
    """
    spawn_key = tuple(word for part in key for word in _key_words(part))
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=spawn_key))


def as_generator(rng: object) -> np.random.Generator:
    """Return a generator as it is.

    Parameters
    ----------
    rng : object
        What the caller passed.

    Raises
    ------
    InvalidInputError
        If it is anything else, such as a seed.
    """
    if not isinstance(rng, np.random.Generator):
        raise InvalidInputError(
            f"rng must be a numpy.random.Generator; received {type(rng).__name__}. Pass for "
            "example numpy.random.default_rng(0)."
        )
    return rng


@contextmanager
def isolated_global_random_state(seed: int) -> Iterator[None]:
    """Seed numpy's legacy global generator inside the block and restore it on exit.

    For third-party code that draws from global state. Not thread-safe, as that state is not.

    Parameters
    ----------
    seed : int
        Seed of the global generator inside the block; reduced modulo 2**32.
    """
    saved = np.random.get_state()  # noqa: NPY002 (fencing the global state is the purpose)
    np.random.seed(int(seed) & _WORD)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(saved)  # noqa: NPY002


@contextmanager
def isolated_environment() -> Iterator[None]:
    """Restore the environment variables on exit, for third-party imports that set some."""
    saved = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - saved.keys():
            del os.environ[name]
        os.environ.update(saved)


class _BlasLimit:
    """One BLAS thread within blocks of code, which may overlap in several threads.

    Most BLAS count their threads for the whole process. A block that begins within another one
    finds the count of 1 there, and would restore it.
    """

    def __init__(self) -> None:
        from threadpoolctl import ThreadpoolController

        self._controller = ThreadpoolController()
        self._lock = threading.Lock()
        self._inside: list[int] = []
        self._overlap = False

    @contextmanager
    def block(self) -> Iterator[None]:
        """Run the block with one BLAS thread."""
        thread = threading.get_ident()
        with self._lock:
            if not self._inside:
                self._before = self._controller.limit(user_api="blas")  # sets nothing, only looks
                self._overlap = False
            self._overlap |= any(other != thread for other in self._inside)
            self._inside.append(thread)
        try:
            with self._controller.limit(limits=1, user_api="blas"):
                yield
        finally:
            with self._lock:
                self._inside.remove(thread)
                if self._overlap:
                    self._settle()

    def _settle(self) -> None:
        """Set what the blocks that go on need, or what was before all of them.

        A thread that ends does it: threadpoolctl (3.8) may heed only the first one that set
        anything, as long as that lives.
        """
        goes_on = partial(self._controller.limit, limits=1, user_api="blas")
        setter = goes_on if self._inside else self._before.restore_original_limits
        thread = threading.Thread(target=setter)
        thread.start()
        thread.join()


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Run the block with one BLAS thread, and numpy's own ways with floating-point errors.

    Both are restored on exit. The matrices of this library are small: more threads cost more than
    they give. A caller's ``numpy.seterr(all="raise")`` is meant for his own code; here a density
    that underflows is zero, as it should be. Blocks may overlap in several threads. The limit is
    cached, and made anew once scipy has brought a BLAS of its own.
    """
    has_scipy = "scipy.linalg" in sys.modules
    with _limits_lock:
        limit = _limits.get(has_scipy)
        if limit is None:
            limit = _limits[has_scipy] = _BlasLimit()
    defaults = np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")
    with limit.block(), defaults:
        yield
