"""Help in plain text: what draws frames around it would take longer to load than all else that help needs."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

OTHERS = "Options"
"""The group of options that belong to no other."""
WIDEST = 120


class PlainCommand(TyperCommand):
    """A verb whose help lists its options in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write every group."""
        for group, lines in self.groups(ctx).items():
            with formatter.section(group):
                formatter.write_dl(lines)

    def groups(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Arguments, options of this verb alone, then those of every group: how each is written, and its help."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], OTHERS: []}
        for parameter in self.get_params(ctx):
            group = "Arguments" if parameter.param_type_name == "argument" else _group_of(parameter)
            if (line := parameter.get_help_record(ctx)) is not None:
                groups.setdefault(group, []).append(line)
        return {group: lines for group, lines in groups.items() if lines}


class PlainGroup(TyperGroup):
    """The command itself, whose help says of every verb what it does, however long that sentence is."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write every verb."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, str(verb.help).partition("\n\n")[0]) for name, verb in self.commands.items()])


def _group_of(option: Any) -> str:
    return getattr(option, "rich_help_panel", None) or OTHERS
