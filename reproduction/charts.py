"""Charts drawn with matplotlib: a file for papers (SVG, PNG), and the same for a page that is light or dark."""

from __future__ import annotations

import html
import io
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
from matplotlib import ticker
from matplotlib.figure import Figure

from reproduction.study import Chart, Panel, Series
from sparsedensity.report.style import DARK, LIGHT

SERIES = (
    ("#3b7ab8", "#6aa9e6"),
    ("#b07d01", "#f2bd4e"),
    ("#0f8a68", "#46c39c"),
    ("#a8437f", "#e58cc3"),
    ("#7a5cc4", "#b39df0"),
    ("#b8503a", "#f0937c"),
    ("#4f7d1e", "#9cc65f"),
    ("#5a6b7c", "#9db0c2"),
)
"""A light and a dark colour per series, far apart for every kind of sight; markers differ too."""
MARKERS = "osD^vPXd"
WIDE, HIGH = 4.6, 3.3
"""The size of a panel in inches; a single one is wider."""
FEW_DECADES = 300.0
NAME_HIGH, NAME_WIDE = 8.0, 70.0
"""The room of a name, in points."""


def draw(chart: Chart) -> Any:
    """The chart as a matplotlib figure."""
    across = -(-len(chart.panels) // chart.rows)
    size = 1.4 * WIDE if len(chart.panels) == 1 else WIDE * across, HIGH * chart.rows
    figure = Figure(figsize=size, layout="constrained", facecolor=LIGHT["paper"])
    labels = list(dict.fromkeys(series.label for panel in chart.panels for series in panel.series))
    places = figure.subplots(chart.rows, across, squeeze=False, sharey=chart.one_scale)
    panels = list(zip(places.flat, chart.panels, strict=True))
    for axes, panel in panels:
        _dress(axes, panel, chart.panels if chart.one_scale else (panel,))
        for series in panel.series:
            _plot(axes, series, labels.index(series.label))
    _legend(figure, labels)
    if any(series.names for panel in chart.panels for series in panel.series):
        figure.draw_without_rendering()  # now the points are where they will be
        for axes, panel in panels:
            for series in panel.series:
                _name(axes, series)
    return figure


def svg(chart: Chart) -> str:
    """The chart as SVG, in light colours and with its texts as text."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": chart.name, "font.size": 9}):
        file = io.StringIO()
        draw(chart).savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r"(font: [^;\"]*?px) [^;\"]*", r"\1 system-ui, sans-serif", text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def png(chart: Chart) -> bytes:
    """The chart as PNG."""
    with matplotlib.rc_context({"font.size": 9}):
        file = io.BytesIO()
        draw(chart).savefig(file, format="png", dpi=150, metadata={"Software": None})
    return file.getvalue()


def themed(text: str) -> str:
    """The SVG of a chart with the colours of the page around it."""
    for variable, (light, _) in palette().items():
        text = text.replace(light, f"var(--{variable})")
    return text


def by_itself(chart: Chart) -> str:
    """The chart as an SVG file that is light or dark as its reader prefers."""
    start, end = re.split(r"(?<=>)", themed(svg(chart)), maxsplit=1)
    named = start.replace("<svg ", f'<svg role="img" aria-label="{html.escape(chart.title)}" ')
    return f"{named}\n <style>{stylesheet(palette())}</style>{end}"


def stylesheet(colours: Mapping[str, tuple[str, str]]) -> str:
    """Named colours, as light or dark as the reader prefers."""
    light, dark = ("".join(f"--{name}:{pair[side]};" for name, pair in colours.items()) for side in (0, 1))
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def palette() -> dict[str, tuple[str, str]]:
    """Every colour of a chart by its name: light and dark."""
    series = {f"series{i}": pair for i, pair in enumerate(SERIES)}
    return series | {name: (LIGHT[name], DARK[name]) for name in ("paper", "ink", "soft", "line")}


def _dress(axes: Any, panel: Panel, as_high: Sequence[Panel]) -> None:
    """Everything but the series; some panels are as high as this one."""
    axes.set_facecolor(LIGHT["paper"])
    axes.set_title(panel.title, color=LIGHT["ink"], fontsize=10, loc="left")
    axes.set_xlabel(panel.across, color=LIGHT["ink"])
    if len(as_high) == 1 or axes.get_subplotspec().is_first_col():
        axes.set_ylabel(panel.up, color=LIGHT["ink"])
    for wanted, axis, values in (
        (panel.log_x, axes.xaxis, [x for series in panel.series for x in series.x]),
        (panel.log_y, axes.yaxis, [y for other in as_high for series in other.series for y in series.y]),
    ):
        if wanted:
            _make_log(axis, values)
    axes.grid(color=LIGHT["line"], linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", colors=LIGHT["soft"], labelcolor=LIGHT["soft"])
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(LIGHT["soft"])


def _make_log(axis: Any, values: list[float]) -> None:
    """A logarithmic axis with plain numbers; over a few powers of ten, twos and fives are named too."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    few = max(values, default=1.0) < FEW_DECADES * min(values, default=1.0)
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if few else (1,)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def _plot(axes: Any, series: Series, place: int) -> None:
    colour, _ = SERIES[place % len(SERIES)]
    look = {"color": colour, "marker": MARKERS[place % len(MARKERS)], "label": series.label}
    if series.line and series.faint:
        axes.plot(series.x, series.y, color=LIGHT["soft"], linewidth=1, linestyle=":", label=series.label)
    elif series.line:
        axes.plot(series.x, series.y, markersize=4, linewidth=1.6, **look)
        if series.low:
            axes.fill_between(series.x, series.low, series.high, color=colour, alpha=0.15, linewidth=0)
    else:
        style: dict[str, Any] = {"facecolors": "none"} if series.faint else {"linewidths": 0}
        axes.scatter(series.x, series.y, s=26, alpha=0.9, **{**look, **style})


def _name(axes: Any, series: Series) -> None:
    """Write the names beside the points, so that none covers another."""
    point = axes.figure.dpi / 72
    places = axes.transData.transform(list(zip(series.x, series.y, strict=True))) / point
    heights = apart([(x, y) for x, y in places.tolist()][: len(series.names)])
    for x, y, (_, up), height, name in zip(series.x, series.y, places, heights, series.names, strict=False):
        shift = (5, height - up - 2)
        axes.annotate(name, (x, y), xytext=shift, textcoords="offset points", fontsize=7, color=LIGHT["soft"])


def apart(places: Sequence[tuple[float, float]]) -> list[float]:
    """The heights at which names can stand beside points: neighbours push each other up and down.

    >>> apart([(0, 10), (200, 10), (0, 12)])
    [7.0, 10, 15.0]
    """
    heights = [up for _, up in places]
    order = sorted(range(len(places)), key=lambda i: heights[i])
    for _ in range(100):
        for i, j in itertools.combinations(order, 2):
            missing = NAME_HIGH - (heights[j] - heights[i])
            if missing > 0 and abs(places[i][0] - places[j][0]) < NAME_WIDE:
                heights[i], heights[j] = heights[i] - missing / 2, heights[j] + missing / 2
    return heights


def _legend(figure: Any, labels: list[str]) -> None:
    if len(labels) < 2:
        return
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    columns = min(len(labels), max(2, int(figure.get_size_inches()[0] // 2)))
    legend = figure.legend(
        [handles[label] for label in labels], labels, loc="outside lower center", ncols=columns, frameon=False
    )
    for text in legend.get_texts():
        text.set_color(LIGHT["ink"])
