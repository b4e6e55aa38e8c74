"""The base of every optimiser: what it is asked, and how it runs.

An optimiser is its configuration, its entropy and its history (:mod:`boring.recorded`), into which
values come by telling (:mod:`boring.told`). A proposal is a pure function of these, with a
generator keyed by them; hence asking again gives the same point, and a run resumed from a state or
a journal equals an uninterrupted one bit for bit.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import _optimizer_support as support
from ._json import canonical
from ._run import run as run_loop
from .domain import Domain
from .evaluation import Objective
from .exceptions import InvalidInputError
from .history import Ask, History, frozen_point
from .initial_design import space_filling
from .placing import Placing
from .proposal import NoOptions, Proposal, ProposalContext
from .registry import OptimizerFactory, get_optimizer
from .result import BestByMean, IterationRecord, OptimizationResult
from .rng import keyed_generator, single_blas_thread
from .stopping import StoppingCondition
from .told import ToldRun
from .typing import FloatArray, OnError
from .validation import as_positive_int

if TYPE_CHECKING:
    from .feasibility import Feasibility
    from .models.base import ObjectiveSurrogate
    from .subspace.estimate import SubspaceEstimate

__all__ = ["Callback", "NoOptions", "Optimizer", "Proposal", "ProposalContext"]

Callback: TypeAlias = "Callable[[Optimizer, IterationRecord], Any]"
"""Called after each evaluation; a true return value ends the run."""


class Optimizer(ToldRun, ABC):
    """Sequential optimisation of a function on a box.

    Parameters
    ----------
    space : Box or array_like of shape (D, 2)
        Bounds in the caller's units.
    direction : {"minimize", "maximize"}
        Fixed for good; inside, larger is better.
    n_initial : int, optional
        Points of the space-filling design (:func:`boring.initial_design.space_filling`) before the
        first proposal; told points count. None lets the optimiser choose.
    seed : int, SeedSequence or None
        None draws fresh entropy, which the state, the journal and the result record.
    domain : Domain, optional
        Lattice and known constraints in scaled units (:mod:`boring.domain`). Whatever the
        algorithm proposes, points that are asked lie on the lattice, are allowed, and were neither
        told nor asked before. None is the whole box. It is not part of states and journals.
    repeats : bool, default False
        Whether points may be asked again, to average noise.
    n_constraints : int, default 0
        Number m of black-box constraints whose values come with each evaluation.
    noise_std : float, optional
        Known standard deviation of the noise of one evaluation, units of the objective; None
        learns it. Only optimisers with ``uses_noise_std`` take it.
    **options
        Fields of ``options_type``.

    Raises
    ------
    InvalidInputError
        If an argument breaks these rules.
    UnknownNameError
        If an option is unknown; the message suggests the nearest.

    Notes
    -----
    Points may be asked, told and withdrawn from several threads; one waits for another. Two threads
    that ask before either tells get the same point: let one of them ask for both.

    Subclasses set ``name`` and ``options_type`` and write ``_propose``. With ``is_model_based``
    the base hands out space-filling points as long as the data hold no two different finite
    values, since there is nothing to model then.

    With ``weighs_feasibility`` an optimiser is given the values as they are, and
    `ProposalContext.feasibility` to weigh them with. All others are given values by which no
    infeasible point can win (`boring.data.Observations.penalized`), so that constraints work with
    every optimiser.
    """

    # What subclasses write.

    @abstractmethod
    def _propose(self, context: ProposalContext) -> Proposal:
        """Return the next point: a pure function of the options and the context."""

    def _initial_points(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return the initial design, shape (n, D), scaled; the same for every optimiser."""
        return space_filling(n, self.space.dim, rng)

    def _resolved_options(self) -> Mapping[str, object]:
        """Return the options as used, data-dependent defaults filled in, for the result."""
        return self.option_values()

    def _stop_reasons(self) -> dict[str, float]:
        """Return the algorithm's own reasons to stop; empty to carry on."""
        return {}

    @property
    def subspace(self) -> SubspaceEstimate | None:
        """What was learned about the active subspace; None for optimisers that learn none."""
        return None

    @property
    def best_by_mean(self) -> BestByMean | None:
        """The visited point that is best by posterior mean; None where no noise is seen."""
        return None

    @property
    def surrogate(self) -> ObjectiveSurrogate | None:
        """A model of the objective, in raw inputs and the caller's units and sign.

        ``surrogate.predict(X)`` returns mean and variance without noise for every optimiser that
        has one; None for the others, and where there is nothing to model yet. What the algorithm
        itself sees, scaled and standardised, is ``surrogate.posterior`` in the library's own
        (:class:`boring.surrogate.ObjectivePosterior`).
        """
        return None

    # Asking, and what stands on it.

    def ask(self, n: int = 1, *, within: Domain | None = None) -> FloatArray:
        """Return the points that are out for evaluation, proposing more if there are too few.

        Parameters
        ----------
        n : int, default 1
        within : Domain, optional
            A part of the domain, such as a :class:`boring.fixing.FixedDomain`, in which fresh
            points are to lie.

        Returns
        -------
        ndarray, shape (n, D), raw units
            Pending points first, oldest first, then fresh ones. Asking again without telling
            returns the same points. Withdraw a point that will never be evaluated.

        Raises
        ------
        InvalidInputError
            If n is not a positive integer, or no point of the domain satisfies its constraints.
        SpaceExhaustedError
            If fewer points of the domain are left; those that were are pending then.
        JournalError
            If there is a journal and it cannot be written.
        """
        n = as_positive_int(n, "n")
        with self._mutex, self._within(within):
            self.flush()
            while len(self._history.pending) < n:
                self._history = self._history.with_ask(self._next_ask())
                self.flush()
            return self.pending[:n]

    def run(
        self,
        fun: Objective,
        n_evaluations: int,
        *,
        callback: Callback | None = None,
        on_error: OnError = "raise",
        stopping: StoppingCondition | None = None,
        progress: bool | None = None,
    ) -> OptimizationResult:
        """Evaluate a function at more points: ask, evaluate, tell, until there is reason to stop.

        Parameters
        ----------
        fun : callable
            Takes one point (D,) in raw units and returns a real number; where there are
            constraints, the pair of that number and the m values of the constraints.
        n_evaluations : int
            Evaluations to make, beside those already told.
        callback : callable, optional
            Called with the optimiser and the record of each evaluation; a true value stops.
        on_error : {"raise", "record"}
            Whether an exception of ``fun`` ends the run or is recorded as NaN.
        stopping : StoppingCondition, optional
        progress : bool, optional
            None shows a bar on terminals only.

        Returns
        -------
        OptimizationResult

        Raises
        ------
        EvaluationError
            If ``fun`` raises or does not return a real number; ``.result`` holds everything
            evaluated before.
        FitError
            If proposing a point failed; ``.result`` likewise.
        KeyboardInterrupt, SystemExit
            Whatever ``on_error`` says: they end the program; ``.result`` likewise.

        Warns
        -----
        BudgetWarning
            If the run will end inside the initial design, or the optimiser's phase of learning.
        """
        return run_loop(
            self,
            fun,
            as_positive_int(n_evaluations, "n_evaluations"),
            callback=callback,
            on_error=on_error,
            stopping=stopping,
            progress=progress,
        )

    def stop(self) -> dict[str, float]:
        """Return the reasons to stop: the algorithm's own, and those that ended the last run.

        Returns
        -------
        dict of str to float
            Empty to carry on; telling more points clears the reasons of the last run.
        """
        return {**self._stop_reason, **self._stop_reasons()}

    def result(self) -> OptimizationResult:
        """Return everything so far, in the caller's units and sign.

        Returns
        -------
        OptimizationResult
        """
        return support.build_result(self)

    # The machinery.

    @cached_property
    def _design(self) -> support.Design:
        return support.Design(self.space.dim, self._n_initial, self._entropy, self._initial_points)

    @cached_property
    def _placing(self) -> Placing:
        return Placing(self._space, self._domain, self._design.sequence_points, self._repeats)

    @contextmanager
    def _within(self, part: Domain | None) -> Iterator[None]:
        """Ask for points of a part of the domain, if one is given."""
        if part is None:
            yield
            return
        part = support.checked_domain(part, self._space.dim)
        whole, placing = self._domain, self._placing
        self._domain, self._placing = part, replace(placing, domain=part, asked=whole)
        try:
            yield
        finally:
            self._domain, self._placing = whole, placing

    def _next_ask(self) -> Ask:
        start = time.perf_counter()
        history = self._history
        if history.n_told < self._n_initial or self._has_nothing_to_model():
            scaled, phase = self._design.point(history.n_design)
            scaled = self._placed_in_design(scaled, history.n_design)
            memory, info = None, {}
        else:
            proposal = self._checked_proposal(history)
            info = canonical(proposal.info, "info")
            phase = str(info.pop("phase", "proposal"))
            scaled, memory = proposal.x, canonical(proposal.memory, "memory")
            scaled = self._placing.proposal(scaled, self._known(), self._placing_rng())
        return Ask(
            number=len(history.asks),
            x=frozen_point(self._space.unscale(scaled)),
            phase=phase,
            info=info,
            memory=memory,
            seconds=time.perf_counter() - start,
        )

    def _has_nothing_to_model(self) -> bool:
        return self.is_model_based and not self.data.is_informative

    def _sequence_point(self, index: int) -> FloatArray:
        """Return one point of the sequence that the initial design begins, shape (D,), scaled.

        In a domain, the first from there on that may be asked.
        """
        return self._placed_in_design(self._design.sequence_point(index), index)

    def _placed_in_design(self, x: FloatArray, index: int) -> FloatArray:
        first = max(index, self._n_initial)
        return self._placing.design_point(x, first, self._known(), self._placing_rng())

    def _known(self) -> FloatArray:
        """Return told and pending points, shape (m, D), scaled."""
        return np.vstack([self.data.X, self._space.scale(self._history.pending_X)])

    def _placing_rng(self) -> np.random.Generator:
        history = self._history
        return keyed_generator(self._entropy, "placing", history.n_told, len(history.pending))

    def _checked_proposal(self, history: History) -> Proposal:
        pending = self._space.scale(history.pending_X)
        pending.flags.writeable = False
        context = ProposalContext(
            data=self.data,
            pending=pending,
            memory=history.memory,
            rng=keyed_generator(self._entropy, "proposal", *_position(history)),
            entropy=self._entropy,
            asks=history.asks,
            domain=self._domain,
            space=self._space,
            feasibility=self._feasibility(pending),
            noise_std=self._noise_std,
            n_withdrawn=history.n_withdrawn,
        )
        with single_blas_thread():
            proposal = self._propose(context)
        return support.checked_proposal(proposal, self._space.dim, self.name)

    def _feasibility(self, pending: FloatArray) -> Feasibility | None:
        """Return the weight of points, None where there is nothing to weigh."""
        if not self.weighs_feasibility or (not self._n_constraints and self.data.finite.all()):
            return None
        from .feasibility import Feasibility

        return Feasibility(self.data, pending)


def factory_of(given: object, name: str) -> OptimizerFactory:
    """Return the factory that a caller's argument stands for.

    Parameters
    ----------
    given : object
        A registered name, or an Optimizer subclass.
    name : str
        What the message calls the argument.

    Raises
    ------
    InvalidInputError
        If it is neither; UnknownNameError if the name is not registered.
    """
    if isinstance(given, str):
        return get_optimizer(given)
    if isinstance(given, type) and issubclass(given, Optimizer):
        return given
    raise InvalidInputError(
        f"{name} must be a registered name or an Optimizer subclass; received {given!r}. "
        f"Pass for example {name}='boring'."
    )


def optimizer_class(factory: OptimizerFactory) -> type[Optimizer] | None:
    """Return the Optimizer class that a factory is, if it is one.

    Parameters
    ----------
    factory : callable

    Returns
    -------
    type or None
        None for any other callable.
    """
    return factory if isinstance(factory, type) and issubclass(factory, Optimizer) else None


def _position(history: History) -> tuple[int, ...]:
    """Return where a run stands, as a key of its random numbers: no two asks share one."""
    position = (history.n_told, len(history.pending))
    return (*position, history.n_withdrawn) if history.n_withdrawn else position
