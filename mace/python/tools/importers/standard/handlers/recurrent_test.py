# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""LSTM, GRU and RNN compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    compare,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_STEPS, _BATCH, _WIDTH, _UNITS = 5, 3, 4, 6


def _model(
    op: str,
    optional: Mapping[str, Array] | None = None,
    *,
    computed: tuple[str, ...] = ("h", "c"),
    outputs: tuple[str, ...] | None = None,
    **attributes: Any,
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A model of one node, and its inputs.

    Args:
        optional: further inputs: b, lengths, h, c, p.
        computed: those that are inputs of the model, not constants.
        outputs: names; '' for one left out.
    """
    given = optional or {}
    gates = _GATES[op]
    d = 2 if attributes.get("direction") == "bidirectional" else 1
    x = normal(_STEPS, _BATCH, _WIDTH)
    if attributes.get("layout"):
        x = x.swapaxes(0, 1)
    constants = {
        "w": normal(d, gates * _UNITS, _WIDTH, seed=1) / 2,
        "r": normal(d, gates * _UNITS, _UNITS, seed=2) / 2,
        **{k: v for k, v in given.items() if k not in computed},
    }
    inputs = {"x": x, **{k: v for k, v in given.items() if k in computed}}
    names = ["x", "w", "r", "b", "lengths", "h", "c", "p"]
    if op != "LSTM":
        names = names[:6]
    known = {*inputs, *constants}
    wanted = outputs or (("y", "yh", "yc") if op == "LSTM" else ("y", "yh"))
    node = onnx.helper.make_node(
        op,
        [name if name in known else "" for name in names],
        list(wanted),
        hidden_size=_UNITS,
        **attributes,
    )
    model = make_model([node], inputs, [name for name in wanted if name], constants)
    return model, inputs


def _compare(tmp_path: Path, *args: Any, **options: Any) -> None:
    model, inputs = _model(*args, **options)
    compare(model, inputs, tmp_path)


def _bias(op: str, directions: int = 1) -> Array:
    return normal(directions, 2 * _GATES[op] * _UNITS, seed=3)


def _state(directions: int = 1, seed: int = 4) -> Array:
    return normal(directions, _BATCH, _UNITS, seed=seed)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
def test_matches_onnxruntime(op: str, direction: str, tmp_path: Path) -> None:
    d = 2 if direction == "bidirectional" else 1
    _compare(tmp_path, op, direction=direction)
    optional = {"b": _bias(op, d), "h": _state(d)}
    if op == "LSTM":
        optional |= {"c": _state(d, 5), "p": normal(d, 3 * _UNITS, seed=6)}
    _compare(tmp_path, op, optional, direction=direction)
    for lengths in ([2, 5, 1], [2, 0, 5]):
        optional["lengths"] = np.array(lengths, np.int32)
        _compare(tmp_path, op, optional, direction=direction)


@pytest.mark.parametrize("linear_before_reset", [0, 1])
def test_gru_resets_before_or_after_the_product(
    linear_before_reset: int, tmp_path: Path
) -> None:
    for direction, d in (("forward", 1), ("bidirectional", 2)):
        _compare(
            tmp_path,
            "GRU",
            {"b": _bias("GRU", d), "h": _state(d)},
            direction=direction,
            linear_before_reset=linear_before_reset,
        )


def test_clip_and_coupled_gates(tmp_path: Path) -> None:
    for op in ("LSTM", "GRU", "RNN"):
        _compare(tmp_path, op, {"b": _bias(op)}, clip=0.3)
    _compare(tmp_path, "LSTM", {"b": _bias("LSTM")}, input_forget=1)


@pytest.mark.parametrize(
    ("names", "alpha", "beta"),
    [
        (("Relu", "Softsign", "Softplus"), None, None),
        (("HardSigmoid", "Elu", "Tanh"), None, None),
        (("HardSigmoid", "LeakyRelu", "ScaledTanh"), (0.3, 0.2, 1.5), (0.4, 0.5)),
        (("Affine", "ThresholdedRelu", "Sigmoid"), (0.5, 0.1), (0.2,)),
    ],
)
def test_activations(
    names: tuple[str, ...],
    alpha: tuple[float, ...] | None,
    beta: tuple[float, ...] | None,
    tmp_path: Path,
) -> None:
    numbers = {"activation_alpha": alpha, "activation_beta": beta}
    attributes = {k: list(v) for k, v in numbers.items() if v is not None}
    _compare(tmp_path, "LSTM", activations=list(names), **attributes)


def test_activations_may_differ_between_directions(tmp_path: Path) -> None:
    attributes: dict[str, Any] = {
        "direction": "bidirectional",
        "activations": ["Sigmoid", "Tanh", "HardSigmoid", "Relu"],
    }
    optional = {"b": _bias("GRU", 2), "h": _state(2)}
    model, inputs = _model("GRU", optional, **attributes)
    expected = run_onnxruntime(model, inputs)
    assert_same(run_mace(model, inputs, tmp_path), expected)
    # onnxruntime has no other layout.
    optional["h"] = optional["h"].swapaxes(0, 1)
    model, inputs = _model("GRU", optional, layout=1, **attributes)
    y, hidden = run_mace(model, inputs, tmp_path)
    assert_same([y.transpose(1, 2, 0, 3), hidden.swapaxes(0, 1)], expected)


def _stacked(op: str, batch_first: bool) -> tuple[list[onnx.NodeProto], dict[str, Any]]:
    """Two layers in both directions as PyTorch exports them: states of zeros in the
    shape of the input, and directions side by side in the output.
    """
    gates, make = _GATES[op], onnx.helper.make_node
    constants: dict[str, Array] = {
        "batch_axis": np.array(1),
        "first": np.array([0]),
        "two": np.array([2]),
        "units": np.array([_UNITS]),
        "zero": np.zeros((1, 1, 1), np.float32),
        "joined": np.array([0, 0, -1]),
    }
    nodes, x = [], "x"
    if batch_first:
        nodes.append(make("Transpose", ["x"], ["t"], perm=[1, 0, 2]))
        x = "t"
    for layer in range(2):
        n = str(layer)
        width = 2 * _UNITS if layer else _WIDTH
        constants["w" + n] = normal(2, gates * _UNITS, width, seed=layer) / 2
        constants["r" + n] = normal(2, gates * _UNITS, _UNITS, seed=layer + 2) / 2
        constants["b" + n] = normal(2, 2 * gates * _UNITS, seed=layer + 4)
        states = ["h" + n, "c" + n] if op == "LSTM" else ["h" + n]
        nodes += [
            make("Shape", [x], ["shape" + n]),
            make("Gather", ["shape" + n, "batch_axis"], ["scalar" + n]),
            make("Unsqueeze", ["scalar" + n, "first"], ["batch" + n]),
            make("Concat", ["two", "batch" + n, "units"], ["wanted" + n], axis=0),
            *(make("Expand", ["zero", "wanted" + n], [state]) for state in states),
            make(
                op,
                [x, "w" + n, "r" + n, "b" + n, "", *states],
                ["y" + n, "last" + n],
                hidden_size=_UNITS,
                direction="bidirectional",
                **({"linear_before_reset": 1} if op == "GRU" else {}),
            ),
            make("Transpose", ["y" + n], ["turned" + n], perm=[0, 2, 1, 3]),
            make("Reshape", ["turned" + n, "joined"], ["x" + n]),
        ]
        x = "x" + n
    last = ["x1"]
    if batch_first:
        nodes.append(make("Transpose", ["x1"], ["z"], perm=[1, 0, 2]))
        last = ["z"]
    nodes.append(make("Concat", ["last0", "last1"], ["states"], axis=0))
    return nodes, {"outputs": [*last, "states"], "constants": constants}


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
def test_layers_as_pytorch_exports_them(
    op: str, batch_first: bool, tmp_path: Path
) -> None:
    nodes, rest = _stacked(op, batch_first)
    shape = (_BATCH, _STEPS) if batch_first else (_STEPS, _BATCH)
    inputs = {"x": normal(*shape, _WIDTH)}
    model = make_model(nodes, inputs, **rest)
    compare(model, inputs, tmp_path)


def test_states_as_outputs_alone(tmp_path: Path) -> None:
    _compare(tmp_path, "LSTM", outputs=("", "yh"))
    _compare(tmp_path, "GRU", outputs=("", "yh"))


def test_weights_of_float16(tmp_path: Path) -> None:
    model, inputs = _model("LSTM", {"b": _bias("LSTM")})
    found = run_mace(model, inputs, tmp_path)
    for tensor in model.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor).astype(np.float16)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
    again = run_mace(model, inputs, tmp_path)
    for one, other in zip(found, again):
        np.testing.assert_allclose(one, other, atol=5e-3)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"hidden_size": 7}, "hidden_size is 7, but R has 6"),
        ({"activations": ["Cosine"]}, "activation 'Cosine'"),
        ({"activations": ["Affine"]}, "activation 'Affine' lacks activation_alpha"),
        ({"activations": ["Tanh", "Tanh"]}, "2 activations for 1 directions of 1"),
        ({"clip": -1.0}, "clip is -1.0"),
    ],
)
def test_refusals(attributes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    model, inputs = _model("RNN")
    own = {a.name: a for a in model.graph.node[0].attribute}
    for name, value in attributes.items():
        if name in own:
            model.graph.node[0].attribute.remove(own[name])
        model.graph.node[0].attribute.append(onnx.helper.make_attribute(name, value))
    with pytest.raises(UnsupportedNodesError, match=reason):
        import_proto(model, inputs, ["y", "yh"], tmp_path)


def test_weights_must_be_known(tmp_path: Path) -> None:
    weights = normal(1, 6, _UNITS, seed=2)
    x = normal(_STEPS, _BATCH, _WIDTH)
    inputs = {"x": x, "r": weights}
    node = onnx.helper.make_node("RNN", ["x", "w", "r"], ["y"], hidden_size=_UNITS)
    model = make_model([node], inputs, ["y"], {"w": normal(1, 6, _WIDTH)})
    with pytest.raises(UnsupportedNodesError, match=r"R \(r\) is computed at run time"):
        import_proto(model, inputs, ["y"], tmp_path)
