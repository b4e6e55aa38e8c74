"""Searches without a model."""
