# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a calibration found, for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from mace.python.tools.calibrate.calibrate import Calibrated, Trial
from mace.python.tools.calibrate.samples import Noise
from mace.python.tools.ir import DataType, Graph
from mace.python.tools.quantize.quantizer import public_name

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
