# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisation of instances against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    compare,
    make_model,
    normal,
    run_mace,
)


@pytest.mark.parametrize("shape", [(2, 3, 7), (2, 3, 5, 4), (1, 3, 2, 3, 4)])
def test_instance_norm_of_any_rank(shape: tuple[int, ...], tmp_path: Path) -> None:
    feeds = {"x": normal(*shape), "s": normal(3), "o": normal(3)}
    node = onnx.helper.make_node(
        "InstanceNormalization", list(feeds), ["y"], epsilon=0.01
    )
    model = make_model([node], feeds, ["y"])
    compare(model, feeds, tmp_path)


def test_instance_norm_needs_something_to_average(tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3), "s": normal(3), "o": normal(3)}
    node = onnx.helper.make_node("InstanceNormalization", list(feeds), ["y"])
    model = make_model([node], feeds, ["y"])
    with pytest.raises(UnsupportedNodesError, match="at least 3 are supported"):
        run_mace(model, feeds, tmp_path)


def test_a_withdrawn_version(tmp_path: Path) -> None:
    """Of operator set 18, whose scale and bias are those of groups."""
    node = onnx.helper.make_node(
        "GroupNormalization", ["x", "s", "b"], ["y"], num_groups=2, epsilon=1e-3
    )
    x = normal(2, 4, 3, 3)
    constants = {"s": normal(2), "b": normal(2, seed=4)}
    model = make_model([node], {"x": x}, ["y"], constants, opset=18)
    compare(model, {"x": x}, tmp_path)
