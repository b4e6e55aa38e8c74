"""The gallery of the documentation: one small script for each picture of `boring.plotting`.

Each module has a docstring, whose first line is the title, and ``draw(background)``, which returns
a figure. ``python -m experiments.gallery.page FOLDER`` writes the page, on both backgrounds.
"""
