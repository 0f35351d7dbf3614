# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fused operators of the domain com.microsoft.

Layers of networks on images are compared with ONNX Runtime. For operators of diffusion
models, it has no kernels on its CPU: each is compared with the ONNX operators that its
documentation says it consists of, computed by ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    check_node,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array


@pytest.mark.parametrize(
    ("activation", "numbers"),
    [
        ("Relu", None),
        ("Sigmoid", None),
        ("Tanh", None),
        ("LeakyRelu", [0.3]),
        ("Clip", [-0.5, 0.75]),
        ("HardSigmoid", [0.3, 0.4]),
    ],
)
def test_fused_conv(
    activation: str, numbers: list[float] | None, tmp_path: Path
) -> None:
    more: dict[str, Any] = {} if numbers is None else {"activation_params": numbers}
    check_node(
        tmp_path,
        "com.microsoft.FusedConv",
        {"x": normal(1, 4, 6, 6)},
        {"w": normal(8, 4, 3, 3), "b": normal(8)},
        activation=activation,
        pads=[1, 1, 1, 1],
        **more,
    )


def test_an_activation_that_nobody_knows(tmp_path: Path) -> None:
    inputs, constants = {"x": normal(1, 4, 6, 6)}, {"w": normal(8, 4, 3, 3)}
    with pytest.raises(MaceError, match="activation is 'Wave'; Clip, .* work"):
        check_node(
            tmp_path, "com.microsoft.FusedConv", inputs, constants, activation="Wave"
        )


@pytest.mark.parametrize(
    "kind", ["com.microsoft.NhwcConv", "com.microsoft.NhwcFusedConv"]
)
def test_convolutions_with_channels_last(kind: str, tmp_path: Path) -> None:
    """ONNX Runtime's CPU has none in floats: the same in ONNX's order."""
    x, w, b = normal(2, 6, 5, 4), normal(8, 2, 3, 3), normal(8)
    shape = {"pads": [1, 0, 1, 2], "strides": [2, 1], "group": 2}
    turned = {"x": x.transpose(0, 3, 1, 2).copy()}
    plain = onnx.helper.make_node("Conv", ["x", "w", "b"], ["y"], **shape)
    model = make_model([plain], turned, ["y"], {"w": w, "b": b}, opset=17)
    wanted = run_onnxruntime(model, turned)[0].transpose(0, 2, 3, 1)
    inputs, names, more = {"x": x}, ["x", "w", "b"], dict(shape)
    domain, op_type = kind.rsplit(".", 1)
    if op_type == "NhwcConv":
        w = w.transpose(0, 2, 3, 1).copy()
    else:
        inputs["z"] = normal(*wanted.shape)
        wanted, names = np.maximum(wanted + inputs["z"], 0), [*names, "z"]
        more["activation"] = "Relu"
    node = onnx.helper.make_node(op_type, names, ["y"], domain=domain, **more)
    model = make_model([node], inputs, ["y"], {"w": w, "b": b}, opset=17)
    assert_same(run_mace(model, inputs, tmp_path), [wanted], 1e-4)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_distances(metric: str, tmp_path: Path) -> None:
    inputs = {"a": normal(5, 3), "b": normal(4, 3)}
    check_node(tmp_path, "com.microsoft.CDist", inputs, metric=metric)


def test_expand_dims(tmp_path: Path) -> None:
    axis = {"axis": np.array(-2, np.int32)}
    check_node(tmp_path, "com.microsoft.ExpandDims", {"x": normal(2, 3)}, axis)


def test_fused_gemm(tmp_path: Path) -> None:
    check_node(
        tmp_path,
        "com.microsoft.FusedGemm",
        {"a": normal(3, 4)},
        {"b": normal(4, 5), "c": normal(5)},
        activation="Relu",
    )


_AFFINE = {"gamma": normal(8), "beta": normal(8, seed=2)}


