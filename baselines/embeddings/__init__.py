"""Optimisers that search a random low-dimensional embedding."""
