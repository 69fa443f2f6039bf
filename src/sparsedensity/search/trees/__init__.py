"""Searches for trees: greedy, annealing, exact."""
