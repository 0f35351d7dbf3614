# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a calibration found, for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mace.python.tools.calibrate.calibrate import Calibrated, Trial
from mace.python.tools.calibrate.samples import Noise
from mace.python.tools.html_template import html_template
from mace.python.tools.ir import DataType, Graph
from mace.python.tools.quantize.quantizer import public_name

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


# Of a histogram in a report.
_BINS = 64


def report_json(found: Mapping[str, Any]) -> str:
    """The text of a report."""
    return json.dumps(found, indent=1) + "\n"


def report(done: Calibrated, graph: Graph) -> dict[str, Any]:
    """The report of a model.

    Args:
        graph: in floats, that was calibrated.
    """
    settings = done.settings
    floats = {op.name: op.reason for op in done.plan.floats}
    wide = done.quantizer.options.in_16_bits
    names = {value.name: public_name(value) for value in graph.values.values()}
    return {
        "model": done.quantizer.model,
        "samples": done.samples,
        "method": settings.method.value,
        "percentile": settings.percentile,
        "equalised": done.quantizer.prepare is not None,
        "biases_corrected": done.quantizer.means is not None,
        "trials": [_trial(trial) for trial in done.trials],
        "operators": [
            {
                "name": op.name,
                "type": op.type,
                "result": names[op.outputs[0].name] if op.outputs else "",
                "quantized": op.name not in floats,
                "bits": None if op.name in floats else _bits(done, op.name),
                "reason": floats.get(op.name, wide.get(op.name, "")),
                "sqnr_db": _of_layer(done, [v.name for v in op.outputs]),
                "outputs_sqnr_db": _number(done.costs.get(op.name)),
            }
            for op in graph.ops
        ],
        "tensors": [_tensor(done, name, names[name]) for name in done.ranges],
    }


def _bits(done: Calibrated, name: str) -> int:
    options = done.quantizer.options
    wide = options.dtype is DataType.INT16 or name in options.in_16_bits
    return 16 if wide else 8


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "what": trial.what,
        "ms": trial.ms,
        "accuracy": dict(trial.accuracy),
        "outputs": {
            name: {
                "sqnr_db": _number(noise.sqnr_db),
                "similarity": noise.similarity,
            }
            for name, noise in trial.outputs.items()
        },
    }


def _of_layer(done: Calibrated, results: list[str]) -> float | None:
    found: list[Noise] = [done.layers[n] for n in results if n in done.layers]
    return _number(found[0].sqnr_db) if found else None


def _tensor(done: Calibrated, name: str, public: str) -> dict[str, Any]:
    chosen, histogram = done.ranges[name], done.histograms[name]
    edges, counts = histogram.coarse(_BINS)
    return {
        "name": public,
        "min": histogram.range.low,
        "max": histogram.range.high,
        "low": chosen.low,
        "high": chosen.high,
        "bin_width": edges[1] - edges[0] if len(edges) > 1 else 0.0,
        "first_edge": edges[0],
        "counts": counts,
    }


def _number(value: float | None) -> float | None:
    """JSON has no infinity."""
    return value if value is not None and math.isfinite(value) else None
