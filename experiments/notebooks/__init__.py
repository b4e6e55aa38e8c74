"""Notebooks, written as Markdown (``*.md``) and kept beside it with their outputs (``*.ipynb``).

``make notebooks`` runs them all anew; ``python -m experiments.notebooks NAME...`` runs some.
``BORING_NOTEBOOK_BUDGET`` caps the evaluations of every run in them.
"""
