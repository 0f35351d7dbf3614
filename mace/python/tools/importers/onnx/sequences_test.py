# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of sequences and optional values compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.sequences import sequence_types
from mace.python.tools.importers.onnx.testing import (
    compare,
    import_proto,
    make_model,
    normal,
)

_FEEDS = {"x": normal(5, 3), "y": normal(5, 3, seed=2)}
_CONSTANTS = {
    "zero": np.array(0),
    "one": np.array(1),
    "two": np.array(2),
    "last": np.array(-1),
    "sizes": np.array([1, 4]),
    "ten": np.array(10),
}


def _model(nodes: Sequence[onnx.NodeProto], outputs: Sequence[str]) -> onnx.ModelProto:
    return make_model(nodes, _FEEDS, outputs, _CONSTANTS)


def _compare(
    nodes: Sequence[onnx.NodeProto], outputs: Sequence[str], folder: Path
) -> None:
    model = _model(nodes, outputs)
    compare(model, _FEEDS, folder)


def _pair() -> onnx.NodeProto:
    return helper.make_node("SequenceConstruct", ["x", "y"], ["s"])


def test_tensors_of_a_sequence(tmp_path: Path) -> None:
    nodes = [
        _pair(),
        helper.make_node("Neg", ["x"], ["n"]),
        helper.make_node("SequenceInsert", ["s", "n", "one"], ["s3"]),
        helper.make_node("SequenceInsert", ["s3", "x"], ["s4"]),
        helper.make_node("SequenceErase", ["s4", "zero"], ["left"]),
        helper.make_node("SequenceErase", ["left"], ["two_left"]),
        helper.make_node("Identity", ["two_left"], ["same"]),
        helper.make_node("SequenceLength", ["same"], ["length"]),
        helper.make_node("SequenceAt", ["same", "zero"], ["a"]),
        helper.make_node("SequenceAt", ["same", "last"], ["b"]),
        helper.make_node("Add", ["a", "b"], ["sum"]),
        helper.make_node("Cast", ["length"], ["count"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["sum", "count"], ["z"]),
    ]
    _compare(nodes, ["z"], tmp_path)


def test_a_sequence_that_begins_empty(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("SequenceEmpty", [], ["s0"]),
        helper.make_node("SequenceInsert", ["s0", "x"], ["s1"]),
        helper.make_node("SequenceInsert", ["s1", "y", "zero"], ["s2"]),
        helper.make_node("ConcatFromSequence", ["s2"], ["z"], axis=-1),
        helper.make_node("ConcatFromSequence", ["s2"], ["w"], axis=-1, new_axis=1),
    ]
    _compare(nodes, ["z", "w"], tmp_path)


# keepdims counts only without sizes, which onnxruntime does not know.
@pytest.mark.parametrize(
    ("split", "keepdims"), [("", 0), ("", 1), ("two", 1), ("ten", 1), ("sizes", 1)]
)
def test_parts_of_a_tensor(split: str, keepdims: int, tmp_path: Path) -> None:
    inputs = ["x", split] if split else ["x"]
    nodes = [
        helper.make_node("SplitToSequence", inputs, ["s"], axis=0, keepdims=keepdims),
        helper.make_node("SequenceAt", ["s", "zero"], ["first"]),
        helper.make_node("SequenceAt", ["s", "last"], ["end"]),
        helper.make_node("Neg", ["first"], ["z"]),
        helper.make_node("Neg", ["end"], ["w"]),
    ]
    _compare(nodes, ["z", "w"], tmp_path)


def test_optional_values(tmp_path: Path) -> None:
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, [5, 3])
    nodes = [
        helper.make_node("Optional", ["x"], ["there"]),
        helper.make_node("Optional", [], ["absent"], type=kind),
        helper.make_node("OptionalHasElement", ["there"], ["yes"]),
        helper.make_node("OptionalHasElement", ["absent"], ["no"]),
        helper.make_node("OptionalGetElement", ["there"], ["element"]),
        helper.make_node("Where", ["yes", "element", "y"], ["a"]),
        helper.make_node("Where", ["no", "element", "y"], ["b"]),
    ]
    _compare(nodes, ["a", "b"], tmp_path)
    missing = [nodes[1], helper.make_node("OptionalGetElement", ["absent"], ["z"])]
    with pytest.raises(MaceError, match="the optional value is absent"):
        import_proto(_model(missing, ["z"]), _FEEDS, ["z"], tmp_path)


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (helper.make_node("SequenceAt", ["s", "two"], ["z"]), "position 2 is outside"),
        (helper.make_node("SequenceAt", ["x", "two"], ["z"]), "not a sequence"),
        (
            helper.make_node("SequenceInsert", ["s", "s"], ["z"]),
            "input 1 is a sequence of 2 tensors",
        ),
        (
            helper.make_node("Relu", ["s"], ["z"]),
            "input 0 is a sequence of 2 tensors",
        ),
        (
            helper.make_node("SequenceErase", ["s"], ["z"]),
            "'z' of .*model.onnx is a sequence of 1 tensors, not a tensor",
        ),
    ],
)
def test_refusals(node: onnx.NodeProto, reason: str, tmp_path: Path) -> None:
    with pytest.raises(MaceError, match=reason):
        import_proto(_model([_pair(), node], ["z"]), _FEEDS, ["z"], tmp_path)


def test_every_operator_is_compared() -> None:
    source = Path(__file__).read_text("utf-8")
    assert [name for name in sequence_types() if f'"{name}"' not in source] == []
