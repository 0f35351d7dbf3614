# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads every YAML block of the documentation, and converts where the model is there.

A block is a deployment file, a `devices.yml`, or a part of a deployment file: keys of
the file, of a model or of a subgraph. A part is completed with what is required.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
import yaml
from markdown_it import MarkdownIt

from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.keys import keys_of
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.subgraph import SubgraphConfig
from mace.python.tools.convert.convert import convert_deployment
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.devices.ssh import read_boards
from mace.python.tools.load.complete import Completion
from test.docs.blocks import ROOT, pages

_SIDES = {
    "input_tensors": "x",
    "input_shapes": "1,4",
    "output_tensors": "y",
    "output_shapes": "1,4",
}
_MODEL = {"platform": "onnx", "model_file_path": "absent.onnx", "runtime": "cpu"}


def _blocks() -> Iterator[Tuple[str, str]]:
    for page in pages():
        # Those of operators are of another kind.
        if page.startswith("mace/ops/"):
            continue
        text = (ROOT / page).read_text(encoding="utf-8")
        for token in MarkdownIt("commonmark").parse(text):
            if token.type == "fence" and token.info.strip() in ("yaml", "yml"):
                name = f"{page}:{(token.map or [0])[0] + 2}"
                yield name, textwrap.dedent(token.content)


_BLOCKS = dict(_blocks())


def _names(section: Any) -> List[str]:
    keys = keys_of(section).values()
    return [word for key in keys for word in (key.name, *key.was)]


def _whole(found: Any) -> Dict[str, Any]:
    """A deployment that contains a part of one."""
    if isinstance(found, list):
        found = {"subgraphs": found}
    if "models" not in found and set(found) <= set(_names(Deployment)):
        found = {**found, "models": {"m": {}}}
    if "models" not in found:
        of_model = {*_names(ModelConfig), *_names(SubgraphConfig)}
        assert set(found) <= of_model, set(found) - of_model
        found = {"models": {"m": found}}
    for model in found["models"].values():
        model.update({**_MODEL, **model})
        parts = model.setdefault("subgraphs", [{}])
        for part in parts:
            given = {**model, **part}
            part.update({k: v for k, v in _SIDES.items() if k not in given})
    return {"library_name": "page", "target_abis": "host", **found}


@pytest.mark.parametrize("name", _BLOCKS)
def test_yaml_is_accepted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = _BLOCKS[name]
    found = yaml.safe_load(text)
    monkeypatch.chdir(ROOT)
    if "devices" in found:
        path = tmp_path / "devices.yml"
        path.write_text(text)
        assert len(read_boards(path)) == len(found["devices"])
        return
    if "library_name" not in found:
        part = yaml.safe_dump(_whole(found), sort_keys=False)
        load_deployment_text(part, ROOT / "page.yml")
        return
    deployment = load_deployment_text(text, ROOT / "page.yml", complete=Completion({}))
    for model in deployment.models.values():
        location = model.model_file_path.location
        if model.model_file_path.is_url:
            return
        assert os.path.exists(location), f"{name}: {location} is not there"
    options = ConvertOptions(build_dir=tmp_path / "build")
    result = convert_deployment(deployment, options)
    assert [model.name for model in result.models] == list(found["models"])


def test_pages_have_yaml() -> None:
    assert len(_BLOCKS) >= 15
    assert "docs/user/deployment_file.md:13" in _BLOCKS
