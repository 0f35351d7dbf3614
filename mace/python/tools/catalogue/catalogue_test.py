# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading, checking and printing the operator declarations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mace.python.tools.catalogue import (
    CatalogueError,
    Signature,
    attribute_problems,
    default_catalogue,
    load_catalogue,
    loader,
)
from mace.python.tools.catalogue.table import main, operator_table
from mace.python.tools.data_type import DataType

_OPS = Path(__file__).resolve().parents[3] / "ops"


def _declaration(**changes: Any) -> dict[str, Any]:
    return {
        "op": "Test",
        "summary": "A test.",
        "inputs": [{"name": "x", "types": ["float32"]}],
        "outputs": [{"name": "y", "types": ["float32"]}],
        "attributes": {},
        **changes,
    }


def _load(folder: Path, *declarations: dict[str, Any]) -> Any:
    for index, declaration in enumerate(declarations):
        room = folder / f"op{index}"
        room.mkdir()
        (room / f"op{index}.op.yaml").write_text(yaml.safe_dump(declaration))
    return load_catalogue(folder)


def test_source_tree_is_valid_and_complete() -> None:
    files = list(_OPS.glob("*/*.op.yaml"))
    assert len(default_catalogue().ops) == len(files)
    # Bazel's targets are called like the declarations.
    assert len({path.name for path in files}) == len(files)


def test_reading_when_asked_gives_what_reading_all_gives() -> None:
    own, whole = default_catalogue(), load_catalogue(_OPS)
    assert list(own.ops.items()) == list(whole.ops.items())
    assert dict(own.devices) == whole.devices
    assert (own.rooms, own.names) == (whole.rooms, whole.names)
    assert "Nothing" not in own
    with pytest.raises(KeyError):
        own["Nothing"]


def test_a_declaration_is_read_when_its_operator_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = tmp_path / "wrong"
    room.mkdir()
    (room / "wrong.op.yaml").write_text(yaml.safe_dump(_declaration(op="Wrong", x=1)))
    monkeypatch.setattr("mace.python.tools.catalogue.loader.OPS_DIR", tmp_path)
    loader._own_catalogue.cache_clear()
    try:
        own = loader._own_catalogue()
        assert list(own.ops) == ["Wrong"]
        with pytest.raises(CatalogueError, match="unknown key 'x'"):
            own["Wrong"]
    finally:
        loader._own_catalogue.cache_clear()


