"""Searches for rule lists: Markov chains with annealed phases, and exact."""
