"""Optimisers that estimate the ratio of two densities, or a class probability, in place of f."""
