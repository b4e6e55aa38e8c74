"""Optimisers that move in a few directions of the whole space at a time."""
