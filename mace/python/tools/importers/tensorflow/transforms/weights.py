# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes large constants easier to compress, or stores them in 8 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mace.python.tools.importers.tensorflow.reader import data_types
from mace.python.tools.importers.tensorflow.transforms.table import (
    Arguments,
    transform,
)
from mace.python.tools.importers.tensorflow.transforms.work_graph import (
    FLOAT,
    WorkGraph,
    is_constant,
)
from mace.python.tools.ir.dtypes import Array

# Constants with fewer elements stay as they are.
_SMALLEST = 15
_LEVELS = 255


def _large(graph: WorkGraph, smallest: int) -> Iterator[tuple[Any, Array]]:
    for node in list(graph.nodes.values()):
        array = graph.constant((node.name, 0)) if is_constant(node) else None
        if array is None or array.dtype != np.float32 or array.size < smallest:
            continue
        if node.attr["dtype"].type == FLOAT and np.isfinite(array).all():
            yield node, array


@transform("num_steps")
def round_weights(graph: WorkGraph, arguments: Arguments) -> None:
    """Rounds constants of 15 or more elements to `num_steps` (256) evenly spaced ones,
    so that the file can be compressed.
    """
    steps = arguments.integer("num_steps", 256, 2)
    for node, array in _large(graph, _SMALLEST):
        low, high = (np.float64(f(array)) for f in (np.min, np.max))
        if low == high:
            continue
        width = (high - low) / (steps - 1)
        rounded = np.rint((array - low) / width) * width + low
        graph.replace(
            node.name, graph.new_constant(node.name, rounded.astype(np.float32))
        )


@transform("minimum_size")
def quantize_weights(graph: WorkGraph, arguments: Arguments) -> None:
    """Stores constants of `minimum_size` (15) or more elements in 8 bits, with
    Dequantize behind them. Leave it out if MACE quantizes the model.
    """
    smallest = arguments.integer("minimum_size", _SMALLEST, 1)
    for node, array in _large(graph, smallest):
        low, high = _range(array)
        scale = (high - low) / _LEVELS
        # As Dequantize computes: the least number becomes a multiple of the scale.
        first = np.rint(low / scale) * scale
        codes = np.clip(np.rint((array - first) / scale), 0, _LEVELS)
        parts = {
            "quantized": (codes.astype(np.uint8), data_types()["quint8"]),
            "min": (np.array(low, np.float32), FLOAT),
            "max": (np.array(high, np.float32), FLOAT),
        }
        constants = [
            graph.new_constant(graph.unique_name(f"{node.name}/{part}"), *content)
            for part, content in parts.items()
        ]
        new = graph.new_node(node.name, "Dequantize", [c.name for c in constants])
        new.input.extend(text for text in node.input if text.startswith("^"))
        new.attr["T"].type = data_types()["quint8"]
        new.attr["mode"].s = b"MIN_FIRST"
        graph.replace(node.name, new, *constants)


def _range(array: Array) -> tuple[np.float64, np.float64]:
    """The range of the integers, which is not empty."""
    low, high = np.float64(np.min(array)), np.float64(np.max(array))
    if low < high:
        return low, high
    width = max(abs(low), 1.0)
    return (low, low + width) if low >= 0 else (low - width, low)
