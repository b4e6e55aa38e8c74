"""Problems with real data: what tuning a model feels like, from scikit-learn's bundled data sets.

They need scikit-learn, the extra ``tasks``, which is imported when the first of them is made; the
tuning of a solver, :func:`mip_highs`, needs highspy in its place, the extra ``mip``. Their
data, folds and random numbers are fixed, so each is a deterministic function; no optimum and no
active subspace is known of any of them.
"""

from __future__ import annotations

from .boosting import boosting_diabetes
from .cascade import cascade_digits
from .completion import completion_digits
from .forest import forest_digits
from .kernel_machine import kernel_digits
from .lasso import lasso_breast_cancer, lasso_diabetes, lasso_synthetic
from .mip import mip_highs
from .support_vectors import svm_breast_cancer

__all__ = [
    "boosting_diabetes",
    "cascade_digits",
    "completion_digits",
    "forest_digits",
    "kernel_digits",
    "lasso_breast_cancer",
    "lasso_diabetes",
    "lasso_synthetic",
    "mip_highs",
    "svm_breast_cancer",
]
