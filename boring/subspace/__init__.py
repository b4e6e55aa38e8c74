"""Learning of active subspaces: frames on the Stiefel manifold and their estimators."""
