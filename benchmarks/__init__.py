"""Benchmarks: what is compared runs side by side in one process, and the answer is a ratio.

``make bench`` runs them all; ``python -m benchmarks large_table`` runs one.
"""
