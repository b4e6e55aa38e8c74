"""Optimisers with one Gaussian process over all inputs."""
