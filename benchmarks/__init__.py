"""Benchmarks: what is compared runs side by side in one process, and the answer is a ratio.

``make bench`` runs them all; ``python -m benchmarks large_table`` runs one.
"""

from pathlib import Path


def names() -> list[str]:
    """Every benchmark: the files of this folder that have a ``main``."""
    files = Path(__file__).parent.glob("[a-z]*.py")
    return sorted(file.stem for file in files if "\ndef main(" in file.read_text(encoding="utf-8"))
