"""What is running: the command that was typed, if any, and the version, in one place."""

from contextvars import ContextVar

COMMAND: ContextVar[str] = ContextVar("command", default="")

__version__ = "0.1.0"
