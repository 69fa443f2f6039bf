"""Exact search for trees: an estimate in advance, the proof, and all trees near the optimum."""
