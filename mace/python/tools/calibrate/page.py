# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The HTML page of a calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mace.python.tools.html_template import html_template

_TEMPLATE = Path(__file__).with_name("page.html.jinja2")

# Of the picture of a histogram, in pixels.
_WIDTH, _HEIGHT = 320.0, 48.0
# The end of the scale of bars for SQNR.
_MOST_DB = 60.0


@dataclass(frozen=True)
class _Bar:
    x: float
    y: float
    width: float
    height: float
    inside: bool


@dataclass(frozen=True)
class _Picture:
    """A histogram with the chosen range, which the bars of other elements are outside.

    Attributes:
        zero: where 0 is.
    """

    name: str
    bars: list[_Bar]
    zero: float
    low: float
    high: float
    least: float
    largest: float


def html_page(report: Mapping[str, Any]) -> str:
    """One self-contained page; nothing in it is fetched.

    Args:
        report: as `report.report` gives it.
    """
    operators = report["operators"]
    return html_template(_TEMPLATE).render(
        report=report,
        operators=operators,
        quantized=sum(op["quantized"] for op in operators),
        worst=min((op["sqnr_db"] for op in operators if op["sqnr_db"]), default=None),
        share=_share,
        scripts=any(trial["accuracy"] for trial in report["trials"]),
        pictures=[_picture(tensor) for tensor in report["tensors"]],
        width=_WIDTH,
        height=_HEIGHT,
    )


def _share(sqnr_db: float) -> float:
    """The length of a bar, in percent."""
    return 100 * min(max(sqnr_db, 0.0), _MOST_DB) / _MOST_DB


def _picture(tensor: Mapping[str, Any]) -> _Picture:
    counts, width, start = tensor["counts"], tensor["bin_width"], tensor["first_edge"]
    bin_pixels = _WIDTH / max(len(counts), 1)
    most = math.log1p(max(counts, default=1))
    bars = []
    for index, count in enumerate(counts):
        if count:
            height = _HEIGHT * math.log1p(count) / most
            left = start + index * width
            inside = left + width > tensor["low"] and left < tensor["high"]
            bars.append(
                _Bar(index * bin_pixels, _HEIGHT - height, bin_pixels, height, inside)
            )
    zero = -start / width * bin_pixels if width else 0.0
    return _Picture(
        tensor["name"],
        bars,
        min(max(zero, 0.0), _WIDTH),
        tensor["low"],
        tensor["high"],
        tensor["min"],
        tensor["max"],
    )
