"""Optimisers that ask where a stated value would be reached, and evaluate there."""
