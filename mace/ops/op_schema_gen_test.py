# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the contents of the generated headers; Bazel checks that they compile."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.ops.op_schema_gen import main

_ENUMS = """
Order:
  doc: "Which comes first."
  values: {FORTH: "in order", BACK: "reversed"}
"""
_OP = """
op: TestOp
summary: A test.
inputs:
  - {name: left_side, types: [float32, bfloat16]}
  - {name: rest, types: [bool], optional: true, constant: true, variadic: true}
outputs:
  - {name: output, types: [int64]}
attributes:
  order: {type: enum, enum: Order, default: BACK}
  sides: {type: enum, values: [LEFT, RIGHT], required: true}
  sizes: {type: ints, size: 2, min: 1, default: [3, 4]}
  limit: {type: int, max: 9, required: true}
  scale: {type: float, default: 2}
  keep: {type: bool, default: true, doc: "Keeps."}
  label: {type: string, default: 'a "b" \\'}
"""


@pytest.fixture
def enums(tmp_path: Path) -> Path:
    path = tmp_path / "op_enums.yaml"
    path.write_text(_ENUMS)
    return path


def _header(folder: Path, enums: Path, declaration: str) -> str:
    source, out = folder / "test_op.op.yaml", folder / "test_op_schema.h"
    source.write_text(declaration)
    assert main(["--op", str(source), "--enums", str(enums), "--out", str(out)]) == 0
    return out.read_text()


def test_attributes_have_types_defaults_and_a_reader(
    tmp_path: Path, enums: Path
) -> None:
    text = _header(tmp_path, enums, _OP)
    for line in (
        "#ifndef MACE_OPS_TEST_OP_SCHEMA_H_",
        "enum class TestOpSides : uint8_t {",
        "struct TestOpAttributes : OpAttributes {",
        "  Order order = Order::BACK;",
        "  TestOpSides sides = TestOpSides::LEFT;",
        "inline constexpr int64_t kTestOpSizesDefault[] = {3, 4};",
        "  AttributeList<int64_t> sizes = kTestOpSizesDefault;",
        "  int64_t limit = 0;",
        "  float scale = 2.0f;",
        "  // Keeps.\n  bool keep = true;",
        r'  std::string_view label = "a \"b\" \\";',
        '    reader.Enum("order", false, kOrderNames, std::size(kOrderNames), &order);',
        '    reader.Ints("sizes", false, 2, 1, INT64_MAX, &sizes);',
        '    reader.Int("limit", true, INT64_MIN, 9, &limit);',
        r'    "ssides\0"',
    ):
        assert line + "\n" in text
    # The shared one is in op_enums.h.
    assert "enum class Order" not in text


def test_ports_have_numbers_types_and_properties(tmp_path: Path, enums: Path) -> None:
    packed = """\
  - {name: k, types: [float32], constant: true, packed: filter}
  - {name: b, types: [int8], packed: integer_matrices}
  - {name: rest,"""
    text = _header(tmp_path, enums, _OP.replace("  - {name: rest,", packed))
    both = "DataTypeBit(DataType::kFloat32) | DataTypeBit(DataType::kBfloat16)"
    for line in (
        "enum TestOpInput : size_t {\n  kTestOpLeftSideInput = 0,",
        f'    {{"left_side", {both}, 0, false, false, kPlainLayout, false}},',
        '    {"rest", DataTypeBit(DataType::kBool), 0, true, true, '
        "kPlainLayout, true},",
        '    {"k", DataTypeBit(DataType::kFloat32), 0, false, true, '
        "kFilterLayouts, false},",
        '    {"b", DataTypeBit(DataType::kInt8), 0, false, false, '
        "kIntegerMatrixLayouts, false},",
        '    "TestOp",\n    kTestOpInputs, 4,\n    kTestOpOutputs, 1,',
    ):
        assert line + "\n" in text


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("", "false"),
        ("depends_on_shapes_only: true\n", "true"),
        ("", "Signedness::kOfModel"),
        ("signedness: same\n", "Signedness::kSame"),
    ],
)
def test_the_schema_has_the_functions_that_devices_share(
    key: str, expected: str, tmp_path: Path, enums: Path
) -> None:
    text = _header(tmp_path, enums, _OP + key)
    for line in (
        "MaceStatus InferTestOpShapes(const TestOpAttributes &attributes,",
        "    sizeof(TestOpAttributes), &ParseAttributes<TestOpAttributes>,",
        "    &CallShapeFunction<TestOpAttributes, InferTestOpShapes>,",
        f"    {expected},",
    ):
        assert line + "\n" in text


