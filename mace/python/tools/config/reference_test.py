# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The generated reference, and the JSON Schema against real files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from mace.python.tools.config import reference
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.keys import keys_of, sections_below
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.problems import ConfigError
from mace.python.tools.config.reference import json_schema

_TESTDATA = Path(__file__).parent / "testdata"
_PRESENT = sorted(
    path
    for path in _TESTDATA.glob("*.yml")
    # The schema describes present spellings only.
    if path.name != "first_generation.yml"
)


def test_every_key_has_a_complete_row() -> None:
    text = reference.markdown()
    for section in sections_below(Deployment):
        for key in keys_of(section).values():
            (row, *_) = re.findall(rf"^\| `{key.name}` \|.*$", text, re.MULTILINE)
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
            assert len(cells) == 5
            assert cells[1], f"{key.name} does not say what it accepts"
            assert cells[3].endswith("."), f"{key.name} has no meaning"
            assert cells[4], f"{key.name} does not say what it changes"
            for old in key.was:
                assert f"| `{old}` | `{key.name}` |" in text


@pytest.mark.usefixtures("release_without_gpu")
def test_what_this_release_does_not_have_is_not_described_as_working() -> None:
    rows = dict(
        re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", reference.markdown(), re.M)
    )
    schema = json_schema()["$defs"]["ModelConfig"]["properties"]
    for key in (
        "cl_mem_type",
        "limit_opencl_kernel_time",
        "micro",
    ):
        assert rows[key].startswith("no effect: ")
        assert "not in this release" in rows[key]
        assert "not in this release" in schema[key]["description"]
        assert schema[key]["deprecated"]
    assert "deprecated" not in schema["winograd"]


def test_rows_show_types_and_defaults() -> None:
    text = reference.markdown()
    assert "| `library_name` | name | required |" in text
    assert "| `winograd` | `0`, `2` or `4` | `4` |" in text
    assert "| `input_data_types` | one for all or a list of `float32`" in text
    assert "| `obfuscate` | `0` or `1` | `0` |" in text
    assert "| model | `runtime`: `cpu_gpu` | `runtime: cpu+gpu` |" in text


def _validate(schema: dict[str, Any], value: object, root: dict[str, Any]) -> bool:
    """The part of JSON Schema that our schema uses, and nothing else."""
    if "$ref" in schema:
        target = root["$defs"][schema["$ref"].rpartition("/")[2]]
        return _validate(target, value, root)
    if "anyOf" in schema:
        return any(_validate(part, value, root) for part in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    kinds: dict[str, tuple[type, ...]] = {
        "string": (str,),
        "integer": (int,),
        "number": (int, float),
        "array": (list,),
        "object": (dict,),
        "boolean": (bool,),
        "null": (type(None),),
    }
    if not any(isinstance(value, kinds[kind]) for kind in types):
        return False
    if isinstance(value, list):
        return "items" not in schema or all(
            _validate(schema["items"], item, root) for item in value
        )
    if isinstance(value, dict):
        known = schema.get("properties", {})
        rest = schema.get("additionalProperties", False)
        return all(
            _validate(known[key], item, root)
            if key in known
            else bool(rest) and _validate(rest, item, root)
            for key, item in value.items()
        ) and set(schema.get("required", ())) <= set(value)
    return not (isinstance(value, str) and "pattern" in schema) or bool(
        re.search(schema["pattern"], value)
    )


def _raw(path: Path) -> Any:
    raw = yaml.safe_load(path.read_text())
    # Editors compare words as they are; the reader is kinder about case.
    text = json.dumps(raw).replace('"nchw"', '"NCHW"')
    return json.loads(text)


@pytest.mark.parametrize("path", _PRESENT, ids=lambda path: path.name)
def test_json_schema_accepts_good_files(path: Path) -> None:
    schema = json_schema()
    raw = _raw(path)
    # YAML reads an all-digit checksum as a number; the reader does not.
    for model in raw["models"].values():
        model["model_sha256_checksum"] = "0" * 64
    assert _validate(schema, raw, schema)


def test_json_schema_refuses_wrong_files() -> None:
    schema = json_schema()
    raw = _raw(_TESTDATA / "basic.yml")
    assert _validate(schema, raw, schema)
    assert not _validate(schema, {**raw, "libary_name": "x"}, schema)
    assert not _validate(schema, {**raw, "target_abis": ["mips"]}, schema)
    del raw["library_name"]
    assert not _validate(schema, raw, schema)


def test_command_writes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "generated" / "keys.md"
    assert reference.main(["--output", str(path)]) == 0
    assert path.read_text() == reference.markdown().rstrip("\n") + "\n"
    assert reference.main(["--json_schema", "--output", str(path)]) == 0
    assert json.loads(path.read_text())["title"] == "MACE deployment file"


def test_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert reference.main([]) == 0
    assert "## Keys of a model" in capsys.readouterr().out


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