@pytest.mark.parametrize(
    "wrong",
    [
        {"sumary": "x"},
        {"attributes": {"a": {"type": "number", "default": 1}}},
        {"attributes": {"a": {"type": "int"}}},
        {"attributes": {"a": {"type": "int", "default": 1, "required": True}}},
        {"attributes": {"a": {"type": "enum", "default": "X"}}},
        {"inputs": [{"name": "x", "types": ["float31"]}]},
        {"cpu_kernels": "softmax"},
        {"inputs": [{"name": "x", "types": ["int8"], "packed": True}]},
        {
            "inputs": [
                {"name": "x", "types": ["bool"], "variadic": True},
                {"name": "y", "types": ["bool"]},
            ]
        },
    ],
)
def test_refuses_a_wrong_declaration(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(CatalogueError):
        _load(tmp_path, _declaration(**wrong))


def _signed(**signature: Any) -> dict[str, Any]:
    return _declaration(
        inputs=[
            {"name": "x", "types": ["float32"]},
            {"name": "k", "types": ["float32", "int8"], "constant": True},
            {"name": "i", "types": ["int32"]},
        ],
        attributes={
            "mode": {"type": "enum", "values": ["A", "B"], "default": "A"},
            "scale": {"type": "float", "default": 1.0},
        },
        signatures={"cpu": [signature]},
    )


def test_signatures_say_how_floats_are_stored(tmp_path: Path) -> None:
    declaration = _signed(
        floats=["bfloat16"],
        float32_inputs=["x"],
        kernels="gemm",
        constants={"k": "PACKED_O16_PAIRS"},
        when={"mode": ["B"]},
    )
    (found,) = _load(tmp_path, declaration)["Test"].signatures["cpu"]
    assert found == Signature(
        floats=(DataType.BFLOAT16,),
        float32_inputs=("x",),
        kernels="gemm",
        constants={"k": "PACKED_O16_PAIRS"},
        when={"mode": ("B",)},
    )


@pytest.mark.parametrize(
    ("signature", "problem"),
    [
        ({"floats": ["float32"]}, "floats must be some of float16, bfloat16"),
        ({}, "floats must be some of"),
        ({"floats": ["float16"], "follow": True}, "unknown key 'follow'"),
        (
            {"floats": ["float16"], "float32_inputs": ["i"]},
            "float32_inputs: 'i' is no float input",
        ),
        (
            {"floats": ["float16"], "follows_inputs": True, "float32_inputs": ["x"]},
            "float32_inputs needs an operator that follows no inputs",
        ),
        (
            {"floats": ["float16"], "float32_constants": ["k"]},
            "float32_constants needs follows_inputs",
        ),
        (
            {"floats": ["float16"], "constants": {"x": "float16"}},
            "constants: 'x' is no constant input",
        ),
        (
            {"floats": ["float16"], "constants": {"k": "PAIRS"}},
            "constants.k: 'PAIRS' is neither an element type nor a layout",
        ),
        (
            {"floats": ["float16"], "when": {"mode": ["C"]}},
            "when.mode: is 'C'; accepted: A, B",
        ),
        (
            {"floats": ["float16"], "unless": {"scale": [2.0]}},
            "unless.scale: must be an int or a word",
        ),
        (
            {"floats": ["float16"], "unless": {"none": [1]}},
            "unless: there is no attribute 'none'",
        ),
    ],
)
def test_refuses_a_wrong_signature(
    tmp_path: Path, signature: dict[str, Any], problem: str
) -> None:
    with pytest.raises(CatalogueError) as caught:
        _load(tmp_path, _signed(**signature))
    assert f"signatures.cpu[0]: {problem}" in str(caught.value)


def test_refuses_signatures_of_an_unknown_device(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="unknown device 'npu'; known: cpu"):
        _load(tmp_path, _declaration(signatures={"npu": []}))


def test_all_mistakes_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    bad = {"a": {"type": "int", "default": "one"}, "b": {"type": "nothing"}}
    with pytest.raises(CatalogueError) as caught:
        _load(tmp_path, _declaration(attributes=bad), _declaration(extra=1))
    text = str(caught.value)
    assert "attributes.a: default must be int" in text
    assert "attributes.b: unknown type" in text
    assert "op1.op.yaml: unknown key 'extra'" in text


def test_wrong_enumerations_are_told_with_wrong_operators(tmp_path: Path) -> None:
    (tmp_path / "op_enums.yaml").write_text("Order: {values: {A: first}}")
    attributes = {"order": {"type": "enum", "enum": "Order", "default": "A"}}
    with pytest.raises(CatalogueError) as caught:
        _load(tmp_path, _declaration(attributes=attributes))
    text = str(caught.value)
    assert "op_enums.yaml: Order: needs doc and values" in text
    assert "attributes.order: unknown enum 'Order'" in text


def test_two_files_with_one_operator(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="Test is declared twice"):
        _load(tmp_path, _declaration(), _declaration())


def test_unreadable_file_and_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="no operator declarations"):
        load_catalogue(tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "x.op.yaml").write_text("[1, 2")
    with pytest.raises(CatalogueError, match="cannot be read"):
        load_catalogue(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("strides", (1,), "has 1 numbers, needs 2"),
        ("strides", (0, 1), "needs at least 1"),
        ("strides", (1, True), "must be ints"),
        ("padding", "same", "accepted: VALID"),
        ("activation_limit", 6, "must be float"),
        ("activation_limit", float("nan"), "finite"),
        ("stride", (1, 1), "did you mean 'strides'"),
    ],
)
def test_wrong_attribute_values(name: str, value: Any, problem: str) -> None:
    (text,) = attribute_problems(default_catalogue()["Conv2D"], {name: value})
    assert problem in text


def test_missing_attribute_is_named() -> None:
    problems = attribute_problems(default_catalogue()["Transpose"], {})
    assert problems == ["lacks attribute 'perm'"]


def test_table_names_every_operator_port_and_attribute(tmp_path: Path) -> None:
    text = operator_table(default_catalogue())
    for op in default_catalogue().ops.values():
        assert f"## {op.type}\n" in text
        for name in (*op.attributes, *(p.name for p in (*op.inputs, *op.outputs))):
            assert f"`{name}`" in text
    out = tmp_path / "operators.md"
    assert main(["--output", str(out)]) == 0
    assert out.read_text("utf-8") == text


def test_table_says_how_floats_are_stored(tmp_path: Path) -> None:
    declaration = _signed(
        floats=["float16", "bfloat16"],
        follows_inputs=True,
        float32_constants=["k"],
        kernels="pool",
        constants={"k": "int8"},
        when={"mode": ["A", "B"]},
        unless={"mode": ["B"]},
    )
    assert (
        "| cpu | float16, bfloat16 | all its float inputs are; constant `k` is int8; "
        "`mode` is `A` or `B`; `mode` is not `B`; the pool kernels exist; "
        "constant `k` may be float32 |"
    ) in operator_table(_load(tmp_path, declaration))


def test_table_refuses_a_place_it_cannot_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--output", str(tmp_path)]) == 2
    assert "cannot write" in capsys.readouterr().err
