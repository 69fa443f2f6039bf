"""Run benchmarks by name, or all of them."""

import importlib
import platform
import sys
from pathlib import Path

import sparsedensity

HELPERS = {"timing", "paper_data", "plain_annealer"}
NAMES = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py") if path.stem not in HELPERS)


def main() -> None:
    names = sys.argv[1:] or NAMES
    print(f"sparsedensity {sparsedensity.__version__}, Python {platform.python_version()}, {platform.platform()}")
    for name in names:
        print(f"\n## {name}")
        importlib.import_module(f"benchmarks.{name}").main()


main()
