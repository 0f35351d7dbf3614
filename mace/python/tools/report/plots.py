# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The plots of a report, as SVG for inclusion in a page.

Colours of text and lines are those of the page, which are others in the dark. Labels
and legends are outside the axes, never over data, and each mark tells its values when
one points at it.
"""

from __future__ import annotations

import html
import io
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mace.python.tools.report.analysis import Analysis, DevicePeak, OpFigures
from mace.python.tools.report.units import (
    common_prefix,
    elided,
    size_unit,
    time_text,
    time_unit,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which are distinguishable with any kind of colour vision;
# further types share the last colour. The first and the seventh are lighter than
# theirs, for dark pages.
_COLOURS = (
    "#2185c5",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#a3822a",
    "#8a8f98",
)
# Stand for variables of the page's style.
_INK, _SOFT, _AXIS, _LINE, _CARD = "#1f2933", "#52606d", "#9aa5b1", "#e4e7eb", "#fefefe"
_VARIABLES = {
    _INK: "var(--ink)",
    _SOFT: "var(--soft)",
    _AXIS: "var(--axis)",
    _LINE: "var(--line)",
    _CARD: "var(--card)",
}
# With more operators, the names under the bars would be unreadable.
_MOST_LABELS = 40
# Of the run times, those up to this part are shown, and others up to a multiple of it.
_MOST_SHOWN = 0.95
_CUT = 2.0
# Beside each other on a wide page, below each other on a narrow one.
_HALF = 4.9

_STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _AXIS,
    "axes.labelcolor": _INK,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "axes.grid": True,
    "grid.color": _LINE,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 9,
}
_TIP = re.compile(r'<g id="tip(\d+)">')


class _Tips:
    """Texts that are shown when one points at a mark."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def add(self, mark: Artist, text: str) -> None:
        mark.set_gid(f"tip{len(self._texts)}")
        self._texts.append(text)

    def written(self, svg: str) -> str:
        """The picture with the texts as titles of their marks."""

        def titled(found: re.Match[str]) -> str:
            text = html.escape(self._texts[int(found[1])])
            # Without the identifier: a page has several pictures.
            return f'<g class="tip"><title>{text}</title>'

        return _TIP.sub(titled, svg)


def type_colours(analysis: Analysis) -> dict[str, str]:
    """One colour per operator type, starting with the type that takes the most time."""
    last = len(_COLOURS) - 1
    return {t.type: _COLOURS[min(i, last)] for i, t in enumerate(analysis.types)}


def time_per_op(analysis: Analysis) -> str:
    """A bar for each operator in run order."""

    def draw(axes: Axes, tips: _Tips) -> None:
        colours = type_colours(analysis)
        ops = analysis.ops
        unit = time_unit(op.median_ms for op in ops)
        bars = axes.bar(
            [op.index for op in ops],
            [unit.factor * op.median_ms for op in ops],
            color=[colours[op.type] for op in ops],
            width=0.85,
        )
        for bar, op in zip(bars, ops):
            tips.add(bar, _op_text(op))
        axes.set_ylabel(f"median time ({unit.name})")
        axes.set_xlabel("operator, in run order")
        axes.grid(axis="x", visible=False)
        axes.margins(x=0.01)
        if len(ops) <= _MOST_LABELS:
            prefix = common_prefix(op.name for op in ops)
            axes.set_xticks([op.index for op in ops])
            axes.set_xticklabels(
                [_plain(elided(op.name, prefix, 22)) for op in ops],
                rotation=60,
                ha="right",
                rotation_mode="anchor",
                fontsize=8,
            )
        _type_legend(axes, colours)

    return _svg(draw, (11, 3.8))


