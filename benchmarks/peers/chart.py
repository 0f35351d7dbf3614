# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the scoreboard as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

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
    "mace_bf16": "#e7a2ab",
    "onnxruntime": "#2e6f95",
    "openvino": "#5fa8d3",
    "openvino_default": "#c9d6df",
    "litert": "#e8a33d",
    "ncnn": "#6a994e",
    "mnn": "#8e7dbe",
}
# Keeps a number readable where the line of the best peer crosses it.
_BACKGROUND = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
_INK, _FAINT = "#333333", "#dddddd"
# A longer bar is cut off, and its value is written on it.
_LIMIT = 2.5


def draw(board: Scoreboard, path: Path, source: str = "") -> None:
    """Writes a PNG: one panel per number of threads, then load and memory.

    Bars are ratios to the best fp32 peer of the same network; the numbers on
    them are absolute.

    Args:
        source: what the picture says that it was made of, see benchmarks.page.
    """
    threads = sorted({cell.threads for cell in board.cells})
    panels: list[tuple[str, int, Measure, str]] = [
        (f"Time per inference, {threads_text(n)} (ms)", n, time_ms, "{:.1f}")
        for n in threads
    ]
    panels += [
        (
            f"From the file to the first result, {threads_text(threads[0])} (ms)",
            threads[0],
            first_ms,
            "{:.0f}",
        ),
        (
            f"Peak memory beyond Python, {threads_text(threads[0])} (MB)",
            threads[0],
            memory_mb,
            "{:.0f}",
        ),
    ]
    networks = list(dict.fromkeys(cell.network for cell in board.cells))
    width = max(8.0, 2.1 * len(networks) + 1)
    figure = Figure(figsize=(width, 2.9 * len(panels) + 1.3), layout="constrained")
    axes = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
    for axis, panel in zip(axes, panels):
        _panel(axis, board, networks, panel)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.suptitle(
        f"MACE {board.versions['MACE']} beside its peers, fp32, lower is better",
        fontsize=14,
        color=_INK,
    )
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=len(labels) if width > 14 else -(-len(labels) // 2),
        frameon=False,
        fontsize=9,
        title=board.machine,
        title_fontsize=8,
    )
    partial = path.with_suffix(".tmp.png")
    figure.savefig(partial, dpi=120, metadata={"Source": source})
    partial.replace(path)


def _panel(
    axis: Any,
    board: Scoreboard,
    networks: list[str],
    panel: tuple[str, int, Measure, str],
) -> None:
    title, threads, measure, form = panel
    cells = [cell for cell in board.cells if cell.threads == threads]
    present = {cell.engine for cell in board.timed()}
    engines = [engine for engine in ENGINES if engine in present]
    step = 0.86 / len(engines)
    for place, engine in enumerate(engines):
        left, heights, texts = [], [], []
        for cell in cells:
            if cell.engine != engine:
                continue
            ratio = board.ratio(cell, measure) if cell.times else None
            offset = (place - (len(engines) - 1) / 2) * step
            left.append(networks.index(cell.network) + offset)
            heights.append(ratio or 0.0)
            texts.append("none" if ratio is None else form.format(measure(cell)))
        label = f"{ENGINES[engine].label} {board.versions[product(engine)]}"
        bars = axis.bar(
            left,
            [min(h, _LIMIT) for h in heights],
            step * 0.92,
            color=_COLORS[engine],
            label=label,
            zorder=2,
        )
        for bar, height, text in zip(bars, heights, texts):
            inside = height > 0.9 * _LIMIT  # no room above
            axis.annotate(
                text,
                (bar.get_x() + bar.get_width() / 2, bar.get_height()),
                xytext=(0, -3 if inside else 2),
                textcoords="offset points",
                ha="center",
                va="top" if inside else "bottom",
                rotation=90,
                fontsize=7,
                zorder=3,
                color="white" if inside and engine != "openvino_default" else _INK,
                fontweight="bold" if engine == "mace" else "normal",
                bbox=None if inside else _BACKGROUND,
            )
    axis.axhline(1.0, color=_INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=2.5)
    axis.set_title(title, loc="left", fontsize=11, color=_INK)
    axis.set_ylabel("ratio to the best peer", fontsize=8, color=_INK)
    axis.set_xticks(range(len(networks)), networks)
    axis.set_xlim(-0.55, len(networks) - 0.45)
    axis.set_ylim(0, _LIMIT)
    axis.tick_params(colors=_INK, length=0)
    axis.grid(axis="y", color=_FAINT, linewidth=0.6, zorder=0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
