"""The base of every optimiser: ask, tell, run, resume.

An optimiser is its configuration, its entropy and its history (:mod:`boring.history`). A proposal
is a pure function of these, with a generator keyed by them; hence asking again gives the same
point, and a run resumed from a state or a journal equals an uninterrupted one bit for bit.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from . import _optimizer_support as support
from ._json import canonical
from ._recorded import RecordedRun
from ._run import run as run_loop
from ._warn import warn
from .domain import Domain
from .evaluation import Objective
from .exceptions import BoringWarning, DuplicatePointWarning, InvalidInputError
from .history import Ask, History, Tell, frozen_point
from .initial_design import sobol_design
from .placing import Placing
from .proposal import NoOptions, Proposal, ProposalContext
from .result import BestByMean, IterationRecord, OptimizationResult
from .rng import keyed_generator, single_blas_thread
from .space import Box
from .stopping import StoppingCondition
from .typing import Direction, FloatArray, OnError, SeedLike
from .validation import as_constraints, as_points, as_positive_int, as_values

if TYPE_CHECKING:
    from .feasibility import Feasibility
    from .models.base import ObjectiveSurrogate
    from .subspace.estimate import SubspaceEstimate

__all__ = ["Callback", "NoOptions", "Optimizer", "Proposal", "ProposalContext"]

Callback: TypeAlias = "Callable[[Optimizer, IterationRecord], Any]"
"""Called after each evaluation; a true return value ends the run."""


class Optimizer(RecordedRun, ABC):
    """Sequential optimisation of a function on a box.

    Parameters
    ----------
    space : Box or array_like of shape (D, 2)
        Bounds in the caller's units.
    direction : {"minimize", "maximize"}
        Fixed for good; inside, larger is better.
    n_initial : int, optional
        Points of the space-filling design before the first proposal; told points count. None
        lets the optimiser choose.
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
    Subclasses set ``name`` and ``options_type`` and write ``_propose``. With ``is_model_based``
    the base hands out space-filling points as long as the data hold no two different finite
    values, since there is nothing to model then.

    With ``weighs_feasibility`` an optimiser is given the values as they are, and
    `ProposalContext.feasibility` to weigh them with. All others are given values by which no
    infeasible point can win (`boring.data.Observations.penalized`), so that constraints work with
    every optimiser.
    """

    def __init__(
        self,
        space: Box | ArrayLike,
        *,
        direction: Direction,
        n_initial: int | None = None,
        seed: SeedLike = None,
        domain: Domain | None = None,
        repeats: bool = False,
        n_constraints: int = 0,
        noise_std: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__(
            space,
            direction=direction,
            n_initial=n_initial,
            seed=seed,
            domain=domain,
            repeats=repeats,
            n_constraints=n_constraints,
            noise_std=noise_std,
            **options,
        )
        self._design = support.Design(
            self._space.dim, self._n_initial, self._entropy, self._initial_points
        )
        self._placing = Placing(self._space, self._domain, self._design.sobol_points, self._repeats)

    # What subclasses write.

    @abstractmethod
    def _propose(self, context: ProposalContext) -> Proposal:
        """Return the next point: a pure function of the options and the context."""

    def _initial_points(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return the initial design, shape (n, D), scaled; the same for every optimiser."""
        return sobol_design(n, self.space.dim, rng)

    def _resolved_options(self) -> Mapping[str, object]:
        """Return the options as used, data-dependent defaults filled in, for the result."""
        return self.option_values()

    def _stop_reasons(self) -> dict[str, float]:
        """Return the algorithm's own reasons to stop; empty to carry on."""
        return {}

    def _best_by_mean(self) -> BestByMean | None:
        """Return the best visited point by posterior mean, None where no noise is seen."""
        return None

    @property
    def subspace(self) -> SubspaceEstimate | None:
        """What was learned about the active subspace; None for optimisers that learn none."""
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

    # Ask and tell.

    def ask(self, n: int = 1) -> FloatArray:
        """Return the points that are out for evaluation, proposing more if there are too few.

        Parameters
        ----------
        n : int, default 1

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
        self._write_journal()
        while len(self._history.pending) < n:
            self._history = self._history.with_ask(self._next_ask())
            self._write_journal()
        return self.pending[:n]

    def tell(self, x: ArrayLike, y: ArrayLike, *, constraints: ArrayLike | None = None) -> Self:
        """Take the values of one or more points.

        Parameters
        ----------
        x : array_like, shape (D,) or (n, D), raw units
            Pending points or any others of the box; up to 1e-9 of a side outside it is taken for
            rounding and clipped.
        y : array_like, scalar or shape (n,), caller's sign
            NaN and infinities are recorded and left out of fits.
        constraints : array_like, shape (n, m), or (m,) for one point, optional
            Values of the m = ``n_constraints`` black-box constraints, each satisfied where it is
            <= 0. NaN stands for not known, and makes the point infeasible; known values next to a
            NaN y are learned from. May be left out where no y is finite.

        Returns
        -------
        Self

        Raises
        ------
        InvalidInputError
            If shapes disagree, a point is outside the box, or the values are not real numbers;
            nothing is recorded then.
        JournalError
            If there is a journal and it cannot be written; the values are recorded all the same.

        Warns
        -----
        NonFiniteWarning, DuplicatePointWarning, ConstantObjectiveWarning
        """
        points = as_points(x, self.space.dim, "x")
        values = as_values(y, points.shape[0], "y")
        if constraints is None and self._n_constraints and np.isfinite(values).any():
            raise InvalidInputError(
                f"A value must come with those of the {self._n_constraints} constraints; "
                "constraints is None. Pass constraints=..., NaN where one is not known."
            )
        rows = as_constraints(constraints, points.shape[0], self._n_constraints)
        self._tell(support.inside(self.space, points), values, error=None, constraints=rows)
        return self

    def tell_failed(self, x: ArrayLike, reason: str = "") -> Self:
        """Record that the evaluation of one or more points failed.

        Parameters
        ----------
        x : array_like, shape (D,) or (n, D), raw units
            As in :meth:`tell`.
        reason : str, default ""
            Goes into the record, under ``"error"``.

        Returns
        -------
        Self

        Raises
        ------
        InvalidInputError, JournalError
            As in :meth:`tell`.

        Warns
        -----
        NonFiniteWarning, DuplicatePointWarning

        Notes
        -----
        The same as telling NaN; where constraint values are known, tell NaN with them instead.
        """
        if not isinstance(reason, str):
            raise InvalidInputError(
                f"reason must be text; received {type(reason).__name__}. Pass str(...)."
            )
        points = as_points(x, self.space.dim, "x")
        self._tell(
            support.inside(self.space, points), np.full(len(points), np.nan), error=reason or None
        )
        return self

    def withdraw(self, number: int) -> Self:
        """Take back a point that is out for evaluation, and will have no value.

        Parameters
        ----------
        number : int
            Of the ask, from 0 in the order of asking.

        Returns
        -------
        Self
            It learns nothing from the point, and may propose it again; tell NaN of a point that
            cannot be evaluated.

        Raises
        ------
        InvalidInputError
            If that ask is not pending.
        JournalError
            If there is a journal and it cannot be written; the point is withdrawn all the same.
        """
        if number not in self._history.pending:
            raise InvalidInputError(
                f"Only a pending ask can be withdrawn; received {number!r}, and pending are "
                f"{list(self._history.pending)}. Ask first, or pass one of these."
            )
        self._history = self._history.with_withdrawal(number)
        self._write_journal()
        return self

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

        Warns
        -----
        BudgetWarning
            If the run will end inside the initial design.
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

        Warns
        -----
        SubspaceWarning
            If the subspace could not be estimated; the result is then without one.
        """
        return support.build_result(
            self, self._history, self.stop(), support.account_of(self), self._best_by_mean()
        )

    # The machinery.

    @contextmanager
    def _within(self, domain: Domain) -> Iterator[None]:
        """Ask for points of a part of the domain."""
        whole, placing = self._domain, self._placing
        self._domain, self._placing = domain, replace(placing, domain=domain, asked=whole)
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

    def _sobol_point(self, index: int) -> FloatArray:
        """Return one point of the sequence that the initial design begins, shape (D,), scaled.

        In a domain, the first from there on that may be asked.
        """
        return self._placed_in_design(self._design.sobol_point(index), index)

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

    def _tell(
        self,
        points: FloatArray,
        values: FloatArray,
        error: str | None,
        constraints: FloatArray | None = None,
    ) -> None:
        """Record checked points."""
        rows = as_constraints(constraints, len(points), self._n_constraints)
        self._record(support.match_pending(self._history, self._space, points, values, rows, error))

    def _record(
        self,
        tells: list[Tell],
        expected: tuple[type[BoringWarning], ...] = (),
        place: Callable[[Tell], str] = support.place_of,
    ) -> None:
        """Record tells: first in memory, then on disk, then warn, but not of what is expected."""
        notices = support.notices(self._history.X, tells, place)
        if self._repeats:
            notices = [notice for notice in notices if notice[0] is not DuplicatePointWarning]
        self._history = self._history.with_tells(tells)
        self._stop_reason = {}
        self._write_journal()
        if self._is_newly_constant():
            self._has_warned_constant = True
            notices.append(support.constant_notice(self.data, self.is_model_based))
        for category, message in notices:
            if category not in expected:
                warn(message, category)

    def _is_newly_constant(self) -> bool:
        return (
            not self._has_warned_constant
            and self.data.finite_y.size >= max(support.MIN_CONSTANT, self._n_initial)
            and not self.data.is_informative
        )


def _position(history: History) -> tuple[int, ...]:
    """Return where a run stands, as a key of its random numbers: no two asks share one."""
    position = (history.n_told, len(history.pending))
    return (*position, history.n_withdrawn) if history.n_withdrawn else position
