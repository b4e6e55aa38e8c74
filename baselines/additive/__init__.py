"""Optimisers that take the objective for a sum of functions of few inputs each."""
