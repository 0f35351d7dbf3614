# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution of integers beside that of floats, exact below 2^24."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array


def _bytes(dtype: Any, *shape: int) -> Array:
    bounds = np.iinfo(dtype)
    rng = np.random.default_rng([4, *shape])
    return np.asarray(rng.integers(bounds.min, bounds.max + 1, shape, dtype))


def _wanted(x: Array, w: Array, zeros: dict[str, Array], attrs: Any) -> Array:
    shifted = x.astype(np.float32) - zeros.get("xz", np.zeros(1)).astype(np.float32)
    w_zero = zeros.get("wz", np.zeros(1)).astype(np.float32)
    weights = w.astype(np.float32) - w_zero.reshape(-1, *[1] * (w.ndim - 1))
    node = onnx.helper.make_node("Conv", ["x", "w"], ["y"], **attrs)
    inputs = {"x": shifted, "w": weights}
    return run_onnxruntime(make_model([node], inputs, ["y"]), inputs)[0]


def _check(
    folder: Path,
    x: Array,
    w: Array,
    zeros: dict[str, Array],
    computed: tuple[str, ...] = (),
    **attrs: Any,
) -> None:
    """`computed`: the zero points that are inputs of the model."""
    names = [name if name in zeros else "" for name in ("xz", "wz")]
    node = onnx.helper.make_node("ConvInteger", ["x", "w", *names], ["y"], **attrs)
    inputs = {"x": x, **{name: zeros[name] for name in computed}}
    constants = {"w": w, **{n: z for n, z in zeros.items() if n not in computed}}
    (found,) = run_mace(make_model([node], inputs, ["y"], constants), inputs, folder)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, _wanted(x, w, zeros, attrs))


@pytest.mark.parametrize("computed", [(), ("xz",)])
@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"pads": [1, 0, 2, 1]},
        {"pads": [1, 1, 1, 1], "strides": [2, 3]},
        {"dilations": [2, 1], "pads": [2, 1, 2, 1]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
        {"auto_pad": "VALID"},
    ],
)
def test_windows(
    attrs: dict[str, Any], computed: tuple[str, ...], tmp_path: Path
) -> None:
    x, w = _bytes(np.uint8, 2, 6, 9, 8), _bytes(np.int8, 5, 6, 3, 2)
    zeros = {"xz": np.asarray(131, np.uint8), "wz": np.asarray(-3, np.int8)}
    _check(tmp_path, x, w, zeros, computed, **attrs)


@pytest.mark.parametrize("computed", [(), ("xz",)])
@pytest.mark.parametrize("groups", [2, 6])
def test_groups(groups: int, computed: tuple[str, ...], tmp_path: Path) -> None:
    x, w = _bytes(np.int8, 1, 6, 7, 8), _bytes(np.uint8, 12, 6 // groups, 3, 3)
    zeros = {"xz": np.asarray(-7, np.int8), "wz": np.asarray(120, np.uint8)}
    _check(tmp_path, x, w, zeros, computed, group=groups, pads=[1, 1, 1, 1])


def test_zero_points(tmp_path: Path) -> None:
    x, w = _bytes(np.uint8, 1, 4, 6, 5), _bytes(np.int8, 3, 4, 3, 3)
    pads = [1, 1, 1, 1]
    _check(tmp_path, x, w, {}, pads=pads)
    _check(tmp_path, x, w, {"xz": np.asarray(9, np.uint8)}, pads=pads)
    _check(tmp_path, x, w, {"wz": np.asarray([1, -2, 3], np.int8)}, pads=pads)
    both = {"xz": np.asarray(9, np.uint8), "wz": np.asarray([1, -2, 3], np.int8)}
    _check(tmp_path, x, w, both, ("xz",), pads=pads)


def test_lines(tmp_path: Path) -> None:
    x, w = _bytes(np.uint8, 2, 4, 11), _bytes(np.int8, 6, 2, 3)
    zeros = {"xz": np.asarray(200, np.uint8)}
    for computed in ((), ("xz",)):
        _check(tmp_path, x, w, zeros, computed, group=2, pads=[1, 2], strides=[2])


def test_what_is_not_supported(tmp_path: Path) -> None:
    x, w = _bytes(np.uint8, 1, 4, 6, 5), _bytes(np.int8, 4, 2, 3, 3)
    zeros = {"wz": np.asarray([1, -2, 3, 4], np.int8)}
    with pytest.raises(UnsupportedNodesError, match="use one zero point"):
        _check(tmp_path, x, w, zeros, group=2)
    with pytest.raises(UnsupportedNodesError, match="at run time"):
        _check(tmp_path, x, w, zeros, ("wz",), group=2)


def test_a_network_that_onnxruntime_quantized_dynamically(tmp_path: Path) -> None:
    quantization = pytest.importorskip("onnxruntime.quantization")
    nodes = [
        onnx.helper.make_node("Conv", ["x", "v", "b"], ["h"], pads=[1] * 4),
        onnx.helper.make_node("Relu", ["h"], ["r"]),
        onnx.helper.make_node("Conv", ["r", "w"], ["y"], group=8, strides=[2, 2]),
    ]
    inputs = {"x": normal(1, 3, 9, 10)}
    constants = {"v": normal(8, 3, 3, 3), "b": normal(8), "w": normal(8, 1, 3, 3)}
    model = make_model(nodes, inputs, ["y"], constants, opset=17)
    onnx.save(model, tmp_path / "float.onnx")
    quantization.quantize_dynamic(
        tmp_path / "float.onnx",
        tmp_path / "dynamic.onnx",
        op_types_to_quantize=["Conv"],
        # ONNX Runtime has no ConvInteger of int8 weights.
        weight_type=quantization.QuantType.QUInt8,
    )
    dynamic = onnx.load(tmp_path / "dynamic.onnx")
    assert any(node.op_type == "ConvInteger" for node in dynamic.graph.node)
    wanted = run_onnxruntime(dynamic, inputs)[0]
    (found,) = run_mace(dynamic, inputs, tmp_path)
    # Where a step of the dynamic quantization rounds in another way.
    np.testing.assert_allclose(found, wanted, rtol=0, atol=0.02 * np.abs(wanted).max())
