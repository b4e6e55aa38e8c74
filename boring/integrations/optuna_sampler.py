"""A sampler for Optuna."""

from __future__ import annotations

import hashlib
import logging
import secrets
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from boring._brief import in_brief
from boring._json import canonical, dumps
from boring.exceptions import InvalidInputError
from boring.history import Ask, History
from boring.integrations._optuna_history import history_of
from boring.integrations._optuna_record import HEADER, set_attribute, write_ask
from boring.integrations._optuna_turns import take_turn
from boring.optimizer import Optimizer, optimizer_class
from boring.parameters import ParameterSpace
from boring.registry import get_optimizer
from boring.rng import keyed_generator, seed_entropy
from boring.typing import SeedLike
from boring.validation import ELSEWHERE, check_options

try:
    import optuna
    from optuna.distributions import BaseDistribution, distribution_to_json
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.search_space import intersection_search_space
except ImportError as error:
    raise ImportError(
        "BoringSampler needs Optuna, which is not installed: pip install 'boring-bo[optuna]'."
    ) from error

__all__ = ["BoringSampler"]

ENTROPY = "boring:entropy"
CONSTRAINTS = "constraints"
PASSED_ON = ("n_initial", "noise_std", "repeats")
"""Arguments of every optimiser, beside the options of its own, that a sampler passes on."""

OWN_KEYWORDS = ("seed", "optimizer", "search_space", "pruned", "warn_independent_sampling")
"""Arguments of a sampler itself, among which a misspelt one may be meant."""

OTHER_SAMPLERS: Mapping[str, str] = {
    **ELSEWHERE,
    "deterministic_objective": "noise_std=0 says that there is no noise",
    "constant_liar": "trials that are running are always taken into account",
    **dict.fromkeys(("multivariate", "group"), "parameters are always sampled together"),
    "direction": "the study has the direction",
    **dict.fromkeys(("domain", "n_constraints"), "trial.set_constraint tells of constraints"),
}
"""What arguments of Optuna's own samplers, and of optimisers, are here."""

_logger = logging.getLogger("optuna.samplers.boring")


