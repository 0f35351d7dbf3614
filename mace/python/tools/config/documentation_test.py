# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What docs/user/deployment_file.md shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.problems import ConfigError

_ROOT = Path(__file__).parents[4]
_PAGE = _ROOT / "docs" / "user" / "deployment_file.md"
# A file with the three mistakes of the page's example, on its lines.
_WRONG = """library_name: digits
target_abis: [hots]
models:
  digits:
    platform: onnx
    model_file_path: https://models.example/digits.onnx
    subgraphs:
      - input_tensors: image
        input_shape: 1,8,8,1
        output_tensors: probabilities
        output_shapes: 1,10
    runtime: cpu
"""


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", _PAGE.read_text(), re.DOTALL)


def test_first_file_is_a_deployment_file() -> None:
    deployment = load_deployment_text(_blocks("yaml")[0])
    assert deployment.warnings == ()
    (model,) = deployment.models.values()
    assert (_ROOT / model.model_file_path.location).is_file()
    assert [tensor.name for tensor in model.subgraphs[0].outputs] == ["probability"]


def test_fragments_are_right() -> None:
    fragment = _blocks("yaml")[1]
    head = "library_name: x\ntarget_abis: host\n"
    rest = (
        "    subgraphs:\n      - {input_tensors: a, input_shapes: 1,\n"
        "         output_tensors: b, output_shapes: 1}\n    runtime: cpu\n"
    )
    (model,) = load_deployment_text(head + fragment + rest).models.values()
    assert model.model_file_path.sha256 is not None


def test_messages_are_as_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        load_deployment_text(_WRONG, "digits.yml")
    assert f"error: {caught.value}\n" == _blocks("text")[0]
