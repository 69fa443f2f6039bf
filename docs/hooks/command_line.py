"""The page of the command line, made from the commands themselves."""

from __future__ import annotations

from typing import Any

from typer import Context
from typer.main import get_command

from sparsedensity.cli import app

PAGE = "reference/command-line.md"
EXAMPLES = "Examples: "
"""How the last lines of a help begin; examples are separated by dots."""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Add every verb to its page."""
    return f"{markdown}\n\n{_verbs()}" if page.file.src_uri == PAGE else markdown


def _verbs() -> str:
    """Every verb; options that an earlier verb has too are not listed again."""
    command: Any = get_command(app)
    root = Context(command, info_name=command.name, **command.context_settings)
    firsts: dict[str, str] = {}
    parts = []
    for verb in command.commands.values():
        context = Context(verb, info_name=verb.name, parent=root)
        parts += [f"## {verb.name}", verb.help, _calls(verb, context)]
        parts += [_group(verb.name, group, lines, firsts) for group, lines in verb.groups(context).items()]
    return "\n\n".join(parts)


def _calls(verb: Any, context: Context) -> str:
    """How a verb is called: in general, and for example."""
    usage = " ".join([context.command_path, *verb.collect_usage_pieces(context)])
    return "\n".join(["```text", usage, "", *verb.epilog.removeprefix(EXAMPLES).split(" · "), "```"])


def _group(verb: str, group: str, lines: list[tuple[str, str]], firsts: dict[str, str]) -> str:
    """A group of options; if an earlier verb has the same, a link to the first that does."""
    listed = "\n\n".join(_option(*line) for line in lines)
    first = firsts.setdefault(listed, verb)
    return f"**{group}**\n\n{listed}" if first == verb else f"**{group}**: as in [{first}](#{first})."


def _option(written: str, meaning: str) -> str:
    """An option and what it means."""
    text = meaning.replace("<", "&lt;").replace("*", "\\*").replace("[", "\\[")
    return f"`{written}`\n:   {text}"