class BoringSampler(BaseSampler):
    """Any optimiser of this library as an Optuna sampler.

    Parameters
    ----------
    seed : int, SeedSequence or None
        None draws entropy that the study keeps, so that all its workers share it. Workers that
        are given seeds should be given the same.
    optimizer : str, default "boring"
        A registered name.
    search_space : mapping of str to optuna.distributions.BaseDistribution, optional
        The parameters to be sampled together, if they are known beforehand. None takes those that
        all complete trials have in common, as Optuna's own samplers do; the first trials are
        random then, until one is complete.
    pruned : {"last", "failed"}, default "last"
        What a pruned trial counts as: an evaluation with the last value that it reported, or a
        failed one. A trial that reported nothing counts as failed.
    constraints_func : callable, optional
        Takes a trial and returns the values of its constraints, each satisfied where it is <= 0.
        Out of date since Optuna 5: use ``trial.set_constraint``.
    warn_independent_sampling : bool, default True
        Whether to log a warning for a parameter that had to be sampled by itself.
    **options
        ``n_initial``, ``noise_std``, ``repeats`` and the options of the optimiser. Unless
        ``repeats`` is given, points may come twice where they are a part of what a trial has: where
        some trial has a parameter beside those that are sampled together.

    Raises
    ------
    InvalidInputError
        If an argument breaks these rules, or the study has several objectives.
    UnknownNameError
        If the optimiser or an option is not known.

    Notes
    -----
    The sampler keeps nothing. What was asked, and what the optimiser remembers, is in system
    attributes of the trials; each call rebuilds the optimiser and asks for one point more. A study
    that is resumed, with the same seed and options, therefore goes on as if it had not been
    stopped, and workers on one storage act as one run: they decide one after the other, and
    each knows what the others are evaluating. They wait for each other for two minutes at most.

    Failed trials are told as failures, unless they are retried; so are those whose worker died
    and whose heartbeat stopped. A complete trial on which a constraint was not set counts as
    infeasible if another trial has that constraint. Trials of `enqueue_trial`, of other
    samplers, or with values outside the space are told as far as they lie in it. When the search
    space, the optimiser or its options change, earlier trials are told to a new run.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=BoringSampler(seed=0))
    >>> study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=3)
    """

    def __init__(
        self,
        *,
        seed: SeedLike = None,
        optimizer: str = "boring",
        search_space: Mapping[str, Any] | None = None,
        pruned: Literal["last", "failed"] = "last",
        constraints_func: Callable[[Any], Sequence[float]] | None = None,
        warn_independent_sampling: bool = True,
        **options: Any,
    ) -> None:
        if pruned not in ("last", "failed"):
            raise InvalidInputError(f"pruned must be 'last' or 'failed'; received {pruned!r}.")
        _check_distributions(search_space)
        self._factory = get_optimizer(optimizer)
        kind = optimizer_class(self._factory)
        if kind is not None:
            allowed = (*PASSED_ON, *OWN_KEYWORDS, *kind.option_names())
            check_options(options, allowed, f"Optimiser {optimizer!r}", OTHER_SAMPLERS)
        if constraints_func is not None and hasattr(optuna.trial.Trial, "set_constraint"):
            warnings.warn(
                "constraints_func is out of date since Optuna 5. Call trial.set_constraint in the "
                "objective instead.",
                FutureWarning,
                stacklevel=2,
            )
        self._entropy = None if seed is None else seed_entropy(seed)
        self._optimizer = optimizer
        self._search_space = None if search_space is None else _varying(search_space)
        self._pruned = pruned
        self._constraints_func = constraints_func
        self._warns = warn_independent_sampling
        self._options = options

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        """Return the parameters that are sampled together, by name, and their distributions."""
        _check_one_objective(study)
        if self._search_space is not None:
            return dict(self._search_space)
        return _varying(intersection_search_space(study.get_trials(deepcopy=False)))

    def sample_relative(
        self, study: Any, trial: Any, search_space: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the next values of the parameters that are sampled together."""
        _check_one_objective(study)
        fixed = trial.system_attrs.get("fixed_params", {})
        if not search_space.keys() - fixed.keys():
            return {}
        space = ParameterSpace.of(dict(search_space))
        try:
            turn, trials = take_turn(study, trial)
            run = self._run_name(search_space)
            history, n_constraints = history_of(trials, space, run, self._pruned)
            repeats = _is_part(search_space, trials)
            ask = self._next_ask(study, space, history, n_constraints, repeats)
            values, ask = _overruled(ask, space, fixed)
            write_ask(study, trial, run, turn, history.n_told, ask)
        except BaseException:
            set_attribute(study, trial, HEADER, {})
            raise
        return values

    def sample_independent(
        self, study: Any, trial: Any, param_name: str, param_distribution: Any
    ) -> Any:
        """Return a random value for one parameter."""
        _check_one_objective(study)
        if self._warns and any(t.state.name == "COMPLETE" for t in study.get_trials(False)):
            _logger.warning(
                "The parameter %r of trial %d is sampled at random: not all complete trials have "
                "it with the same distribution. Say BoringSampler(warn_independent_sampling=False) "
                "if this is meant.",
                param_name,
                trial.number,
            )
        rng = keyed_generator(self._entropy_of(study), "independent", trial.number, param_name)
        sampler = RandomSampler(seed=int(rng.integers(2**32)))
        return sampler.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self, study: Any, trial: Any, state: Any, values: Sequence[float] | None
    ) -> None:
        """Evaluate ``constraints_func`` where there is one."""
        if self._constraints_func is None or state.name not in ("COMPLETE", "PRUNED"):
            return
        found = [float(value) for value in self._constraints_func(trial)]
        if any(value != value for value in found):
            raise InvalidInputError(
                f"constraints_func must return numbers; received {found} for trial "
                f"{trial.number}. Return a positive number where a constraint does not hold."
            )
        set_attribute(study, trial, CONSTRAINTS, found)

    def _next_ask(
        self,
        study: Any,
        space: ParameterSpace,
        history: History,
        n_constraints: int,
        repeats: bool,
    ) -> Ask:
        blank = self._factory(
            space.box,
            direction=study.direction.name.lower(),
            seed=self._entropy_of(study),
            domain=space.domain,
            **({"n_constraints": n_constraints} if n_constraints else {}),
            **{"repeats": repeats, **self._options},
        )
        state = replace(blank.state(), history=history)
        optimizer = Optimizer.from_state(state, domain=space.domain)
        optimizer.ask(len(history.pending) + 1)
        return optimizer.history.asks[-1]

    def _run_name(self, search_space: Mapping[str, Any]) -> str:
        space = {name: distribution_to_json(d) for name, d in sorted(search_space.items())}
        options = canonical(self._options, "options")
        text = dumps([self._optimizer, options, space])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _entropy_of(self, study: Any) -> int:
        """Return the given entropy, or that which the study keeps."""
        if self._entropy is not None:
            return self._entropy
        storage, study_id = study._storage, study._study_id
        if ENTROPY not in storage.get_study_system_attrs(study_id):
            storage.set_study_system_attr(study_id, ENTROPY, str(secrets.randbits(128)))
        # Read again: of two workers that write at once, both take what was written last.
        return int(storage.get_study_system_attrs(study_id)[ENTROPY])


def _check_distributions(search_space: object) -> None:
    rule = "search_space must map names to distributions of Optuna; "
    remedy = 'Pass for example {"x": optuna.distributions.FloatDistribution(0, 1)}.'
    if search_space is None:
        return
    if not isinstance(search_space, Mapping):
        raise InvalidInputError(f"{rule}received {type(search_space).__name__}. {remedy}")
    for name, given in search_space.items():
        if not isinstance(given, BaseDistribution):
            raise InvalidInputError(f"{rule}{name!r} has {in_brief(given)}. {remedy}")


def _check_one_objective(study: Any) -> None:
    if len(study.directions) > 1:
        raise InvalidInputError(
            f"BoringSampler optimises one objective; the study has {len(study.directions)}. "
            "Use a sampler such as optuna.samplers.NSGAIISampler, or one weighted objective."
        )


def _varying(search_space: Mapping[str, Any]) -> dict[str, Any]:
    return {name: d for name, d in sorted(search_space.items()) if not d.single()}


def _is_part(search_space: Mapping[str, Any], trials: Sequence[Any]) -> bool:
    """Tell whether any trial, in whatever state, has a parameter that is sampled by itself.

    Once it is true of a search space it remains so, for every worker and after a resumption.
    """
    return any(_varying(trial.distributions).keys() - search_space.keys() for trial in trials)


def _overruled(
    ask: Ask, space: ParameterSpace, fixed: Mapping[str, Any]
) -> tuple[dict[str, Any], Ask]:
    """Return the values to evaluate and their ask, some of them fixed by `enqueue_trial`."""
    values = space.as_given(space.decode(ask.x[None, :])[0])
    names = values.keys() & fixed.keys()
    if not names:
        return values, ask
    values |= {name: fixed[name] for name in names}
    try:
        return values, replace(ask, x=space.encode(values)[0])
    except InvalidInputError:  # outside the space: the trial will not be told
        return values, ask