class _Nodes:
    """Nodes, one after the other."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []

    def add(self, kind: str, inputs: Sequence[str], *outputs: str, **more: Any) -> str:
        """Returns its first output."""
        domain, _, op_type = kind.rpartition(".")
        self.nodes.append(
            onnx.helper.make_node(op_type, inputs, outputs, domain=domain, **more)
        )
        return outputs[0]

    def group_norm(self, x: str, last: bool, activation: int, output: str) -> None:
        """GroupNorm of 8 channels in 4 groups."""
        if last:
            x = self.add("Transpose", [x], "first", perm=[0, 3, 1, 2])
        names = [x, "gamma", "beta"]
        more = {"num_groups": 4, "epsilon": 0.01}
        back = output if not (activation or last) else "normalised"
        x = self.add("GroupNormalization", names, back, **more)
        if activation:
            gate = self.add("Sigmoid", [x], "gate")
            x = self.add("Mul", [x, gate], "bent" if last else output)
        if last:
            self.add("Transpose", [x], output, perm=[0, 2, 3, 1])


def _check(
    folder: Path,
    found: _Nodes,
    wanted: _Nodes,
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array],
    outputs: Sequence[str] = ("y",),
) -> None:
    models = [
        make_model(part.nodes, inputs, outputs, constants) for part in (found, wanted)
    ]
    expected = run_onnxruntime(models[1], inputs)
    assert_same(run_mace(models[0], inputs, folder), expected, 1e-4)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("activation", [0, 1])
def test_group_norm(last: bool, activation: int, tmp_path: Path) -> None:
    inputs = {"x": normal(2, 5, 3, 8) if last else normal(2, 8, 5, 3)}
    more: dict[str, Any] = {} if last else {"channels_last": 0}
    found, wanted = _Nodes(), _Nodes()
    more = {**more, "groups": 4, "activation": activation, "epsilon": 0.01}
    found.add("com.microsoft.GroupNorm", ["x", *_AFFINE], "y", **more)
    wanted.group_norm("x", last, activation, "y")
    _check(tmp_path, found, wanted, inputs, _AFFINE)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_skip_group_norm(last: bool, flat: bool, biased: bool, tmp_path: Path) -> None:
    shape, axes = ((2, 5, 3, 8), [1, 2]) if last else ((2, 8, 5, 3), [2, 3])
    inputs = {"x": normal(*shape)}
    inputs["skip"] = normal(2, 8, seed=3) if flat else normal(*shape, seed=3)
    constants = {**_AFFINE, "bias": normal(8, seed=4)} if biased else _AFFINE
    found, wanted = _Nodes(), _Nodes()
    names = ["x", "gamma", "beta", "skip", *(["bias"] if biased else [])]
    more = {"groups": 4, "activation": 1, "channels_last": int(last), "epsilon": 0.01}
    found.add("com.microsoft.SkipGroupNorm", names, "y", "sum", **more)
    skip = "skip"
    if flat:
        wanted.add("Constant", [], "axes", value_ints=axes)
        skip = wanted.add("Unsqueeze", ["skip", "axes"], "wide")
    total = wanted.add("Add", ["x", skip], "first_sum" if biased else "sum")
    if biased:
        wanted.add("Constant", [], "shape", value_ints=[-1] if last else [-1, 1, 1])
        bias = wanted.add("Reshape", ["bias", "shape"], "spread")
        total = wanted.add("Add", [total, bias], "sum")
    wanted.group_norm(total, last, 1, "y")
    _check(tmp_path, found, wanted, inputs, constants, ["y", "sum"])


def test_sums_and_gates(tmp_path: Path) -> None:
    """What is behind attention and the layers of a diffusion model's transformer."""
    inputs = {"x": normal(2, 5, 8), "skip": normal(2, 5, 8, seed=2)}
    found, wanted = _Nodes(), _Nodes()
    found.add("com.microsoft.BiasAdd", ["x", "bias", "skip"], "sum")
    found.add("com.microsoft.BiasSplitGelu", ["sum", "bias"], "y")
    one = wanted.add("Add", ["x", "bias"], "one")
    wanted.add("Add", [one, "skip"], "sum")
    two = wanted.add("Add", ["sum", "bias"], "two")
    wanted.add("Split", [two], "left", "right", axis=-1, num_outputs=2)
    bent = wanted.add("Gelu", ["right"], "bent")
    wanted.add("Mul", ["left", bent], "y")
    _check(tmp_path, found, wanted, inputs, {"bias": normal(8)}, ["y", "sum"])


def test_softmax_of_a_sum(tmp_path: Path) -> None:
    inputs = {"x": normal(2, 3, 4, 5), "mask": normal(2, 1, 4, 5, seed=2)}
    for axis in (2, 3):
        found, wanted = _Nodes(), _Nodes()
        more = {"axis": axis, "is_inner_broadcast": 1}
        found.add("com.microsoft.BiasSoftmax", ["x", "mask"], "y", **more)
        total = wanted.add("Add", ["x", "mask"], "sum")
        wanted.add("Constant", [], "shape", value_ints=[0, 0, -1] if axis == 2 else [0])
        if axis == 2:
            total = wanted.add("Reshape", [total, "shape"], "flat")
        result = wanted.add("Softmax", [total], "soft" if axis == 2 else "y", axis=-1)
        if axis == 2:
            wanted.add("Reshape", [result, wanted.add("Shape", ["x"], "size")], "y")
        _check(tmp_path, found, wanted, inputs, {})


def test_gemm_and_gelu(tmp_path: Path) -> None:
    inputs, weights = {"x": normal(2, 5, 8)}, {"w": normal(8, 6), "b": normal(6)}
    found, wanted = _Nodes(), _Nodes()
    found.add("com.microsoft.GemmFastGelu", ["x", "w", "b"], "y")
    product = wanted.add("MatMul", ["x", "w"], "product")
    total = wanted.add("Add", [product, "b"], "sum")
    wanted.add("Gelu", [total], "y", approximate="tanh")
    _check(tmp_path, found, wanted, inputs, weights)


def test_other_activations_are_refused(tmp_path: Path) -> None:
    inputs = {"x": normal(2, 5, 3, 8)}
    found = _Nodes()
    more = {"groups": 4, "activation": 2}
    found.add("com.microsoft.GroupNorm", ["x", *_AFFINE], "y", **more)
    model = make_model(found.nodes, inputs, ["y"], _AFFINE)
    with pytest.raises(MaceError, match="activation is 2"):
        run_mace(model, inputs, tmp_path)
