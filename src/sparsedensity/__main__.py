"""``python -m sparsedensity``, and the command that is installed."""

import sys


def main() -> None:
    """Run the command line. Whoever presses Ctrl-C before there is anything to keep hears nothing more."""
    try:
        from sparsedensity.cli import main as run  # noqa: PLC0415 (so that Ctrl-C may come while it is imported)

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
