# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The plots of a report, as SVG for inclusion in a page."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mace.python.tools.report.analysis import Analysis, OpFigures, TypeFigures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which are distinguishable with any kind of colour vision;
# further types share the last colour.
_COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#8c6d1f",
    "#8a8f98",
)
_INK = "#1f2933"
_LONGEST = 20
# With more operators, the names under the bars would be unreadable.
_MOST_LABELS = 40

_STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#9aa5b1",
    "axes.labelcolor": _INK,
    "xtick.color": "#52606d",
    "ytick.color": "#52606d",
    "axes.grid": True,
    "grid.color": "#e4e7eb",
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def type_colours(analysis: Analysis) -> dict[str, str]:
    """One colour per operator type, starting with the type that takes the most time."""
    last = len(_COLOURS) - 1
    return {t.type: _COLOURS[min(i, last)] for i, t in enumerate(analysis.types)}


def time_per_op(analysis: Analysis) -> str:
    """A bar for each operator in run order."""

    def draw(axes: Axes) -> None:
        colours = type_colours(analysis)
        ops = analysis.ops
        axes.bar(
            [op.index for op in ops],
            [op.avg_ms for op in ops],
            color=[colours[op.type] for op in ops],
            width=0.85,
        )
        axes.set_ylabel("average time (ms)")
        axes.set_xlabel("operator, in run order")
        axes.grid(axis="x", visible=False)
        axes.margins(x=0.01)
        if len(ops) <= _MOST_LABELS:
            axes.set_xticks([op.index for op in ops])
            axes.set_xticklabels(
                [_short(op.name, 22) for op in ops], rotation=60, ha="right", fontsize=8
            )
        _legend(axes, colours)

    return _svg(draw, (11, 3.8))


def longest_ops(analysis: Analysis) -> str:
    """The operators that take most of the time."""
    ops = sorted(analysis.ops, key=lambda op: -op.avg_ms)[:_LONGEST]

    def draw(axes: Axes) -> None:
        names = [f"{op.index}  {_short(op.name, 26)}" for op in ops]
        _bars(axes, analysis, ops, names)
        axes.set_xlabel("average time (ms)")
        axes.margins(x=0.12)

    return _svg(draw, (5.6, 0.9 + 0.235 * len(ops)))


def time_per_type(analysis: Analysis) -> str:
    """Share of each operator type."""

    def draw(axes: Axes) -> None:
        names = [f"{t.type} \u00d7{t.count}" for t in analysis.types]
        _bars(axes, analysis, analysis.types, names)
        axes.set_xlabel("time of all operators of the type (ms)")
        axes.margins(x=0.14)

    return _svg(draw, (5.4, 1.0 + 0.34 * len(analysis.types)))


def live_memory(analysis: Analysis, arena_bytes: int) -> str:
    """Activation memory while each operator runs, against the arena."""

    def draw(axes: Axes) -> None:
        mega = [live / 1e6 for live in analysis.live_bytes]
        # In execution order; the width is the time of the operator.
        starts = [op.start_ms for op in analysis.ops]
        end = analysis.ops[-1].start_ms + analysis.ops[-1].last_ms
        axes.stairs(mega, [*starts, max(end, starts[-1])], fill=True, color="#56b4e9")
        if arena_bytes:
            axes.axhline(arena_bytes / 1e6, color="#d55e00", linewidth=1.4)
            axes.annotate(
                f"arena {arena_bytes / 1e6:.2f} MB",
                (0, arena_bytes / 1e6),
                xytext=(4, 3),
                textcoords="offset points",
                fontsize=8,
                color="#d55e00",
            )
        axes.set_xlabel("time in the run (ms)")
        axes.set_ylabel("live activations (MB)")
        axes.set_ylim(bottom=0, top=max([*mega, arena_bytes / 1e6, 1e-6]) * 1.15)
        axes.margins(x=0)

    return _svg(draw, (5.4, 3.0))


def process_memory(timeline: Sequence[Mapping[str, Any]]) -> str:
    """Resident memory of the process, from its start to its end."""

    def draw(axes: Axes) -> None:
        ms = [point["ms"] for point in timeline]
        mega = [point["resident_bytes"] / 1e6 for point in timeline]
        axes.step(ms, mega, where="post", color="#0072b2", linewidth=1.6)
        axes.fill_between(ms, mega, step="post", color="#0072b2", alpha=0.15)
        created = next((p for p in timeline if p["label"] == "engine created"), None)
        if created is not None:
            axes.axvline(created["ms"], color="#9aa5b1", linewidth=1, linestyle=":")
            axes.annotate(
                "engine created",
                (created["ms"], 0.04),
                xycoords=("data", "axes fraction"),
                xytext=(4, 0),
                textcoords="offset points",
                fontsize=8,
                color="#52606d",
            )
        axes.set_xlabel("time since start (ms)")
        axes.set_ylabel("resident memory (MB)")
        axes.set_ylim(bottom=0)
        axes.margins(x=0.01)

    return _svg(draw, (5.4, 3.0))


