# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What all importers share: messages, formats, finding an importer."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.errors import UnsupportedError
from mace.python.tools.importers.frame.errors import (
    UnsupportedNodes,
    UnsupportedNodesError,
    unknown_tensor,
)
from mace.python.tools.importers.frame.handlers import HandlerTable
from mace.python.tools.importers.frame.opened import available_importers, load_framework
from mace.python.tools.importers.frame.request import (
    framework_format,
    user_to_framework,
)
from mace.python.tools.ir import DataFormat
from mace.python.tools.wording import nearest_names

_NHWC, _NCHW, _NONE = DataFormat.NHWC, DataFormat.NCHW, DataFormat.NONE


def test_all_unsupported_nodes_are_one_table() -> None:
    nodes = UnsupportedNodes("model.onnx")
    nodes.raise_if_any()
    nodes.add("n1", "Einsum", "equation abc", "write it as MatMul")
    nodes.add("a/longer/name", "Loop", "no loops")
    with pytest.raises(UnsupportedNodesError) as caught:
        nodes.raise_if_any()
    lines = str(caught.value).splitlines()
    assert lines[0] == "model.onnx: 2 nodes cannot be converted"
    assert lines[1].split() == ["node", "operator", "reason", "hint"]
    assert "write it as MatMul" in lines[3]
    # Columns line up.
    assert lines[3].index("Einsum") == lines[4].index("Loop")
    nodes.add("a\nb", "\x1b[2JRelu", "no")
    with pytest.raises(UnsupportedNodesError) as caught:
        nodes.raise_if_any()
    last = str(caught.value).splitlines()[5]
    assert last.split()[:2] == ["a\\nb", "\\x1b[2JRelu"]
    assert last.index("Relu") == lines[3].index("Einsum") + len("\\x1b[2J")


@pytest.mark.parametrize(
    ("user", "framework", "shape"),
    [
        (_NHWC, _NCHW, (1, 3, 224, 225)),
        (_NCHW, _NCHW, (1, 224, 225, 3)),
        (_NONE, _NCHW, (1, 224, 225, 3)),
        (_NCHW, _NHWC, (1, 225, 3, 224)),
    ],
)
def test_shape_in_the_order_of_the_framework(
    user: DataFormat, framework: DataFormat, shape: tuple[int, ...]
) -> None:
    assert user_to_framework((1, 224, 225, 3), user, framework) == shape
    assert user_to_framework((5, 3), user, framework) == (5, 3)


def test_none_stays_none() -> None:
    assert framework_format(_NONE, _NCHW) is _NONE
    assert framework_format(_NHWC, _NCHW) is _NCHW


def test_wrong_tensor_name_lists_the_near_ones() -> None:
    known = ["input:0", "Logits/Softmax:0", "Logits/Reshape:0", "conv1/Relu:0"]
    error = unknown_tensor("output_tensors", "softmax", Path("m.pb"), known)
    assert "output_tensors: m.pb has no tensor 'softmax'" in str(error)
    assert "Logits/Softmax:0" in str(error)
    far = unknown_tensor("input_tensors", "zzz", Path("m.pb"), known)
    assert "the model has: input:0, Logits/Softmax:0" in str(far)
    assert nearest_names("Input:0", known)[0] == "input:0"


def test_handlers_are_found_by_type_and_not_doubled() -> None:
    empty = "mace.python.tools.importers"
    table: HandlerTable[object] = HandlerTable(empty)  # type: ignore[type-var]
    table.register("Relu", "Relu6")(len)
    assert table.find("Relu6") is len
    assert table.find("Tanh") is None
    assert table.types() == ["Relu", "Relu6"]
    with pytest.raises(ValueError, match="Relu has two"):
        table.register("Relu")(len)


def test_unknown_framework_names_the_known() -> None:
    with pytest.raises(UnsupportedError, match="available: .*onnx") as caught:
        load_framework("megengine")
    assert all(name in str(caught.value) for name in available_importers())
    assert callable(load_framework("onnx").import_model)
