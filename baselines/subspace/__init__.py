"""Optimisers that learn an active subspace, by values, by differences or by choosing points."""
