# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a deployment file asks of an importer."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.convert.requests import check_states, target_of
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.ir import DataFormat, DataType, GraphBuilder
from mace.python.tools.ir.graph import Target

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
        ("cpu", "fp32_fp32", "", Target(("CPU",))),
        ("cpu", "fp16_fp32", "", Target(("CPU",))),
        ("cpu", "bf16_bf16", "", Target(("CPU",), DataType.BFLOAT16)),
        ("cpu+gpu", "fp32_fp32", "", Target(("CPU", "GPU"))),
        ("dsp", "fp32_fp32", "quantize: 1", Target(("HEXAGON",), integers=True)),
        ("cpu", "fp32_fp32", "quantize_dynamic: 1", Target(("CPU",), integers=True)),
    ],
)
def test_what_a_model_is_made_for(
    runtime: str, data_type: str, more: str, expected: Target, tmp_path: Path
) -> None:
    path = tmp_path / "net.onnx"
    path.touch()
    text = _DEPLOYMENT.format(
        path=path, runtime=runtime, data_type=data_type, more=more
    )
    deployment = load_deployment_text(text, tmp_path / "net.yml")
    (model,) = deployment.models.values()
    assert target_of(model) == expected


def test_states_are_told_in_the_users_order(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.touch()
    part = (
        'input_tensors: [z, x]\n        input_shapes: ["1", "1,2,3,4"]\n'
        "        input_data_formats: NCHW\n        output_data_formats: NCHW\n"
        "        states: {x: y}\n"
    )
    text = _DEPLOYMENT.format(path=path, runtime="cpu", data_type="fp32_fp32", more="")
    text = text.replace("input_tensors: x\n        input_shapes: 1,2\n", part)
    text = text.replace("output_shapes: 1,2\n", "output_shapes: 1,2,3,5\n")
    (model,) = load_deployment_text(text, tmp_path / "net.yml").models.values()
    builder = GraphBuilder("net", "onnx")
    builder.input("z", DataType.FLOAT32, (1,))
    # As the passes leave it.
    x = builder.input("x", DataType.FLOAT32, (1, 3, 4, 2), DataFormat.NHWC)
    sizes = {"pads": [0, 0, 0, 0, 0, 1, 0, 0]}
    builder.output(builder.one("Pad", [x], "y", sizes), "y", DataFormat.NHWC)
    says = r"that is of shape \[1, 2, 3, 5\], the state of shape \[1, 2, 3, 4\]$"
    with pytest.raises(ImportModelError, match=says):
        check_states(model, builder.graph)
