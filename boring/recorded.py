"""Configuration and history of an optimiser, and how they are kept: states and journals."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from . import _optimizer_support as support
from ._json import canonical
from ._mutex import Mutex
from .data import Observations
from .domain import Domain
from .exceptions import InvalidInputError
from .history import History
from .journal import Journal, JournalContents, read_journal
from .proposal import NoOptions
from .result import best_so_far, sign_of
from .rng import seed_entropy
from .space import Box
from .state import OptimizerState
from .typing import Direction, FloatArray, SeedLike
from .validation import as_positive_int, as_real, check_options, suggest

__all__ = ["RecordedRun"]

MIN_DEFAULT_N_INITIAL = 5
MAX_DEFAULT_N_INITIAL = 10
"""Bounds of the default initial design, D + 3 points between them (chosen here: longer designs
delay the model and gain nothing in the end)."""

KEYWORDS = ("direction", "n_initial", "seed", "domain", "repeats", "n_constraints", "noise_std")
"""Arguments of every optimiser, among which a misspelt option may be meant."""


class RecordedRun:
    """What an optimiser is, apart from its algorithm; see :class:`boring.optimizer.Optimizer`.

    Parameters
    ----------
    space, direction, n_initial, seed, domain, repeats, n_constraints, noise_std, **options
        As in :class:`boring.optimizer.Optimizer`.

    Attributes
    ----------
    name : str
        By which states, journals and the registry know the class.
    options_type : type
        The dataclass of its options.
    is_model_based : bool
        Whether it fits a model, which needs two different values.
    weighs_feasibility : bool
        Whether it weighs the probability of feasibility itself.
    uses_noise_std : bool
        Whether its models can take known noise.
    options : dataclass
        The options of this run.
    """

    name: ClassVar[str]
    options_type: ClassVar[type] = NoOptions
    is_model_based: ClassVar[bool] = True
    weighs_feasibility: ClassVar[bool] = False
    uses_noise_std: ClassVar[bool] = False

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
        if not isinstance(getattr(self, "name", None), str):
            raise InvalidInputError(
                f"An optimiser must have a name, by which states and journals know it; "
                f"{type(self).__name__} has none. Write name = '...' into the class."
            )
        if direction not in {"minimize", "maximize"}:
            raise InvalidInputError(
                "direction must be 'minimize' or 'maximize'; received "
                f"{direction!r}. {suggest(str(direction), ('minimize', 'maximize'))}"
            )
        self._space = Box.from_bounds(space)
        self._domain = support.checked_domain(domain, self._space.dim)
        if not isinstance(repeats, bool):
            raise InvalidInputError(
                f"repeats must be True or False; received {repeats!r}. Pass repeats=True to let "
                "points come again."
            )
        self._repeats = repeats
        self._entropy = seed_entropy(seed)
        self._direction: Direction = direction
        self._sign = sign_of(direction)
        check_options(options, (*KEYWORDS, *self.option_names()), f"Optimiser {self.name!r}")
        self.options: Any = self.options_type(**options)
        self._n_initial = (
            self._default_n_initial()
            if n_initial is None
            else as_positive_int(n_initial, "n_initial", minimum=1 if self.is_model_based else 0)
        )
        self._n_constraints = as_positive_int(n_constraints, "n_constraints", minimum=0)
        self._noise_std = self._checked_noise(noise_std)
        self._history = History(self._space.dim)
        self._observed = Observations.empty(self._space.dim, self._n_constraints)
        self._data = self._observed
        self._has_warned_constant = False
        self._journal: Journal | None = None
        self._stop_reason: dict[str, float] = {}
        self._mutex = Mutex()

    def __repr__(self) -> str:
        """Return where the run stands, in one line."""
        history = self._history
        best = best_so_far(history.y, self._direction, history.constraints(self._n_constraints))
        return (
            f"<{type(self).__name__}: {self._direction} over {self._space.dim} inputs; "
            f"{history.n_told} told, {len(history.pending)} pending; best value "
            f"{f'{best[-1]:.10g}' if np.isfinite(best[-1:]).any() else 'none yet'}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy gets: all but the journal, which has one writer."""
        return {**self.__dict__, "_journal": None}

    def _checked_noise(self, noise_std: float | None) -> float | None:
        if noise_std is None:
            return None
        rule = "a standard deviation, 0 or more, in units of the objective, or None to learn it"
        if not (value := as_real(noise_std, "noise_std", rule)) >= 0:
            raise InvalidInputError(
                f"noise_std must be {rule}; received {noise_std!r}. Leave it out if you do "
                "not know it."
            )
        if not self.uses_noise_std:
            raise InvalidInputError(
                f"noise_std is for optimisers whose models can take known noise; {self.name!r} "
                f"learns its own, received {noise_std!r}. Leave it out, or use 'boring'."
            )
        return value

    def _default_n_initial(self) -> int:
        """Return the length of the initial design when the caller gives none."""
        return min(MAX_DEFAULT_N_INITIAL, max(MIN_DEFAULT_N_INITIAL, self.space.dim + 3))

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """Return the names of the options."""
        if not is_dataclass(cls.options_type):
            raise TypeError(f"{cls.__name__}.options_type must be a dataclass")
        return tuple(option.name for option in fields(cls.options_type))

    def option_values(self) -> dict[str, Any]:
        """Return the options as given or by default."""
        return {name: getattr(self.options, name) for name in self.option_names()}

    @property
    def space(self) -> Box:
        """The box, in the caller's units."""
        return self._space

    @property
    def domain(self) -> Domain:
        """Where in the box points may be asked."""
        return self._domain

    @property
    def repeats(self) -> bool:
        """Whether points may be asked again."""
        return self._repeats

    @property
    def direction(self) -> Direction:
        """What is wanted of the objective: ``"minimize"`` or ``"maximize"``."""
        return self._direction

    @property
    def n_initial(self) -> int:
        """Length of the initial design."""
        return self._n_initial

    @property
    def n_before_search(self) -> int:
        """Evaluations before the first point that a model proposes for its value.

        The initial design, and a phase of learning where the optimiser has one.
        """
        return self._n_initial

    @property
    def entropy(self) -> int:
        """The integer from which every random number derives."""
        return self._entropy

    @property
    def history(self) -> History:
        """What was asked, told and withdrawn so far: a value, which does not change."""
        return self._history

    @property
    def n_told(self) -> int:
        """Number of told points."""
        return self._history.n_told

    @property
    def n_constraints(self) -> int:
        """Number of black-box constraints."""
        return self._n_constraints

    @property
    def noise_std(self) -> float | None:
        """Known standard deviation of one evaluation, units of the objective; None learns it."""
        return self._noise_std

    @property
    def observed(self) -> Observations:
        """Told points in scaled units, with larger values better."""
        with self._mutex:
            fresh = self._history.tells[len(self._observed) :]
            if fresh:
                points = np.array([tell.x for tell in fresh])
                values = np.array([tell.y for tell in fresh])
                constraints = self._history.constraints(self._n_constraints)[len(self._observed) :]
                self._observed = self._observed.append(
                    self._space.scale(points), self._sign * values, constraints
                )
            return self._observed

    @property
    def data(self) -> Observations:
        """What the algorithm is given: `observed`, or values by which no infeasible point can win.

        These are those of `Observations.penalized`, where there are constraints and the
        optimiser does not weigh the probability of feasibility.
        """
        with self._mutex:
            observed = self.observed
            if len(self._data) < len(observed):
                self._data = observed if self.weighs_feasibility else observed.penalized()
            return self._data

    @property
    def memory(self) -> Mapping[str, Any]:
        """What the algorithm left at its last proposal, as JSON returns it."""
        return self._history.memory

    @property
    def pending(self) -> FloatArray:
        """Points out for evaluation, shape (m, D), raw units, oldest first."""
        return self._history.pending_X

    def state(self) -> OptimizerState:
        """Return all that the optimiser is, as a value that JSON can hold."""
        return OptimizerState(history=self._history, **self._configuration())

    @classmethod
    def from_state(cls, state: OptimizerState, domain: Domain | None = None) -> Self:
        """Return an optimiser that carries on from a state.

        Parameters
        ----------
        state : OptimizerState
        domain : Domain, optional
            That of the run, which its state does not hold.

        Returns
        -------
        Self
            Called on ``Optimizer`` itself, an instance of the class that the state names.

        Raises
        ------
        InvalidInputError
            If the state belongs to another class, or a domain is missing or came where the run
            has none.
        """
        if not isinstance(state, OptimizerState):
            raise InvalidInputError(
                f"state must be an OptimizerState; received {type(state).__name__}. Read a file "
                "with OptimizerState.load(path), and a journal with resume(path)."
            )
        support.check_domain_of_state(state.has_domain, domain)
        kind = support.resolve_class(cls, state.optimizer)
        optimizer = kind(
            state.space,
            direction=state.direction,
            n_initial=state.n_initial,
            seed=state.entropy,
            domain=domain,
            repeats=state.repeats,
            **state.outcomes(),
            **state.options,
        )
        optimizer._history = state.history
        return optimizer

    @classmethod
    def resume(cls, journal: str | os.PathLike[str], domain: Domain | None = None) -> Self:
        """Return an optimiser that carries on from a journal, and carries the journal on.

        Parameters
        ----------
        journal : path-like
        domain : Domain, optional
            As in :meth:`from_state`.

        Returns
        -------
        Self
            As in :meth:`from_state`.

        Raises
        ------
        InvalidInputError
            As in :meth:`from_state`.
        JournalError
            If the file is absent, foreign or corrupt; it is left as it is.

        Warns
        -----
        JournalWarning
            If a torn last line was removed.
        """
        contents = read_journal(journal)
        return cls.from_state(support.journal_state(contents), domain).continue_journal(contents)

    def continue_journal(self, contents: JournalContents) -> Self:
        """Take the history of a journal of this run, and carry the journal on.

        Parameters
        ----------
        contents : JournalContents
            What was read of it. That it is of this run is not checked: :meth:`resume` makes the
            run from it, and :func:`boring.minimize` compares the two.

        Returns
        -------
        Self

        Warns
        -----
        JournalWarning
            If a torn last line was removed.
        """
        self._history = contents.history
        self._journal = Journal(contents.path, contents=contents)
        return self

    def start_journal(
        self, path: str | os.PathLike[str], header: Mapping[str, Any] | None = None
    ) -> Self:
        """Record every ask and tell from now on, and all before, in a new file.

        Parameters
        ----------
        path : path-like
            Must not hold anything yet.
        header : mapping of str to JSON-able value, optional
            What its first line is to hold besides the configuration, such as names of the inputs;
            what has the name of a part of the configuration is passed over.

        Returns
        -------
        Self

        Raises
        ------
        JournalError
            If the file holds something, or cannot be written.
        """
        own = support.journal_header(self)
        self._journal = Journal(path, header={**own, **(header or {}), **own})
        self.flush()
        return self

    def end_journal(self) -> None:
        """Write what is left, and record nothing more from now on; without a journal do nothing.

        Raises
        ------
        JournalError
            If something is left that cannot be written; the journal goes on then.
        """
        with self._mutex:
            self.flush()
            self._journal = None

    def flush(self) -> None:
        """Bring to the journal, if there is one, what a full disk kept in memory.

        Raises
        ------
        JournalError
            If it cannot be written still.
        """
        with self._mutex:
            if self._journal is not None:
                self._journal.write(self._history.events)

    def _configuration(self) -> dict[str, Any]:
        return {
            "optimizer": self.name,
            "space": self._space,
            "direction": self._direction,
            "entropy": self._entropy,
            "n_initial": self._n_initial,
            "options": canonical(self.option_values(), "options"),
            "has_domain": not self._domain.is_plain,
            "repeats": self._repeats,
            "n_constraints": self._n_constraints,
            "noise_std": self._noise_std,
        }
