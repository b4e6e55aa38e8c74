"""Tuning of scikit-learn's estimators: typed parameters, cross-validated losses, other tuners.

Run ``python -m experiments tuning --help`` from the root of the checkout.
"""