def roofline(analysis: Analysis, device: str) -> str:
    """The operators of a device compared with its limits of arithmetic and memory.

    Empty without a measured peak or without multiply-accumulates.
    """
    from matplotlib.ticker import LogLocator

    peak = analysis.peaks.get(device)
    ops = [
        op
        for op in analysis.ops
        if op.device == device and op.intensity > 0 and op.gflops > 0
    ]
    if peak is None or not ops:
        return ""

    limits = {
        quantized: peak.operations(quantized)
        for quantized in sorted({op.quantized for op in ops})
    }
    most = max(limits.values())

    def draw(axes: Axes) -> None:
        bandwidths = {"cache": peak.cache_gbytes_per_s, "memory": peak.gbytes_per_s}
        intensities = [op.intensity for op in ops]
        for limit in limits.values():
            intensities += [limit / bandwidth for bandwidth in bandwidths.values()]
        low, high = min(intensities) / 3, max(intensities) * 3
        for (label, bandwidth), style in zip(bandwidths.items(), ("--", "-")):
            ridge = most / bandwidth
            axes.plot(
                [low, ridge],
                [low * bandwidth, most],
                style,
                color=_INK,
                linewidth=1.3,
            )
            # To the right of the slope, slightly below the ridge.
            axes.annotate(
                f"{label} {bandwidth:.0f} GB/s",
                (ridge / 1.5, most / 1.5),
                xytext=(6, -10),
                textcoords="offset points",
                fontsize=8,
                color=_INK,
            )
        for quantized, limit in limits.items():
            axes.plot(
                [limit / max(bandwidths.values()), high],
                [limit, limit],
                color=_INK,
                linewidth=1.3,
            )
            unit = "GOP/s in int8" if quantized else "GFLOP/s"
            axes.annotate(
                f"peak, at least {limit:.0f} {unit}, {peak.source}",
                (high, limit),
                xytext=(-4, 4),
                textcoords="offset points",
                ha="right",
                fontsize=8,
                color=_INK,
            )
        colours = type_colours(analysis)
        largest = max(op.avg_ms for op in ops)
        for name in dict.fromkeys(op.type for op in ops):
            chosen = [op for op in ops if op.type == name]
            axes.scatter(
                [op.intensity for op in chosen],
                [op.gflops for op in chosen],
                # The area shows the time, so that the important operators are seen
                # first.
                s=[18 + 220 * op.avg_ms / largest for op in chosen],
                color=colours[name],
                alpha=0.65,
                edgecolor="white",
                linewidth=0.6,
                label=name,
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(low, high)
        top = max(most, *(op.gflops for op in ops))
        axes.set_ylim(bottom=min(op.gflops for op in ops) / 2, top=top * 2)
        axes.set_xlabel("arithmetic intensity (operations per byte)")
        axes.set_ylabel("achieved 10⁹ operations per second")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter("")
        axes.legend(loc="lower right", fontsize=8, markerscale=0.6)

    return _svg(draw, (5.6, 4.6))


def run_times(series: Mapping[str, Sequence[float]]) -> str:
    """Time of every run, per series."""

    def draw(axes: Axes) -> None:
        for i, (name, values) in enumerate(series.items()):
            axes.plot(
                range(1, len(values) + 1),
                values,
                marker=".",
                markersize=4,
                linewidth=1,
                color=_COLOURS[i],
                label=name,
            )
        axes.set_xlabel("run")
        axes.set_ylabel("time (ms)")
        axes.set_ylim(bottom=0)
        axes.legend(loc="best", fontsize=8)

    return _svg(draw, (5.4, 3.0))


def _bars(
    axes: Axes,
    analysis: Analysis,
    rows: Sequence[OpFigures | TypeFigures],
    names: Sequence[str],
) -> None:
    """A horizontal bar and its share for each, with the first at the top."""
    colours = type_colours(analysis)
    positions = range(len(rows))
    axes.barh(
        positions,
        [row.avg_ms for row in rows],
        color=[colours[row.type] for row in rows],
        height=0.72,
    )
    axes.set_yticks(positions)
    axes.set_yticklabels(names)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    for position, row in zip(positions, rows):
        _label(axes, row.avg_ms, position, row.share)


def _label(axes: Axes, end: float, position: int, share: float) -> None:
    """The share, right of a bar."""
    axes.annotate(
        f"{share:.1%}",
        (end, position),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color="#52606d",
    )


def _legend(axes: Axes, colours: Mapping[str, str]) -> None:
    from matplotlib.patches import Patch

    named = [(name, c) for name, c in colours.items() if c != _COLOURS[-1]]
    handles = [Patch(color=colour, label=name) for name, colour in named]
    if len(named) < len(colours):
        handles.append(Patch(color=_COLOURS[-1], label="others"))
    axes.legend(handles=handles, fontsize=8, ncols=min(4, len(handles)))


def _svg(draw: Callable[[Axes], None], size: tuple[float, float]) -> str:
    # The object interface is used because pyplot keeps state and selects a window
    # system.
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    text = stream.getvalue()
    return text[text.index("<svg") :]


def _short(name: str, most: int) -> str:
    """The end of a long name, in which layers differ."""
    # A dollar sign would start a formula.
    name = name.replace("$", r"\$")
    return name if len(name) <= most else "\u2026" + name[-most + 1 :]
