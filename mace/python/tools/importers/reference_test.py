# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The list of operators in the documentation is that of the handlers."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.importers.reference import main


@pytest.mark.parametrize(
    ("framework", "some"),
    [
        ("caffe", ("`Convolution`", "`InnerProduct`")),
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
