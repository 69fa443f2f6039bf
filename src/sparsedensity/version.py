"""What is running: the version, in one place, and the command that was typed, if any."""

from contextvars import ContextVar

__version__ = "0.1.0.dev0"

COMMAND: ContextVar[str] = ContextVar("command", default="")
