# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The lines of keys in errors that are found later."""

from __future__ import annotations

import pytest

from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.origins import cited
from mace.python.tools.errors import MaceError

_TEXT = """library_name: lib
target_abis: host
models:
  m:
    runtime: cpu
    platform: onnx
    model_file_path: m.onnx
    subgraphs:
      - input_tensors: x
        input_shapes: 1,4
        output_tensors: y
        output_shapes: 1,4
  flat:
    runtime: cpu
    platform: onnx
    model_file_path: m.onnx
    input_nodes: x
    input_shapes: 1,4
    output_nodes: y
    output_shapes: 1,4
"""


@pytest.mark.parametrize(
    ("model", "message", "cited_as"),
    [
        ("m", "input_tensors: no 'z'", "d.yml:9: input_tensors: no 'z'"),
        ("m", "models.m: output_shapes says [1]", "d.yml:12: models.m: output_shapes"),
        ("m", "models.m.platform: not", "d.yml:6: models.m.platform: not"),
        ("m", "models.m.model_file_path: no", "d.yml:7: models.m.model_file_path"),
        ("m", "one\ninput_shapes: two", "one\nd.yml:10: input_shapes: two"),
        ("flat", "input_tensors: no 'z'", "d.yml:17: input_tensors: no 'z'"),
        ("m", "quantize: is not there", "quantize: is not there"),
        ("m", "the node input_tensors: odd", "the node input_tensors: odd"),
    ],
)
def test_a_message_that_begins_with_a_key_tells_its_line(
    model: str, message: str, cited_as: str
) -> None:
    deployment = load_deployment_text(_TEXT, "d.yml")
    with pytest.raises(MaceError) as error, cited(deployment.models[model]):
        raise MaceError(message)
    assert str(error.value).startswith(cited_as)
