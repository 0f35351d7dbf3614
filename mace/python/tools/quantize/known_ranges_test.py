# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a model says of the ranges of its tensors, and what is quantized by that."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder, Value
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.passes.manager import optimize
from mace.python.tools.passes.testing import random
from mace.python.tools.quantize.equalise import add_shadows
from mace.python.tools.quantize.insert import QuantizeOptions, plan
from mace.python.tools.quantize.known_ranges import known_ranges
from mace.python.tools.quantize.quantizer import Quantizer
from mace.python.tools.quantize.ranges import Range, RangeFileError

_SHAPE = (1, 8, 8, 16)
_SCALE, _ZERO = 1 / 32, 100


class _Network:
    """A graph of one input x that is trained for integers."""

    def __init__(self) -> None:
        self.b = GraphBuilder("test", "test")
        self.x = self.b.input("x", DataType.FLOAT32, _SHAPE)
        self._rng = np.random.default_rng(1)
        self._count = 0

    def op(self, op_type: str, *inputs: Value | None, **attrs: object) -> Value:
        self._count += 1
        return self.b.one(op_type, list(inputs), f"{op_type}{self._count}", attrs)

    def rounded(self, x: Value, scale: float = _SCALE, zero: int = _ZERO) -> Value:
        """As FakeQuant rounds."""
        parameters = [
            self.b.constant("scale", np.array([scale], np.float32)),
            self.b.constant("zero", np.array([zero], np.uint8)),
        ]
        q = self.op("Quantize", x, *parameters, to="UINT8")
        return self.op("Dequantize", q, *parameters)

    def conv(self, x: Value, **attrs: object) -> Value:
        weights = self.b.constant("w", random(self._rng, 16, 1, 1, 16) / 8)
        return self.op("Conv2D", x, weights, **attrs)

    def graph(self, *outputs: Value) -> Graph:
        for index, value in enumerate(outputs):
            self.b.output(self.b.alias(value, f"y{index}"), f"y{index}")
        self.b.graph.prune()
        self.b.graph.sort()
        return self.b.graph


def _ranges(graph: Graph) -> dict[str, Range]:
    return known_ranges(graph, {"x": Range(-1, 1)})


_ROUNDED = Range(-_ZERO * _SCALE, (255 - _ZERO) * _SCALE)


def _is(found: Range, wanted: tuple[float, float]) -> bool:
    return (found.low, found.high) == pytest.approx(wanted, abs=2e-3)


def test_what_moves_elements_keeps_the_range_and_its_integers() -> None:
    n = _Network()
    y = n.rounded(n.conv(n.x))
    moved = n.op("Transpose", n.op("Reshape", y, shape=[1, 64, 16]), perm=[0, 2, 1])
    pooled = n.op("Pooling", y, mode="MAX", kernels=[2, 2], strides=[2, 2])
    found = _ranges(n.graph(moved, pooled))
    for value in (moved, pooled):
        known = found[value.name]
        assert _is(known, (_ROUNDED.low, _ROUNDED.high))
        assert known.quantization(DataType.UINT8).zero_point == _ZERO
        assert known.quantization(DataType.INT8).zero_point == _ZERO - 128
        assert known.quantization(DataType.INT8).scales == (np.float32(_SCALE),)


def test_averages_have_the_range_of_what_they_average() -> None:
    n = _Network()
    y = n.rounded(n.conv(n.x))
    pooled = n.op("Pooling", y, mode="AVG", kernels=[2, 2], strides=[2, 2])
    mean = n.op("Reduce", y, mode="MEAN", axes=[1, 2])
    larger = n.op("Resize", y, mode="LINEAR", size=[16, 16])
    cubic = n.op("Resize", y, mode="CUBIC", size=[16, 16])
    total = n.op("Reduce", y, mode="SUM", axes=[1, 2])
    found = _ranges(n.graph(pooled, mean, larger, cubic, total))
    for value in (pooled, mean, larger):
        assert _is(found[value.name], (_ROUNDED.low, _ROUNDED.high))
    assert cubic.name not in found and total.name not in found


