# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes that operators consist of by ONNX's specification."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)


@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"is_causal": 1},
        {"scale": 0.3, "softcap": 2.0},
        {"q_num_heads": 4, "kv_num_heads": 2},
    ],
)
def test_attention(attrs: dict[str, Any], tmp_path: Path) -> None:
    if "q_num_heads" in attrs:
        feeds = {"q": normal(2, 5, 32), "k": normal(2, 7, 16), "v": normal(2, 7, 16)}
    else:
        feeds = {
            "q": normal(2, 3, 5, 8),
            "k": normal(2, 3, 7, 8),
            "v": normal(2, 3, 7, 6),
        }
    node = helper.make_node("Attention", ["q", "k", "v"], ["y"], name="a", **attrs)
    model = make_model([node], feeds, ["y"], opset=23)
    found = run_mace(model, feeds, tmp_path)
    np.testing.assert_allclose(
        found[0], run_onnxruntime(model, feeds)[0], rtol=1e-5, atol=1e-6
    )


def test_rotary_embedding(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 4, 5, 8)}
    constants = {"cos": normal(2, 5, 4, seed=1), "sin": normal(2, 5, 4, seed=2)}
    node = helper.make_node("RotaryEmbedding", ["x", "cos", "sin"], ["y"])
    model = make_model([node], feeds, ["y"], constants, opset=23)
    np.testing.assert_allclose(
        run_mace(model, feeds, tmp_path)[0],
        run_onnxruntime(model, feeds)[0],
        rtol=1e-6,
        atol=1e-6,
    )


def test_inner_tensors_are_none_of_the_framework(tmp_path: Path) -> None:
    feeds = {"q": normal(1, 2, 3, 4), "k": normal(1, 2, 3, 4), "v": normal(1, 2, 3, 4)}
    node = helper.make_node("Attention", ["q", "k", "v"], ["y"])
    model = make_model([node], feeds, ["y"], opset=23)
    graph = import_proto(model, feeds, ["y"], tmp_path)
    sources = {value.source for value in graph.values.values() if value.source}
    assert sources == {"q", "k", "v", "y"}


def test_what_a_function_lacks_is_named(tmp_path: Path) -> None:
    feeds = {"size": np.array(9)}
    node = helper.make_node("HannWindow", ["size"], ["y"], name="window")
    model = make_model([node], feeds, ["y"])
    reason = r"window.*it computes Range: limit .* depends on the elements of size"
    with pytest.raises(UnsupportedNodesError, match=reason):
        import_proto(model, feeds, ["y"], tmp_path)
