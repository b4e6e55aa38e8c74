"""JAX and what is built on it, loaded late, in double precision, without touching its settings.

Everything that computes with JAX does so inside :func:`double_precision`: the switch is scoped to
the block and the thread, so that a caller's own use of JAX is left as found.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from boring.extras import require
from boring.typing import FloatArray

__all__ = ["bucket", "double_precision", "load", "pad_rows", "random_key"]

#: What the first import of JAX leaves in the environment.
JAX_SETS = "TF_CPP_MIN_LOG_LEVEL"
#: Numbers of rows that programs are compiled for begin here and double.
SMALLEST_BUCKET = 16


def load(module: str) -> Any:
    """Return a module of jax, blackjax or optax.

    Parameters
    ----------
    module : str
        Its full name, for instance ``"jax.numpy"``.

    Raises
    ------
    MissingExtraError
        If its library is not installed; the message names the extra.
    """
    if sys.modules.get(module) is not None:
        return sys.modules[module]
    with _as_found():
        return require(module, "neural", "A neural surrogate")


@contextmanager
def _as_found() -> Iterator[None]:
    """Undo what the first import of JAX does to the process.

    It sets a variable of the environment, which has done its work by the import's end, and draws
    from NumPy's global generator, for the waiting times of a cluster.
    """
    quiet = os.environ.get(JAX_SETS)
    state = np.random.get_state()  # noqa: NPY002 (it is kept as found)
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
        if quiet is None:
            os.environ.pop(JAX_SETS, None)


@contextmanager
def double_precision() -> Iterator[None]:
    """Compute with 64 bits inside this block, whatever the caller's setting."""
    with load("jax").enable_x64(True):
        yield


def random_key(rng: np.random.Generator) -> Any:
    """Return a key of JAX, for one draw of a generator; call it in double precision."""
    return load("jax.random").key(int(rng.integers(2**63)))


def bucket(n: int) -> int:
    """Return the number of rows to pad n observations to: 16, 32, 64, ...

    A program is compiled for each shape; with this, not for each n.
    """
    return max(SMALLEST_BUCKET, 1 << (n - 1).bit_length())


def pad_rows(array: FloatArray, rows: int) -> FloatArray:
    """Return the array with zeros appended until it has this many rows."""
    padding = np.zeros((rows - len(array), *array.shape[1:]))
    return np.concatenate([np.asarray(array, dtype=np.float64), padding])
