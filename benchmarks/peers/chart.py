# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the scoreboard as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from PIL import Image

from benchmarks.peers.engines import ENGINES, product
from benchmarks.peers.results import (
    Measure,
    Scoreboard,
    first_ms,
    memory_mb,
    threads_text,
    time_ms,
)

matplotlib.use("Agg")

# MACE has a strong colour; the others differ in hue at equal strength.
_COLORS = {
    "mace": "#d1495b",
    "mace_bf16": "#d1495b",
    "onnxruntime": "#2e6f95",
    "openvino": "#5fa8d3",
    "openvino_default": "#5fa8d3",
    "litert": "#e8a33d",
    "ncnn": "#6a994e",
}
# The tables have all engines; five bars of a network can be read, eight cannot.
_FP32 = ("mace", "onnxruntime", "openvino", "litert", "ncnn")
_BF16 = ("mace_bf16", "openvino_default")
# Keeps a number readable where a faint line crosses it.
_BACKGROUND = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
# Between a number and what is below it, in points.
_GAP = 2
# The ratio of the best peer, at which there is a dashed line, and the least distance of
# numbers from it, in points.
_BEST, _FROM_LINE = 1.0, 3
_INK, _FAINT = "#333333", "#dddddd"
# A longer bar is cut off, and marked.
_LIMIT = 2.0
# Room above the bars for their numbers.
_TOP = 2.55
_PIXELS_PER_INCH = 110
_COLOURS_KEPT = 64


@dataclass(frozen=True)
class _Panel:
    """One row of bars.

    Attributes:
        form: of the numbers on the bars.
        unit: what a bar's length is a multiple of.
    """

    title: str
    threads: int
    measure: Measure
    form: str
    engines: tuple[str, ...]
    unit: str = "best fp32 peer = 1"


def draw(board: Scoreboard, path: Path) -> None:
    """Writes the chart as a PNG."""
    _save(chart(board), path)


def chart(board: Scoreboard) -> Figure:
    """One panel per number of threads, then load, memory and bf16.

    Bars are ratios to the best fp32 peer of the same network; the numbers on
    them are absolute.
    """
    threads = sorted({cell.threads for cell in board.cells})
    few = threads_text(threads[0])
    panels = [
        _Panel(
            f"Time per inference, {threads_text(n)} (ms)", n, time_ms, "{:.1f}", _FP32
        )
        for n in threads
    ]
    panels += [
        _Panel(
            f"From the file to the first result, {few} (ms)",
            threads[0],
            first_ms,
            "{:.0f}",
            _FP32,
        ),
        _Panel(
            f"Peak memory beyond Python, {few} (MB)",
            threads[0],
            memory_mb,
            "{:.0f}",
            _FP32,
        ),
        _Panel(
            f"Arithmetic in bf16: time per inference, {few} (ms)",
            threads[0],
            time_ms,
            "{:.1f}",
            _BF16,
        ),
    ]
    present = {cell.engine for cell in board.timed()}
    panels = [panel for panel in panels if present.intersection(panel.engines)]
    networks = list(dict.fromkeys(cell.network for cell in board.cells))
    width = max(7.0, 1.3 * len(networks) + 0.6)
    figure = Figure(figsize=(width, 2.35 * len(panels) + 1.4), layout="constrained")
    axes = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
    for axis, panel in zip(axes, panels):
        _panel(axis, board, networks, panel)
    figure.suptitle(
        f"MACE {board.versions['MACE']} beside its peers: a lower bar is better",
        fontsize=14,
        color=_INK,
    )
    figure.text(
        0.5,
        -0.008,
        f"{board.machine}. A bar with a break is cut off: the number on it counts.",
        ha="center",
        va="top",
        fontsize=9,
        color=_INK,
    )
    _lift_numbers(figure)
    return figure


def _save(figure: Figure, path: Path) -> None:
    partial = path.with_suffix(".tmp.png")
    figure.savefig(partial, dpi=_PIXELS_PER_INCH, bbox_inches="tight")
    # A picture of few colours: a third of the size with a palette.
    with Image.open(partial) as image:
        small = image.convert("RGB").quantize(_COLOURS_KEPT, dither=Image.Dither.NONE)
    small.save(partial, optimize=True)
    partial.replace(path)


def _lift_numbers(figure: Figure) -> None:
    """Puts the numbers that the dashed line would touch above it."""
    # Where texts are is known once all is laid out.
    figure.draw_without_rendering()
    pixels_per_point = figure.dpi / 72
    least = _FROM_LINE * pixels_per_point
    for axis in figure.axes:
        line = axis.transData.transform((0, _BEST))[1]
        for number in axis.texts:
            extent = number.get_window_extent()
            if extent.y0 < line + least and extent.y1 > line - least:
                up = (line + least - extent.y0) / pixels_per_point
                number.xyann = (0, _GAP + up)


def _panel(axis: Any, board: Scoreboard, networks: list[str], panel: _Panel) -> None:
    cells = [cell for cell in board.cells if cell.threads == panel.threads]
    present = {cell.engine for cell in board.timed()}
    engines = [engine for engine in panel.engines if engine in present]
    step = 0.86 / len(engines)
    handles = []
    for place, engine in enumerate(engines):
        offset = (place - (len(engines) - 1) / 2) * step
        label = f"{ENGINES[engine].label} {board.versions[product(engine)]}"
        for cell in cells:
            if cell.engine != engine:
                continue
            ratio = board.ratio(cell, panel.measure) if cell.times else None
            text = "none" if ratio is None else panel.form.format(panel.measure(cell))
            at = networks.index(cell.network) + offset
            _bar(axis, at, 0.92 * step, ratio or 0.0, engine, text)
        handles.append(Patch(color=_COLORS[engine], label=label))
    axis.axhline(_BEST, color=_INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=2.5)
    axis.set_title(panel.title, loc="left", fontsize=11, fontweight="bold", color=_INK)
    axis.set_ylabel(panel.unit, fontsize=8, color=_INK)
    axis.set_xticks(range(len(networks)), networks, fontsize=9)
    axis.set_xlim(-0.5, len(networks) - 0.5)
    axis.set_ylim(0, _TOP)
    axis.set_yticks([0, 0.5, 1, 1.5, 2])
    axis.tick_params(colors=_INK, length=0)
    axis.grid(axis="y", color=_FAINT, linewidth=0.6, zorder=0)
    axis.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=len(engines),
        frameon=False,
        fontsize=8,
        columnspacing=1.0,
        handlelength=1.0,
        handletextpad=0.4,
        borderaxespad=0.1,
    )
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)


def _bar(
    axis: Any, at: float, width: float, ratio: float, engine: str, text: str
) -> None:
    """A bar with its number, and with a break if it is cut off."""
    height = min(ratio, _LIMIT)
    axis.bar([at], [height], width, color=_COLORS[engine], zorder=2)
    if ratio > _LIMIT:
        left, right = at - 0.6 * width, at + 0.6 * width
        for low in (0.86 * _LIMIT, 0.91 * _LIMIT):
            ends = [low, low + 0.06 * _LIMIT]
            axis.plot([left, right], ends, color="white", linewidth=1.6, zorder=2.2)
    axis.annotate(
        text,
        (at, height),
        xytext=(0, _GAP),
        textcoords="offset points",
        ha="center",
        va="bottom",
        rotation=90,
        fontsize=8,
        zorder=3,
        color=_INK,
        fontweight="bold" if ENGINES[engine].is_mace else "normal",
        bbox=_BACKGROUND,
    )
