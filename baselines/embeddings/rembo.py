"""REMBO: Bayesian optimisation in random low-dimensional embeddings.

Wang, Hutter, Zoghi, Matheson and de Freitas, "Bayesian optimization in a billion dimensions
via random embeddings", JAIR 55 (2016), with the kernels of that paper and the warped one of
Binois, Ginsbourger and Roustant, "A warped kernel improving robustness in Bayesian
optimization via random embeddings", LION 2015.

Each of k runs has its own embedding A (D, d) with standard normal entries and its own data;
evaluations go round the runs. One run's box of half-width sqrt(d) holds an optimum of a
function of two axis-aligned variables with three optima in 71 % of draws (d = 2), four runs'
boxes in 99.3 %.

**Deviations**

* Preimages are recomputed from the evaluated points
  (:func:`boring.embedding.back_project`), not remembered: a told point needs
  no history, and of the many z with one image the same one is always taken.
* Points told from outside serve every run through their least-squares preimage ("y"), as
  they are ("x") or by their warped projection ("psi"); "y" leaves out those that are
  reproduced badly (:mod:`baselines.embeddings.embedded_search`).
* Matern-5/2 with one lengthscale and MAP hyperparameters instead of a squared exponential
  whose lengthscale bound shrinks; the joint multi-start maximiser instead of DIRECT.
* The initial design lies in the search boxes, as in the paper, and so differs from that of
  the other optimisers; ``initial="sobol"`` takes theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from baselines._options import check_choice, check_positive
from baselines.embeddings.embedded_search import (
    EmbeddedOptimizer,
    EmbeddedOptions,
    RunsPosterior,
)
from baselines.embeddings.features import SearchFeatures, get_features
from boring.embedding import RandomEmbedding
from boring.rng import keyed_generator
from boring.surrogate import ObjectivePosterior

__all__ = ["RemboOptimizer", "RemboOptions", "draw_embeddings"]

#: d = 2 with four runs is the best setting of Wang et al. (2016), table 1, for a function
#: of two variables in 25 dimensions.
DEFAULT_EFFECTIVE_DIM = 2
DEFAULT_N_EMBEDDINGS = 4


@dataclass(frozen=True)
class RemboOptions(EmbeddedOptions):
    """Options of REMBO, beside those of :class:`EmbeddedOptions`; d is min(2, D) by default.

    Parameters
    ----------
    n_embeddings : int, default 4
        Interleaved runs k.
    kernel : {"psi", "x", "y"}, default "psi"
        What distances are measured between: warped projections, points or preimages.
    half_width : float, optional
        Of the search box; None takes sqrt(d).
    """

    n_embeddings: int = DEFAULT_N_EMBEDDINGS
    kernel: Literal["psi", "x", "y"] = "psi"
    half_width: float | None = None

    def __post_init__(self) -> None:
        """Check every option that does not depend on the space."""
        super().__post_init__()
        check_choice(self.kernel, "kernel", ("psi", "x", "y"))
        if self.half_width is not None:
            check_positive(self.half_width, "half_width")


def draw_embeddings(
    entropy: int, dim: int, effective_dim: int, n_embeddings: int
) -> tuple[RandomEmbedding, ...]:
    """Return the embeddings of a run, the same whenever they are asked for.

    Parameters
    ----------
    entropy : int
        Of the optimiser.
    dim, effective_dim, n_embeddings : int
        D, d and k.
    """
    return tuple(
        RandomEmbedding.gaussian(dim, effective_dim, keyed_generator(entropy, "rembo", run))
        for run in range(n_embeddings)
    )


class RemboOptimizer(EmbeddedOptimizer):
    """Bayesian optimisation in interleaved random embeddings.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`RemboOptions`.

    Raises
    ------
    InvalidInputError
        If ``effective_dim`` exceeds the dimension of the space.

    Examples
    --------
    >>> optimizer = RemboOptimizer([(-1, 1)] * 10, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: (x[0] - 0.3) ** 2, 12, progress=False)
    >>> result.X.shape
    (12, 10)
    """

    name: ClassVar[str] = "rembo"
    options_type: ClassVar[type] = RemboOptions

    default_effective_dim: ClassVar[int] = DEFAULT_EFFECTIVE_DIM

    def _draw_features(self) -> tuple[SearchFeatures, ...]:
        self._embeddings = draw_embeddings(
            self.entropy, self.space.dim, self.effective_dim, self.options.n_embeddings
        )
        return tuple(
            get_features(self.options.kernel, embedding, self.half_width)
            for embedding in self._embeddings
        )

    @property
    def half_width(self) -> float:
        """Half-width of the search boxes."""
        given: float | None = self.options.half_width
        return self._embeddings[0].half_width if given is None else given

    @property
    def embeddings(self) -> tuple[RandomEmbedding, ...]:
        """The embedding of each run."""
        return self._embeddings

    @property
    def shares_features(self) -> bool:
        """Whether foreign points may have the features of quite other points."""
        return bool(self.options.kernel == "y")

    @property
    def surrogate(self) -> ObjectivePosterior[RunsPosterior] | None:
        """As in `EmbeddedOptimizer`; None with the kernel "y".

        That kernel's model lives on z, of which clipping maps many to one x, and none to most x.
        """
        return None if self.options.kernel == "y" else super().surrogate

    def _resolved_options(self) -> dict[str, object]:
        return {**super()._resolved_options(), "half_width": self.half_width}