def test_an_input_has_the_range_that_is_given() -> None:
    n = _Network()
    reshaped = n.op("Reshape", n.x, shape=[1, 64, 16])
    graph = n.graph(reshaped)
    assert _is(_ranges(graph)[reshaped.name], (-1, 1))
    assert reshaped.name not in known_ranges(graph, {})


def test_bytes_of_an_input_need_no_range() -> None:
    builder = GraphBuilder("test", "test")
    x = builder.input("x", DataType.UINT8, _SHAPE)
    y = builder.one("Cast", [x], "y", {"to": "FLOAT32"})
    mean = builder.constant("mean", np.array([128], np.float32))
    z = builder.one("Eltwise", [y, mean], "z", {"mode": "SUB"})
    builder.output(z, "z")
    builder.graph.sort()
    found = known_ranges(builder.graph, {})
    assert _is(found["y"], (0, 255))
    assert _is(found["z"], (-128, 127))


def test_definitions_need_no_range() -> None:
    n = _Network()
    y = n.conv(n.x)
    limited = {
        n.op("Softmax", y, axis=3): (0, 1),
        n.op("Activation", y, activation="SIGMOID"): (0, 1),
        n.op("Activation", y, activation="TANH"): (-1, 1),
        n.conv(n.x, activation="RELUX", activation_limit=6.0): (0, 6),
    }
    without = (
        n.op("Softmax", y, axis=3, log=True),
        n.op("Activation", y, activation="RELU"),
    )
    found = _ranges(n.graph(*limited, *without))
    for value, wanted in limited.items():
        assert _is(found[value.name], wanted)
    assert not {value.name for value in without} & found.keys()


def test_functions_of_one_tensor_are_computed() -> None:
    n = _Network()
    y = n.rounded(n.conv(n.x), 1 / 16, 128)
    factors = n.b.constant("f", np.linspace(-1, 2, 16).astype(np.float32))
    wanted = {
        n.op("Activation", y, activation="RELU"): (0, 127 / 16),
        n.op("Activation", y, activation="HARD_SWISH"): (-0.375, 127 / 16),
        n.op("Eltwise", y, factors, mode="MUL"): (-16, 2 * 127 / 16),
    }
    found = _ranges(n.graph(*wanted))
    for value, range_ in wanted.items():
        assert _is(found[value.name], range_)


def test_sums_and_products_of_two_tensors_are_between_those_of_extremes() -> None:
    n = _Network()
    a = n.rounded(n.conv(n.x), 1 / 16, 128)
    b = n.rounded(n.conv(n.x), 1 / 16, 0)
    wanted = {
        n.op("Eltwise", a, b, mode="ADD"): (-8, (127 + 255) / 16),
        n.op("Eltwise", a, b, mode="SUB", activation="RELU"): (0, 127 / 16),
        n.op("Eltwise", a, b, mode="MUL"): (-8 * 255 / 16, 127 * 255 / 256),
        n.op("Concat", a, b, axis=3): (-8, 255 / 16),
        n.op("Pad", b, pads=[0, 0, 1, 1, 1, 1, 0, 0], value=-2.0): (-2, 255 / 16),
    }
    unknown = n.op("Eltwise", a, n.conv(a), mode="ADD")
    found = _ranges(n.graph(*wanted, unknown))
    for value, range_ in wanted.items():
        assert _is(found[value.name], range_), value.name
    assert unknown.name not in found


