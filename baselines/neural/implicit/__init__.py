"""Implicit models: densities that can be drawn from but not written down, with their order kept."""
