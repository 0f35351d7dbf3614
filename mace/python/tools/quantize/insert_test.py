# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which operators compute in integers, and how well they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.passes.manager import optimize
from mace.python.tools.passes.testing import random, types
from mace.python.tools.quantize import insert
from mace.python.tools.quantize.equalise import add_shadows
from mace.python.tools.quantize.insert import QuantizeOptions
from mace.python.tools.quantize.ranges import Range

Build = Callable[[GraphBuilder, np.random.Generator], None]
_SHAPE = (1, 8, 8, 16)


def _graph(build: Build) -> Graph:
    builder = GraphBuilder("test", "test")
    build(builder, np.random.default_rng(1))
    builder.graph.sort()
    return builder.graph


def _conv(
    b: GraphBuilder, rng: np.random.Generator, x: object, name: str, **attrs: object
) -> object:
    w = b.constant(f"{name}/w", random(rng, 16, 3, 3, 16) / 12)
    bias = b.constant(f"{name}/b", random(rng, 16) / 10)
    given = {"padding": "SAME", **attrs}
    return b.one("Conv2D", [x, w, bias], name, given)  # type: ignore[list-item]


def _quantized(
    build: Build, options: QuantizeOptions | None = None
) -> tuple[Graph, insert.Plan, dict[str, Array], dict[str, Array]]:
    """The graph in integers, what was planned, and the results in floats and integers.
    Ranges are those of the results' own input.
    """
    options = options or QuantizeOptions()
    done: list[insert.Plan] = []
    rng = np.random.default_rng(2)
    x = rng.standard_normal(_SHAPE).astype(np.float32)

    def quantize(graph: Graph) -> int:
        plan = insert.plan(graph, options)
        done.append(plan)
        seen = run_graph(graph, {"x": x}, plan.tensors)
        ranges = {n: Range(float(a.min()), float(a.max())) for n, a in seen.items()}
        return insert.insert(graph, ranges, options, plan.quantized)

    floats, graph = _graph(build), _graph(build)
    optimize(graph, quantize=quantize)
    expected, found = run_graph(floats, {"x": x}), run_graph(graph, {"x": x})
    return graph, done[0], expected, found


def _sqnr_db(expected: Array, found: Array) -> float:
    noise = expected.astype(np.float64) - found
    power = float((expected.astype(np.float64) ** 2).sum())
    return 10 * float(np.log10(power / (noise**2).sum()))


def _block(b: GraphBuilder, rng: np.random.Generator) -> None:
    """A residual block, pooled and classified."""
    x = b.input("x", DataType.FLOAT32, _SHAPE)
    y = _conv(b, rng, x, "c1")
    y = b.one("Activation", [y], "r1", {"activation": "RELU"})  # type: ignore
    z = _conv(b, rng, y, "c2")
    y = b.one("Eltwise", [y, z], "sum", {"mode": "ADD"})  # type: ignore[list-item]
    y = b.one("Activation", [y], "r2", {"activation": "RELUX", "activation_limit": 6.0})
    pool = {"mode": "MAX", "kernels": [2, 2], "strides": [2, 2]}
    y = b.one("Pooling", [y], "p", pool)
    y = b.one(
        "Reduce", [y], "mean", {"mode": "MEAN", "axes": [1, 2], "keep_dims": True}
    )
    y = b.one("Reshape", [y], "flat", {"shape": [1, 16]})
    w = b.constant("fc/w", random(rng, 10, 16) / 4)
    y = b.one("FullyConnected", [y, w], "fc")
    # An operator without a form in integers.
    b.output(b.one("CumSum", [y], "sums", {"axis": 1}), "y")


@pytest.mark.parametrize("dtype", [DataType.UINT8, DataType.INT8, DataType.INT16])
def test_conversions_only_where_floats_begin_and_end(dtype: DataType) -> None:
    graph, plan, expected, found = _quantized(_block, QuantizeOptions(dtype))
    found_types = types(graph)
    # The mean is one or the other.
    assert found_types.pop("Pooling") + found_types.pop("Reduce", 0) == 2
    assert found_types == Counter(
        {"Conv2D": 2, "Quantize": 1, "Dequantize": 1, "Eltwise": 1}
        | {"Reshape": 1, "FullyConnected": 1, "CumSum": 1}
    )
    assert [(op.type, op.reason) for op in plan.floats] == [
        ("CumSum", f"CumSum has no form in {8 * dtype.numpy.itemsize} bits")
    ]
    conv = next(op for op in graph.ops if op.type == "Conv2D")
    assert conv.output.dtype is dtype and conv.attr("activation") == "RELU"
    # No residual and no other activation was fused, which integers do not have.
    assert _sqnr_db(expected["y"], found["y"]) > 30


