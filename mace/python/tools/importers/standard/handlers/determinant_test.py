# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Det and Inverse compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    check_operator,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 5, 5), (2, 3, 4, 4)])
def test_determinants(shape: tuple[int, ...], tmp_path: Path) -> None:
    inputs = {"x": normal(*shape)}
    model = make_model([onnx.helper.make_node("Det", ["x"], ["y"])], inputs, ["y"])
    assert_same(run_mace(model, inputs, tmp_path), run_onnxruntime(model, inputs))


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 3, 4, 4)])
def test_inverses(shape: tuple[int, ...], tmp_path: Path) -> None:
    check_operator(tmp_path, "com.microsoft.Inverse", {"x": normal(*shape)}, ["x"])


def test_matrices_that_are_not_square(tmp_path: Path) -> None:
    inputs = {"x": normal(2, 3)}
    model = make_model([onnx.helper.make_node("Det", ["x"], ["y"])], inputs, ["y"])
    with pytest.raises(MaceError, match="no square matrices"):
        run_mace(model, inputs, tmp_path)
