# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a deployment file asks of an importer."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.convert.requests import import_request

_DEPLOYMENT = """
library_name: net
target_abis: host
models:
  net:
    platform: onnx
    model_file_path: {path}
    runtime: {runtime}
    data_type: {data_type}
    {more}
    subgraphs:
      - input_tensors: x
        input_shapes: 1,2
        output_tensors: y
        output_shapes: 1,2
"""


@pytest.mark.parametrize(
    ("runtime", "data_type", "more", "expected"),
    [
        ("cpu", "fp32_fp32", "", True),
        ("cpu", "fp16_fp32", "", True),
        ("cpu", "bf16_bf16", "", False),
        ("cpu+gpu", "fp32_fp32", "", False),
        ("cpu", "fp32_fp32", "quantize_dynamic: 1", False),
    ],
)
def test_whether_the_cpu_alone_computes_in_float32(
    runtime: str, data_type: str, more: str, expected: bool, tmp_path: Path
) -> None:
    path = tmp_path / "net.onnx"
    path.touch()
    text = _DEPLOYMENT.format(
        path=path, runtime=runtime, data_type=data_type, more=more
    )
    deployment = load_deployment_text(text, tmp_path / "net.yml")
    (model,) = deployment.models.values()
    assert import_request(model, path, None).cpu_floats == expected
