"""Optimisers whose surrogate is a network with a random hidden layer."""