def test_what_is_moved_before_it_is_rounded_has_the_range_behind() -> None:
    n = _Network()
    one, other = n.conv(n.x), n.conv(n.x)
    both = n.op("Concat", n.op("Transpose", one, perm=[0, 2, 1, 3]), other, axis=3)
    shared = n.conv(n.x)
    moved = n.op("Reshape", shared, shape=[1, 64, 16])
    end = n.rounded(n.op("Reshape", both, shape=[1, 64, 32]))
    found = _ranges(n.graph(end, n.rounded(moved), n.conv(shared)))
    assert _is(found[one.name], (_ROUNDED.low, _ROUNDED.high))
    assert found[other.name].quantization(DataType.UINT8).zero_point == _ZERO
    # Its other reader may need what is cut off.
    assert shared.name not in found


def _classifier() -> Graph:
    """As TensorFlow's quantize-aware rewrites leave a MobileNet."""
    n = _Network()
    y = n.conv(n.x, activation="RELUX", activation_limit=6.0)
    y = n.conv(n.rounded(y, 6 / 255, 0))
    y = n.op("Pooling", n.rounded(y), mode="AVG", kernels=[8, 8], padding="VALID")
    y = n.op("Squeeze", n.rounded(n.conv(y)), axes=[1, 2])
    return n.graph(n.op("Softmax", y, axis=1))


def _quantizer(given: tuple[float, float] | None) -> Quantizer:
    return Quantizer("net", {}, "", QuantizeOptions(), input_ranges=[given])


def test_a_model_that_was_trained_for_integers_needs_the_range_of_its_input(
    caplog: pytest.LogCaptureFixture,
) -> None:
    x = np.random.default_rng(2).uniform(-1, 1, _SHAPE).astype(np.float32)
    (expected,) = run_graph(_classifier(), {"x": x}).values()
    graph, quantizer = _classifier(), _quantizer((-1.0, 1.0))
    with caplog.at_level(logging.WARNING):
        optimize(graph, quantize=quantizer)
    assert not caplog.records
    assert quantizer.summary().endswith("6 of 6 operators in integers")
    inner = [op for op in graph.ops if op.type in ("Conv2D", "Reduce", "Softmax")]
    assert len(inner) == 5 and all(map(is_quantized, inner))
    (found,) = run_graph(graph, {"x": x}).values()
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_what_has_no_range_stays_in_floats_and_one_warning_names_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    graph, quantizer = _classifier(), _quantizer(None)
    with caplog.at_level(logging.WARNING):
        optimize(graph, quantize=quantizer)
    (record,) = caplog.records
    assert "the range of x; what computes or reads it stays in" in record.getMessage()
    assert "5 of 6 operators in integers" in quantizer.summary()
    assert "in floats: Conv2D1: the range of x is not known" in quantizer.summary()


def test_a_model_in_floats_has_no_ranges() -> None:
    n = _Network()
    y = n.conv(n.conv(n.x, activation="RELUX", activation_limit=6.0))
    graph = n.graph(n.op("Softmax", y, axis=3))
    with pytest.raises(RangeFileError, match=r"was not trained.* not known: Conv2D2"):
        optimize(graph, quantize=_quantizer((-1.0, 1.0)))


def test_what_the_file_rounds_itself_has_no_twin_of_samples() -> None:
    x = np.random.default_rng(2).uniform(-1, 1, _SHAPE).astype(np.float32)
    found: list[Graph] = []

    def keep(graph: Graph) -> int:
        found.append(graph.copy())
        return 0

    optimize(_classifier(), quantize=keep)
    (graph,) = found
    options = QuantizeOptions()
    planned = plan(graph, options)
    seen = run_graph(graph, {"x": x}, planned.tensors)
    ranges = {n: Range(float(a.min()), float(a.max())) for n, a in seen.items()}
    shadows = add_shadows(graph, ranges, options, planned)
    names = {graph.values[name].producer.type for name in shadows}  # type: ignore
    assert names == {"Reduce", "Softmax"}
    compared = run_graph(graph, {"x": x}, [*shadows, *shadows.values()])
    for name, other in shadows.items():
        np.testing.assert_allclose(compared[name], compared[other], atol=0.02)
