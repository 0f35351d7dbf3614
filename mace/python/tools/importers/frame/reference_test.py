# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The list of operators in the documentation is that of the handlers."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.importers.frame.opened import available_importers
from mace.python.tools.importers.frame.reference import (
    main,
    operators,
    operators_by_test,
)

_ROOT = Path(__file__).resolve().parents[5]


@pytest.mark.parametrize(
    ("framework", "some"),
    [
        ("caffe", ("`Convolution`", "`InnerProduct`")),
        ("keras", ("`Dense`", "`Sequential`", "`ops.Add`")),
        ("onnx", ("`Conv`", "`Gemm`", "`Loop`")),
        ("tensorflow", ("`Conv2D`", "`MatMul`")),
        ("tflite", ("`CONV_2D`", "`ADD`")),
    ],
)
def test_lists_what_is_converted(
    framework: str, some: tuple[str, ...], tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "list.txt"
    assert main(["--framework", framework, "--output", str(out)]) == 0
    text = out.read_text()
    assert all(name in text for name in some)
    assert text.count("`") > 80


@pytest.mark.parametrize("framework", available_importers())
def test_each_operator_names_its_test(framework: str) -> None:
    found = operators_by_test(framework)
    names = [name for of_test in found.values() for name in of_test]
    assert sorted(names) == operators(framework)
    assert found.get("", []) == []
    for test in found:
        assert "def test_" in (_ROOT / test).read_text(encoding="utf-8")