def live_memory(analysis: Analysis, arena_bytes: int) -> str:
    """Activation memory while each operator runs, against the arena."""

    def draw(axes: Axes, tips: _Tips) -> None:
        size = size_unit((*analysis.live_bytes, arena_bytes))
        sizes = [size.factor * live for live in analysis.live_bytes]
        arena = size.factor * arena_bytes
        # In execution order; the width is the time of the operator.
        starts = [op.start_ms for op in analysis.ops]
        end = analysis.ops[-1].start_ms + analysis.ops[-1].last_ms
        edges = [*starts, max(end, starts[-1])]
        time = time_unit(edges)
        edges = [time.factor * edge for edge in edges]
        for op, live, left, right in zip(analysis.ops, sizes, edges, edges[1:]):
            (bar,) = axes.bar(
                left, live, right - left, align="edge", color=_COLOURS[4], linewidth=0
            )
            tips.add(bar, f"{op.index} {op.name}: {live:.2f} {size.name} are alive")
        if arena_bytes:
            axes.axhline(
                arena,
                color=_COLOURS[5],
                linewidth=1.4,
                label=f"arena, {arena:.2f} {size.name}",
            )
            _legend(axes)
        axes.set_xlabel(f"time in the run ({time.name})")
        axes.set_ylabel(f"live activations ({size.name})")
        axes.set_ylim(bottom=0, top=max([*sizes, arena, 1e-6]) * 1.05)
        axes.margins(x=0)

    return _svg(draw, (_HALF, 3.1))


def process_memory(timeline: Sequence[Mapping[str, Any]]) -> str:
    """Resident memory of the process, from its start to its end."""

    def draw(axes: Axes, tips: _Tips) -> None:
        ms = [point["ms"] for point in timeline]
        mega = [point["resident_bytes"] / 1e6 for point in timeline]
        axes.step(ms, mega, where="post", color=_COLOURS[0], linewidth=1.6)
        area = axes.fill_between(ms, mega, step="post", color=_COLOURS[0], alpha=0.15)
        tips.add(area, f"at most {max(mega):.2f} MB")
        created = next((p for p in timeline if p["label"] == "engine created"), None)
        if created is not None:
            line = axes.axvline(
                created["ms"],
                color=_SOFT,
                linewidth=1.2,
                linestyle=":",
                label=f"engine created, {created['ms']:.0f} ms",
            )
            tips.add(line, f"engine created: {created['ms']:.1f} ms")
            _legend(axes)
        axes.set_xlabel("time since start (ms)")
        axes.set_ylabel("resident memory (MB)")
        axes.set_ylim(bottom=0)
        axes.margins(x=0.01)

    return _svg(draw, (_HALF, 3.1))


def roofline(analysis: Analysis, device: str) -> str:
    """The operators of a device compared with its limits of arithmetic and memory.

    Empty without a measured peak or without multiply-accumulates.
    """
    peak = analysis.peaks.get(device)
    ops = [
        op
        for op in analysis.ops
        if op.device == device and op.intensity > 0 and op.gflops > 0
    ]
    if peak is None or not ops:
        return ""
    known: DevicePeak = peak

    def draw(axes: Axes, tips: _Tips) -> None:
        _roofs(axes, tips, known, ops)
        colours = type_colours(analysis)
        largest = max(op.median_ms for op in ops)
        for op in sorted(ops, key=lambda op: -op.median_ms):
            circle = axes.scatter(
                [op.intensity],
                [op.gflops],
                # The area shows the time, so that the important operators are seen
                # first.
                s=[18 + 220 * op.median_ms / largest],
                color=colours[op.type],
                alpha=0.7,
                edgecolor=_CARD,
                linewidth=0.6,
                zorder=3,
            )
            tips.add(circle, f"{_op_text(op)}, {op.intensity:.3g} operations per byte")
        for name in dict.fromkeys(op.type for op in ops):
            axes.scatter([], [], s=40, color=colours[name], label=name)
        axes.set_xlabel("arithmetic intensity (operations per byte)")
        axes.set_ylabel("achieved 10⁹ operations per second")
        _legend(axes, columns=2)

    return _svg(draw, (_HALF, 4.6))