def test_layers_in_16_bits_between_others() -> None:
    reasons = {"c2": "it loses too much", "sum": "it loses too much"}
    graph, plan, _, _ = _quantized(_block, QuantizeOptions(in_16_bits=reasons))
    assert "c2" in plan.quantized and "sum" in plan.quantized
    widths = {
        op.type: op.output.dtype
        for op in graph.ops
        if op.type in ("Eltwise", "FullyConnected")
    }
    # What takes the largest of 16 bits has 16 bits, too.
    assert widths == {"Eltwise": DataType.INT16, "FullyConnected": DataType.UINT8}
    pool = next(op for op in graph.ops if op.type == "Pooling")
    assert pool.output.dtype is DataType.INT16
    # Both operands of the sum are 16 bits, one of them from 8.
    convs = [op for op in graph.ops if op.type == "Conv2D"]
    assert [op.output.dtype for op in convs] == [DataType.UINT8, DataType.INT16]

    # All of them.
    _, _, expected, in_8_bits = _quantized(_block)
    every = dict.fromkeys(plan.quantized, "")
    _, _, _, found = _quantized(_block, QuantizeOptions(in_16_bits=every))
    gained = _sqnr_db(expected["y"], found["y"]) - _sqnr_db(
        expected["y"], in_8_bits["y"]
    )
    # What remains is the rounding of weights.
    assert gained > 1


def test_elements_are_moved_and_the_largest_taken_at_one_scale() -> None:
    graph, _, _, _ = _quantized(_block)
    for op in graph.ops:
        if rules_of(op.type).keeps_range(op):
            assert op.output.quantization == op.input(0).quantization


def test_every_output_has_a_scale_of_weights() -> None:
    graph, _, _, _ = _quantized(_block)
    conv = next(op for op in graph.ops if op.type == "Conv2D")
    weights = conv.input(1)
    assert weights.dtype is DataType.INT8 and weights.quantization is not None
    numbers = weights.numpy()
    assert len(weights.quantization.scales) == 16
    assert (np.abs(numbers).reshape(16, -1).max(axis=1) == 127).all()


def _swish(b: GraphBuilder, rng: np.random.Generator) -> None:
    x = b.input("x", DataType.FLOAT32, _SHAPE)
    y = _conv(b, rng, x, "c1")
    y = b.one("Activation", [y], "s1", {"activation": "SWISH"})  # type: ignore
    y = b.one("CumSum", [y], "sums", {"axis": 3})
    y = b.one("Transpose", [y], "there", {"perm": [0, 3, 1, 2]})
    y = b.one("Transpose", [y], "back", {"perm": [0, 2, 3, 1]})
    y = b.one("CumSum", [y], "sums2", {"axis": 3})
    b.output(_conv(b, rng, y, "c2"), "y")  # type: ignore[arg-type]


def test_other_activations_stay_outside() -> None:
    graph, plan, expected, found = _quantized(_swish)
    convs = [op for op in graph.ops if op.type == "Conv2D"]
    assert [op.output.dtype for op in convs] == [DataType.UINT8] * 2
    assert {op.attr("activation") for op in convs} == {"NONE"}
    assert {"sums", "sums2"} <= {op.name for op in plan.floats}
    assert _sqnr_db(expected["y"], found["y"]) > 25


def test_elements_are_not_moved_in_integers_from_floats_to_floats() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, _SHAPE)
        y = b.one("CumSum", [x], "sums", {"axis": 3})
        y = b.one("Reshape", [y], "flat", {"shape": [8, 128]})
        y = b.one("CumSum", [y], "sums2", {"axis": 1})
        y = b.one("Reshape", [y], "back", {"shape": list(_SHAPE)})
        b.output(_conv(b, rng, y, "c"), "y")  # type: ignore[arg-type]

    graph, plan, _, _ = _quantized(build)
    reasons = {op.name: op.reason for op in plan.floats}
    assert reasons["flat"] == "it moves elements between operators in floats"
    # Next to integers they are.
    assert "back" in plan.quantized
    assert types(graph)["Quantize"] == types(graph)["Dequantize"] == 1


def test_what_is_asked_for_stays_in_floats_and_is_fused() -> None:
    reasons = dict.fromkeys(("c1", "s1"), "it loses too much")
    graph, plan, _, _ = _quantized(_swish, QuantizeOptions(in_floats=reasons))
    first = next(op for op in graph.ops if op.type == "Conv2D")
    assert first.output.dtype is DataType.FLOAT32
    assert first.attr("activation") == "SWISH"
    assert ("c1", "it loses too much") in [(op.name, op.reason) for op in plan.floats]


def test_tensors_that_the_model_quantizes_keep_their_scales() -> None:
    scale, zero = 0.125, 100

    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, _SHAPE)
        y = _conv(b, rng, x, "c1")
        parameters = [b.constant("s", np.array([scale], np.float32))]
        parameters.append(b.constant("z", np.array([zero], np.uint8)))
        q = b.one("Quantize", [y, *parameters], "q", {"to": "UINT8"})  # type: ignore
        y = b.one("Dequantize", [q, *parameters], "d")
        b.output(_conv(b, rng, y, "c2"), "y")  # type: ignore[arg-type]

    graph, plan, _, _ = _quantized(build)
    first, second = (op for op in graph.ops if op.type == "Conv2D")
    known = first.output.quantization
    assert known is not None and (known.scales, known.zero_points) == (
        (scale,),
        (zero,),
    )
    assert second.input(0) is first.output
    assert "c1" not in plan.tensors and "d" not in plan.tensors