@pytest.mark.parametrize(
    ("device", "registered"),
    [
        ("cpu", "MACE_REGISTER_OP(TestOp, CPU, ShapeOnlyOp);"),
        ("hexagon", "MACE_REGISTER_OP(TestOp, HEXAGON, HexagonSameElementsOp);"),
        ("opencl", "MACE_REGISTER_OP(TestOp, GPU, SameElementsOpencl);"),
    ],
)
def test_shared_code_is_registered(
    device: str, registered: str, tmp_path: Path, enums: Path
) -> None:
    declaration = tmp_path / "test_op/test_op.op.yaml"
    declaration.parent.mkdir()
    declaration.write_text(_OP + "computes: same_elements\n", encoding="utf-8")
    out = tmp_path / "out.cc"
    arguments = ["--op", str(declaration), "--device", device]
    assert main([*arguments, "--enums", str(enums), "--out", str(out)]) == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    assert registered in lines
    assert '#include "mace/ops/test_op/test_op_schema.h"' in lines


def test_a_room_without_code_says_what_computes_it(
    tmp_path: Path, enums: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declaration = tmp_path / "test_op/test_op.op.yaml"
    declaration.parent.mkdir()
    arguments = ["--op", str(declaration), "--device", "cpu", "--enums", str(enums)]
    for key, reason in (
        ("", "there is no test_op_cpu.cc, and test_op.op.yaml does not have the key"),
        ("computes: sums\n", "computes: unknown 'sums'; known: same_elements"),
    ):
        declaration.write_text(_OP + key, encoding="utf-8")
        assert main([*arguments, "--out", str(tmp_path / "out.cc")]) != 0
        assert reason in capsys.readouterr().err


_SIGNATURES = """
signatures:
  cpu:
    - floats: [float16]
      float32_inputs: [left_side]
      kernels: gemm
      constants: {rest: float16}
      when: {order: [FORTH]}
    - floats: [float16, bfloat16]
      follows_inputs: true
      float32_constants: [rest]
      constants: {rest: PACKED_O16_PAIRS}
      unless: {limit: [1, 2], order: [FORTH]}
"""


def test_signatures_are_rows(tmp_path: Path, enums: Path) -> None:
    declaration = _OP.replace("types: [bool]", "types: [float32]") + _SIGNATURES
    text = _header(tmp_path, enums, declaration)
    half = "DataTypeBit(DataType::kFloat16)"
    both = f"{half} | DataTypeBit(DataType::kBfloat16)"
    pairs = "LayoutBit(ConstantLayout::kPackedO16Pairs)"
    name = "kTestOpSignature"
    for line in (
        f'const char *const {name}0Values0[] = {{"FORTH"}};',
        f'    {{"order", {name}0Values0, nullptr, 1, false, false}},',
        f"    {{1, {half}, kAnyLayout}},",
        f"int64_t {name}1Values0[] = {{1, 2}};",
        f'    {{"limit", nullptr, {name}1Values0, 2, false, true}},',
        f"    {{1, kAnyType, {pairs}}},",
        f'    {{DeviceType::CPU, {half}, false, 0x1u, 0x0u, "gemm", '
        f"{name}0Constants, 1, {name}0Attributes, 1}},",
        # The variadic port and all inputs after it.
        f"    {{DeviceType::CPU, {both}, true, 0x0u, 0xfffffffeu, nullptr, "
        f"{name}1Constants, 1, {name}1Attributes, 2}},",
        "    kTestOpSignatures, 2,",
    ):
        assert line + "\n" in text


def test_without_signatures_there_are_no_rows(tmp_path: Path, enums: Path) -> None:
    text = _header(tmp_path, enums, _OP)
    assert "    nullptr, 0,\n" in text
    assert "OpSignature" not in text


def test_shared_enumerations_are_one_header(tmp_path: Path, enums: Path) -> None:
    out = tmp_path / "op_enums.h"
    assert main(["--enums", str(enums), "--out", str(out)]) == 0
    text = out.read_text()
    assert "// Which comes first.\nenum class Order : uint8_t {\n  FORTH,\n" in text
    assert 'kOrderNames[] = {\n    "FORTH",\n    "BACK",\n};\n' in text


def test_list_of_all_operators_is_sorted(tmp_path: Path, enums: Path) -> None:
    files = []
    for name in ("TestOp", "Another"):
        files.append(tmp_path / f"{name}.op.yaml")
        files[-1].write_text(_OP.replace("TestOp", name))
    out = tmp_path / "left_out.cc"
    arguments = ["--enums", str(enums), "--out", str(out), "--types", *map(str, files)]
    assert main(arguments) == 0
    assert '    "Another\\0"\n    "TestOp\\0"\n' in out.read_text()


def test_every_mistake_of_a_declaration_is_a_line(
    tmp_path: Path, enums: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "x.op.yaml", tmp_path / "x.h"
    path.write_text(_OP.replace("max: 9", "most: 9").replace("bool]", "boole]"))
    assert main(["--op", str(path), "--enums", str(enums), "--out", str(out)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"{path}: inputs[1]: unknown type 'boole'",
        f"{path}: attributes.limit: unknown key 'most'",
    ]
    assert not out.exists()
