"""Run benchmarks by name, or all of them; what they print is kept for the page (``python -m benchmarks page``)."""

import contextlib
import importlib
import io
import json
import sys

from benchmarks import names
from benchmarks.page import OUTPUTS, write_page
from reproduction.machine import Machine
from sparsedensity.errors import SparseDensityError
from sparsedensity.writing import make_folder, write_text


class Both(io.TextIOBase):
    """A stream that shows what is written and remembers it."""

    def __init__(self) -> None:
        self.shown, self.kept = sys.stdout, io.StringIO()

    def write(self, text: str) -> int:
        self.kept.write(text)
        return self.shown.write(text)

    def flush(self) -> None:
        self.shown.flush()


def main() -> None:
    if sys.argv[1:] == ["page"]:
        print(f"wrote {write_page()}")
        return
    machine = Machine.here()
    print(machine)
    make_folder(OUTPUTS)
    for name in sys.argv[1:] or names():
        print(f"\n## {name}")
        both = Both()
        with contextlib.redirect_stdout(both):
            importlib.import_module(f"benchmarks.{name}").main()
        kept = {"name": name, "machine": machine.saved(), "printed": both.kept.getvalue()}
        write_text(json.dumps(kept, indent=1), OUTPUTS / f"{name}.json")


try:
    main()
except SparseDensityError as error:
    sys.exit(f"error: {error}")
