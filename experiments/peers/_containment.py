"""What an engine may leave behind is taken back: random state, warnings, output, threads."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import random
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from boring.rng import isolated_environment, isolated_global_random_state

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

__all__ = ["contained", "reseed"]

ONE_THREAD = {"RAYON_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
"""Read by engines that bring a thread pool of their own, when they first use it."""

_WORD = 0xFFFFFFFF


def reseed(seed: int) -> None:
    """Seed the global generators of Python and of numpy; only for use inside :func:`contained`."""
    random.seed(seed)
    np.random.seed(seed & _WORD)  # noqa: NPY002 (engines draw from it)


@contextlib.contextmanager
def contained(seed: int, threads: ThreadpoolController | None = None) -> Iterator[None]:
    """Run an engine so that the process is afterwards as it was.

    Inside the block the global generators are seeded, warnings and log messages are dropped,
    standard output and error go nowhere, and thread pools have one thread. On exit the random
    states, warning filters, logging threshold, environment variables and thread pools are
    restored. Not thread-safe, as none of these is.

    Parameters
    ----------
    seed : int
        Of the global generators inside the block.
    threads : ThreadpoolController, optional
        Of the BLAS and OpenMP libraries that are loaded; None leaves them alone.
    """
    python_state = random.getstate()
    log_threshold = logging.root.manager.disable
    sink = io.StringIO()
    limits = contextlib.nullcontext() if threads is None else threads.limit(limits=1)
    with (
        isolated_global_random_state(seed),
        isolated_environment(),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(sink),
        contextlib.redirect_stderr(sink),
        limits,
    ):
        warnings.simplefilter("ignore")
        os.environ.update(ONE_THREAD)
        logging.disable(logging.CRITICAL)
        random.seed(seed)
        try:
            yield
        finally:
            logging.disable(log_threshold)
            random.setstate(python_state)
