# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantization of values: what is refused, and where it goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.catalogue import Signedness, default_catalogue
from mace.python.tools.ir import (
    DataType,
    GraphBuilder,
    GraphError,
    Quantization,
    Value,
)
from mace.python.tools.ir.evaluate import state_quantization
from mace.python.tools.ir.graph import to_text
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.verify import verify

_SCALES = Quantization((0.5, 1.0, 2.0), (0, 1, -1), axis=1)


@pytest.mark.parametrize(
    ("quantization", "dtype", "problem"),
    [
        (Quantization((1.0,)), DataType.FLOAT32, "float32 is no type of quantized"),
        (Quantization(()), DataType.INT8, "has no scale"),
        (Quantization((0.0,)), DataType.INT8, "scale 0.0 is not finite and above 0"),
        (Quantization((float("inf"),)), DataType.INT8, "scale inf is not finite"),
        (Quantization((1.0,), (1, 2)), DataType.INT8, "2 zero points for 1 scales"),
        (
            Quantization((1.0,), (-1,)),
            DataType.UINT8,
            "zero point -1 does not fit into uint8",
        ),
        (Quantization((1.0,), axis=1), DataType.INT8, "has axis 1 for one scale"),
        (Quantization((1.0, 2.0), axis=2), DataType.INT8, "axis 2 is none of 2"),
        (Quantization((1.0, 2.0), axis=1), DataType.INT8, "2 scales for 3 indices"),
    ],
)
def test_refuses(quantization: Quantization, dtype: DataType, problem: str) -> None:
    found = quantization.problems(dtype, (4, 3))
    assert len(found) == 1 and problem in found[0]


@pytest.mark.parametrize("shape", [(4, 3), (4, "n"), (4, None), None])
def test_takes_what_fits(shape: Any) -> None:
    assert _SCALES.problems(DataType.INT8, shape) == []


def _quantize(b: GraphBuilder, **attrs: Any) -> Value:
    x = b.input("x", DataType.FLOAT32, (2, 1, 3))
    scales = b.constant("scales", np.array(_SCALES.scales, np.float32))
    zeros = b.constant("zeros", np.array(_SCALES.zero_points, np.int8))
    return b.one("Quantize", [x, scales, zeros], "q", {"to": "INT8", **attrs})


def test_quantize_says_it_and_movements_keep_it() -> None:
    b = GraphBuilder("net", "onnx")
    q = _quantize(b, axis=-1)
    assert q.quantization == _SCALES.on_axis(2)
    turned = b.one("Transpose", [q], "t", {"perm": [2, 0, 1]})
    assert turned.quantization == _SCALES.on_axis(0)
    longer = b.one("ExpandDims", [turned], "l", {"axes": [0, 2]})
    assert longer.quantization == _SCALES.on_axis(1)
    shorter = b.one("Squeeze", [longer], "s")
    assert shorter.quantization == _SCALES.on_axis(0)
    same = b.one("Identity", [shorter], "i")
    assert same.quantization == _SCALES.on_axis(0)
    b.output(b.one("Dequantize", [same, *q.producer.inputs[1:]], "y"), "y")  # type: ignore[union-attr]
    assert b.graph.values["y"].quantization is None
    verify(b.graph)
    assert "%i: int8[3, 2] (scale 0.5, 1, 2 zero 0, 1, -1 axis 0)" in to_text(b.graph)


@pytest.mark.parametrize("scale", [0.0, float("nan")])
def test_scales_that_no_value_can_have_are_none(scale: float) -> None:
    b = GraphBuilder("net", "onnx")
    x = b.input("x", DataType.FLOAT32, (2,))
    value = b.constant("scale", np.array(scale, np.float32))
    q = b.one("Quantize", [x, value], "q", {"to": "INT8"})
    assert q.quantization is None


def test_computed_scales_are_not_known() -> None:
    b = GraphBuilder("net", "onnx")
    x = b.input("x", DataType.FLOAT32, (2,))
    scale = b.input("scale", DataType.FLOAT32, (1,))
    assert b.one("Quantize", [x, scale], "q", {"to": "INT8"}).quantization is None


def test_constants_that_are_computed_keep_it() -> None:
    b = GraphBuilder("net", "onnx")
    x = b.constant("x", np.array([1.0, 2.0], np.float32))
    scale = b.constant("scale", np.array(0.5, np.float32))
    q = b.one("Quantize", [x, scale], "q", {"to": "UINT8"})
    assert q.is_constant and q.numpy().tolist() == [2, 4]
    assert q.quantization == Quantization((0.5,))


def test_what_is_stated_of_a_value_is_stated_of_what_is_moved_of_it() -> None:
    b = GraphBuilder("net", "onnx")
    x = b.input("x", DataType.INT8, (2, 3))
    turned = b.one("Transpose", [x], "t", {"perm": [1, 0]})
    longer = b.one("ExpandDims", [turned], "l", {"axes": [0]})
    b.output(longer, "l")
    state_quantization(x, _SCALES)
    assert turned.quantization == _SCALES.on_axis(0)
    assert longer.quantization == _SCALES.on_axis(1)
    verify(b.graph)


def test_verify_finds_what_contradicts_the_producer() -> None:
    b = GraphBuilder("net", "onnx")
    q = _quantize(b, axis=2)
    b.output(q, "q")
    q.quantization = Quantization((0.5,))
    with pytest.raises(GraphError, match="q is quantized by scale 0.5, its producer"):
        verify(b.graph)
    q.quantization = None
    with pytest.raises(GraphError, match="q is quantized by None, its producer"):
        verify(b.graph)


def test_verify_finds_what_does_not_fit_the_value() -> None:
    b = GraphBuilder("net", "onnx")
    x = b.input("x", DataType.FLOAT32, (2,))
    x.quantization = Quantization((0.5,))
    b.output(b.one("Activation", [x], "y", {"activation": "RELU"}), "y")
    with pytest.raises(GraphError, match="quantization of x: float32 is no type"):
        verify(b.graph)


def test_what_moves_elements_takes_either_signedness() -> None:
    ops = default_catalogue().ops.values()
    moving = {
        op.type
        for op in ops
        for rules in [rules_of(op.type)]
        if rules.keeps_elements or rules.joins_elements
    }
    # Identity is not between quantized operators, but moves elements, too.
    assert {op.type for op in ops if op.signedness is Signedness.SAME} == {
        "Identity",
        *moving,
    }
