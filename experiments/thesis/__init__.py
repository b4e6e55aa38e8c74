"""The experiments of chapter 5 of the thesis, by ``python -m experiments thesis``.

The thesis [Yenicelik 2018] lists settings and prints neither regrets nor angles; what is measured
here stands beside its claims in ``docs/thesis.md``. One module is one study; `studies` lists them,
`command` runs them and writes the report.
"""