def test_a_large_bias_keeps_its_channel_in_integers() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, _SHAPE)
        weights = random(rng, 16, 1, 1, 16)
        weights[3] = 0
        weights[4] *= 1e-12
        bias = random(rng, 16)
        w, c = b.constant("w", weights), b.constant("b", bias)
        b.output(b.one("Conv2D", [x, w, c], "c"), "y")

    graph, _, expected, found = _quantized(build)
    assert types(graph)["Conv2D"] == 1 and types(graph)["Quantize"] == 1
    assert _sqnr_db(expected["y"], found["y"]) > 35


@pytest.mark.parametrize("multiplier", [1, 3])
def test_biases_make_up_for_the_rounding_of_weights(multiplier: int) -> None:
    rng = np.random.default_rng(5)
    x = (rng.standard_normal((1, 9, 9, 16)) * 0.1 + 3).astype(np.float32)

    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        value = b.input("x", DataType.FLOAT32, x.shape)
        w = b.constant("w", random(rng, 8, 3, 3, 4))
        y = b.one("Conv2D", [value, w], "c", {"groups": 4})
        w = b.constant("dw", random(rng, 3, 3, 8, multiplier))
        b.output(b.one("DepthwiseConv2d", [y, w], "d"), "y")

    floats = _graph(build)
    seen = run_graph(floats, {"x": x}, ["x", "c", "y"])
    ranges = {n: Range(float(a.min()), float(a.max())) for n, a in seen.items()}
    means = {n: a.reshape(-1, a.shape[-1]).mean(axis=0) for n, a in seen.items()}
    offsets = []
    for known in (None, means):
        graph = floats.copy()
        options = QuantizeOptions()
        insert.insert(
            graph, ranges, options, insert.plan(graph, options).quantized, known
        )
        optimize(graph)
        assert [op.type for op in graph.ops if not is_quantized(op)] == [
            "Quantize",
            "Dequantize",
        ]
        found = run_graph(graph, {"x": x})["y"]
        offsets.append(np.abs((found - seen["y"]).mean(axis=(0, 1, 2))).max())
    assert offsets[1] < offsets[0] / 3


def test_shadows_differ_by_the_error_of_one_operator() -> None:
    x = np.random.default_rng(6).standard_normal(_SHAPE).astype(np.float32)
    kept: list[Graph] = []

    def keep(graph: Graph) -> int:
        kept.append(graph.copy())
        return 0

    optimize(_graph(_block), quantize=keep)
    (graph,) = kept
    options = QuantizeOptions()
    plan = insert.plan(graph, options)
    seen = run_graph(graph, {"x": x}, plan.tensors)
    ranges = {n: Range(float(a.min()), float(a.max())) for n, a in seen.items()}
    twice = graph.copy()
    shadows = add_shadows(twice, ranges, options, plan)
    # Not for operators that choose or move elements.
    assert {"r1", "c2", "r2", "mean", "fc"} == shadows.keys()
    found = run_graph(twice, {"x": x}, [*shadows, *shadows.values()])
    for name, other in shadows.items():
        np.testing.assert_array_equal(found[name], seen[name])
        assert 35 < _sqnr_db(found[name], found[other]) < 80


def test_tensors_whose_shape_a_run_decides_stay_in_floats() -> None:
    b, rng = GraphBuilder("test", "test"), np.random.default_rng(0)
    x = b.input("x", DataType.FLOAT32, (None, 8))
    y = b.one("FullyConnected", [x, b.constant("w", random(rng, 4, 8))], "known")
    y.shape = (None, 4)
    w = b.constant("v", random(rng, 4, 4))
    b.output(b.one("FullyConnected", [y, w], "unknown"), "y")
    b.graph.sort()
    plan = insert.plan(b.graph, QuantizeOptions())
    assert plan.quantized == ()
    assert {op.reason for op in plan.floats} == {"a run decides the shape of known"}


def test_parts_and_repeated_elements_have_the_scale_of_the_whole() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, _SHAPE)
        y = _conv(b, rng, x, "c1")
        attrs = {"mode": "NEAREST", "size": [16, 16]}
        y = b.one("Resize", [y], "larger", attrs)  # type: ignore[list-item]
        parts = b.op("Split", [y], ["left", "right"], {"axis": 2, "sizes": [8, 8]})
        b.output(b.one("Eltwise", parts, "sum", {"mode": "ADD"}), "y")

    graph, plan, expected, found = _quantized(build)
    assert not plan.floats and len(plan.moved) == 1
    # Nothing is scaled between.
    assert set(types(graph)) == {
        *("Quantize", "Conv2D", "Resize", "Split", "Eltwise", "Dequantize"),
    }
    assert types(graph)["Quantize"] == types(graph)["Dequantize"] == 1
    assert _sqnr_db(expected["y"], found["y"]) > 35