def _roofs(axes: Axes, tips: _Tips, peak: DevicePeak, ops: Sequence[OpFigures]) -> None:
    """The lines of a device's limits, on logarithmic axes."""
    from matplotlib.ticker import LogLocator

    limits = {
        quantized: peak.operations(quantized)
        for quantized in sorted({op.quantized for op in ops})
    }
    most = max(limits.values())
    bandwidths = {"cache": peak.cache_gbytes_per_s, "memory": peak.gbytes_per_s}
    intensities = [op.intensity for op in ops]
    for limit in limits.values():
        intensities += [limit / bandwidth for bandwidth in bandwidths.values()]
    low, high = min(intensities) / 3, max(intensities) * 3
    for (name, bandwidth), style in zip(bandwidths.items(), ("--", "-.")):
        text = f"{name}, at least {bandwidth:.3g} GB/s"
        ends = ([low, most / bandwidth], [low * bandwidth, most])
        (line,) = axes.plot(*ends, style, color=_INK, linewidth=1.3, label=text)
        tips.add(line, text)
    for quantized, limit in limits.items():
        unit = "GOP/s in int8" if quantized else "GFLOP/s"
        text = f"peak, at least {limit:.3g} {unit}, {peak.source}"
        (line,) = axes.plot(
            [limit / max(bandwidths.values()), high],
            [limit, limit],
            color=_SOFT if quantized else _INK,
            linewidth=1.3,
            label=_plain(text),
        )
        tips.add(line, text)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    top = max(most, *(op.gflops for op in ops))
    axes.set_ylim(bottom=min(op.gflops for op in ops) / 2, top=top * 2)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")


def run_times(series: Mapping[str, Sequence[float]], median: float) -> str:
    """Time of every run, per series, and the median of the first."""

    def draw(axes: Axes, tips: _Tips) -> None:
        every = sorted(itertools.chain(*series.values()))
        top, above = _top(every)
        unit = time_unit((median,))
        for i, (name, values) in enumerate(series.items()):
            (line,) = axes.plot(
                range(1, len(values) + 1),
                [unit.factor * value for value in values],
                marker="." if len(values) <= 200 else "",
                markersize=4,
                linewidth=1,
                color=_COLOURS[i],
                label=name,
            )
            ends = f"{time_text(min(values))} to {time_text(max(values))}"
            tips.add(line, f"{name}: {len(values)} runs, {ends}")
        axes.axhline(
            unit.factor * median,
            color=_INK,
            linewidth=1,
            linestyle="--",
            label=f"median, {time_text(median)}",
        )
        axes.set_xlabel("run")
        axes.set_ylabel(f"time ({unit.name})")
        axes.set_ylim(bottom=0, top=unit.factor * top)
        if above:
            runs = "1 run takes" if above == 1 else f"{above} runs take"
            text = f"{runs} longer, at most {time_text(every[-1])}"
            axes.plot([], [], " ", label=text)
        _legend(axes, columns=2)

    return _svg(draw, (_HALF, 3.1))


def _top(values: Sequence[float]) -> tuple[float, int]:
    """Where the axis of sorted times ends, and how many are beyond: a few runs that
    were interrupted would hide how all others differ.
    """
    usual = _CUT * values[int(_MOST_SHOWN * (len(values) - 1))]
    if values[-1] <= usual:
        return 1.05 * values[-1], 0
    return usual, sum(value > usual for value in values)


def _op_text(op: OpFigures) -> str:
    rate = f", {op.gflops:.3g} GOP/s" if op.macs else ""
    return (
        f"{op.index} {op.name} ({op.type}): {time_text(op.median_ms)}, "
        f"{op.share:.1%} of all{rate}"
    )


def _type_legend(axes: Axes, colours: Mapping[str, str]) -> None:
    from matplotlib.patches import Patch

    named = [(name, c) for name, c in colours.items() if c != _COLOURS[-1]]
    handles = [Patch(color=colour, label=name) for name, colour in named]
    if len(named) < len(colours):
        handles.append(Patch(color=_COLOURS[-1], label="others"))
    _figure(axes).legend(handles=handles, loc="outside upper left", ncols=len(handles))


def _legend(axes: Axes, columns: int = 1) -> None:
    """The labelled marks, below the axes: there it covers nothing."""
    _figure(axes).legend(
        loc="outside lower left", ncols=columns, columnspacing=1.2, handlelength=1.8
    )


def _figure(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def _svg(draw: Callable[[Axes, _Tips], None], size: tuple[float, float]) -> str:
    # The object interface is used because pyplot keeps state and selects a window
    # system.
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    tips = _Tips()
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot(), tips)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, variable)
    return tips.written(text)


def _plain(text: str) -> str:
    # A dollar sign would start a formula.
    return text.replace("$", r"\$")
