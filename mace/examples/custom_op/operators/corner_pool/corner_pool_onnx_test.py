# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""MMCVCornerPool computes what its class says; what cannot be is refused."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)

_X = normal(2, 3, 4, 5)


def _model(**attributes: int) -> onnx.ModelProto:
    node = onnx.helper.make_node(
        "MMCVCornerPool", ["x"], ["y"], domain="mmcv", **attributes
    )
    return make_model([node], {"x": _X}, ["y"])


@pytest.mark.parametrize("mode", range(4))
def test_matches_the_class(mode: int, tmp_path: Path) -> None:
    model, feeds = _model(mode=mode), {"x": _X}
    assert_same(run_mace(model, feeds, tmp_path), run_onnxruntime(model, feeds))


def test_unknown_modes_are_refused(tmp_path: Path) -> None:
    for model in (_model(mode=4), _model()):
        with pytest.raises(UnsupportedNodesError, match="is one of 0, 1, 2 and 3"):
            run_mace(model, {"x": _X}, tmp_path)
