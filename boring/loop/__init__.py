"""The default loop of BORING and the thesis preset: whose turn it is, and what each turn does."""
