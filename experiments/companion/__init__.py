"""The experiments of the four companion papers, and what the project asks of their methods."""
