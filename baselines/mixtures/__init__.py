"""Optimisers whose surrogate is a mixture of densities of (x, y), conditioned on x."""
