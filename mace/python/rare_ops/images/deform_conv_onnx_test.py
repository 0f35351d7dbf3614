# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Deformable convolution compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array


def _model(
    x: Array, inputs: dict[str, Array], w: Array, **attributes: Any
) -> onnx.ModelProto:
    names = ["x", "w", "offset", "b", "mask" if "mask" in inputs else ""]
    node = onnx.helper.make_node("DeformConv", names, ["y"], **attributes)
    constants = {"w": w, "b": normal(len(w))}
    return make_model([node], inputs, ["y"], constants, 19)


@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    "attributes",
    [{}, {"strides": [2, 1], "dilations": [1, 2], "pads": [1, 2, 0, 1]}],
)
def test_deform_conv(
    attributes: dict[str, Any],
    groups: int,
    parts: int,
    with_mask: bool,
    tmp_path: Path,
) -> None:
    x, w = normal(2, 4, 8, 9), normal(6, 4 // groups, 3, 2)
    rows, columns = (4, 10) if attributes else (6, 8)
    inputs = {"x": x, "offset": normal(2, 2 * parts * 6, rows, columns)}
    if with_mask:
        inputs["mask"] = normal(2, parts * 6, rows, columns)
    model = _model(x, inputs, w, group=groups, offset_group=parts, **attributes)
    (found,) = run_mace(model, inputs, tmp_path)
    (wanted,) = run_onnxruntime(model, inputs)
    # Positions pass through those of GridSample, in [-1, 1].
    np.testing.assert_allclose(found, wanted, 1e-4, 1e-4)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    inputs = {"x": normal(1, 4, 5, 5), "offset": normal(1, 16, 4, 4)}
    model = _model(inputs["x"], inputs, normal(2, 4, 3, 3))
    with pytest.raises(UnsupportedNodesError, match="16 offsets and 4 channels"):
        import_proto(model, inputs, ["y"], tmp_path)
