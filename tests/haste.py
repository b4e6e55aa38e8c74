"""Subspaces learned in haste, for tests of what is printed, drawn or written of them."""

from boring.subspace import estimation, factor_fit, learners, trust


def learn_in_haste(replace=setattr):
    """Let subspaces be learned by few iterations and checked by two folds.

    They take most of a short run's time. ``replace(module, name, value)`` puts the pieces in force;
    pass ``monkeypatch.setattr`` where they shall not stay.
    """
    fit = factor_fit._fit
    replace(factor_fit, "_fit", lambda *a: fit(*a[:-1], min(a[-1], 4)))
    replace(trust, "ISOTROPIC_ITERATIONS", 4)
    replace(learners, "FOLD_RESTARTS", 1)
    replace(estimation, "default_folds", lambda n, fit: 2)
