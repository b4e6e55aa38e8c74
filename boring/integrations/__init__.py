"""The optimisers inside Optuna, scikit-learn and SciPy.

Each module loads the library that it serves, and nothing else of the package loads them:

- `boring.integrations.optuna_sampler`: ``BoringSampler`` (extra ``optuna``)
- `boring.integrations.search_cv`: ``BoringSearchCV`` (extra ``sklearn``)
- `boring.integrations.scipy_method`: ``minimize_method``
"""
