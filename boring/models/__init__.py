"""Surrogate models: the native GP engine, its priors, and the fence around GPy."""
