# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that the model normalises itself: (input - mean) * scale.

The converted model takes what the application has, for example the bytes of a picture,
and begins with the operators that make of it what the original model takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.tools.config.subgraph import BorderTensor
from mace.python.tools.config.vocabulary import DataFormat as BorderFormat
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.ir import DataFormat, DataType, Graph, Value


def scale_inputs(graph: Graph, inputs: Sequence[BorderTensor], model: str) -> None:
    """Lets the graph take its inputs before they are normalised.

    Args:
        inputs: of the deployment, in the order of the graph's.
        model: its name, for messages.

    Raises:
        ImportModelError: names the inputs that cannot be normalised.
    """
    problems = []
    for info, value in zip(inputs, graph.inputs):
        if not info.is_scaled or (_is_neutral(info) and not value.dtype.is_float):
            continue
        if value.dtype.is_float:
            _scale(graph, info, value)
        else:
            problems.append(
                f"models.{model}: input_means and input_scales are for floats, and the "
                f"model takes {info.name!r} as {value.dtype.value}; give 0 and 1 for it"
            )
    if problems:
        raise ImportModelError("\n".join(problems))


def scaled(info: BorderTensor, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What the original model takes for an input of the converted one."""
    if not info.is_scaled or (_is_neutral(info) and not info.data_type.is_float):
        return array
    shape = [1] * array.ndim
    if array.ndim:
        shape[_channel_axis(info, array.ndim)] = -1
    means, scales = (
        np.asarray(numbers, np.float64).reshape(shape if len(numbers) > 1 else ())
        for numbers in (info.means or (0.0,), info.scales or (1.0,))
    )
    return ((array.astype(np.float64) - means) * scales).astype(np.float32)


def _is_neutral(info: BorderTensor) -> bool:
    return not any(info.means or ()) and all(s == 1 for s in info.scales or ())


def _channel_axis(info: BorderTensor, rank: int) -> int:
    return 1 if info.data_format is BorderFormat.NCHW and rank > 2 else rank - 1


def _scale(graph: Graph, info: BorderTensor, value: Value) -> None:
    """Puts the operators between the input and its readers."""
    readers = list(value.uses)
    current = value
    if not info.data_type.is_float:
        value.dtype = DataType(info.data_type.value)
        current = _added(graph, "Cast", [value], {"to": "FLOAT32"})
    for mode, numbers, neutral in (("SUB", info.means, 0), ("MUL", info.scales, 1)):
        if numbers is not None and any(number != neutral for number in numbers):
            constant = _constant(graph, value, mode, numbers)
            current = _added(graph, "Eltwise", [current, constant], {"mode": mode})
    for op, port in readers:
        op.set_input(port, current)
    graph.sort()


def _constant(
    graph: Graph, value: Value, mode: str, numbers: tuple[float, ...]
) -> Value:
    array = np.asarray(numbers, np.float32)
    second = graph.formats.get(value.name) is DataFormat.NCHW
    if len(numbers) == 1:
        array = array.reshape(())
    elif second and value.rank is not None:
        array = array.reshape(-1, *(1,) * (value.rank - 2))
    return graph.add_constant(f"{value.name}/{mode.lower()}", array)


def _added(
    graph: Graph, op_type: str, inputs: list[Value], attrs: dict[str, object]
) -> Value:
    name = graph.unique_name(f"{inputs[0].name}/{op_type.lower()}")
    result = graph.add_value(name, DataType.FLOAT32, inputs[0].shape)
    graph.add_op(op_type, inputs, [result], attrs, name)
    return result
