"""``python -m sparsedensity``."""

from sparsedensity.cli import main

main()
