# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
r"""Generates C++ from the operator declarations.

    python -m mace.ops.op_schema_gen \
        --op conv2d.op.yaml --enums op_enums.yaml --out conv2d_schema.h
    python -m mace.ops.op_schema_gen \
        --op reshape.op.yaml --device cpu --enums op_enums.yaml --out reshape_cpu.cc
    python -m mace.ops.op_schema_gen --enums op_enums.yaml --out op_enums.h
    python -m mace.ops.op_schema_gen --types */*.op.yaml \
        --enums op_enums.yaml --out left_out.cc

The first form writes, for an operator `Conv2D`:

* `struct Conv2DAttributes`, whose members hold the attributes with their
  defaults, and whose `Parse` reads and range-checks them;
* `InferConv2DShapes`: the declaration of its shape function, which conv2d.cc defines;
* `enum Conv2DInput : size_t {...}` and `Conv2DOutput`: port numbers;
* `kConv2DSchema`: the `OpSchema` that the graph checks models against.

The second registers what the key `computes` of a declaration names for a device.

The last writes the names of all operators, for libraries with selected operators.

An invalid declaration stops the build with one message per mistake.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from mace.python.tools.catalogue import (
    Attribute,
    AttributeKind,
    CatalogueError,
    DataType,
    Enumerations,
    OpSchema,
    Packing,
    Port,
    SharedCode,
    Signature,
    load_enums,
    load_op,
)
from mace.python.tools.catalogue.signatures import DEVICES, LAYOUTS

# kAttributeLetters in op_schema.h.
_KIND_LETTERS = {
    AttributeKind.INT: "i",
    AttributeKind.BOOL: "i",
    AttributeKind.FLOAT: "f",
    AttributeKind.ENUM: "s",
    AttributeKind.STRING: "s",
    AttributeKind.INTS: "I",
    AttributeKind.FLOATS: "F",
}
_CPP_TYPES = {
    AttributeKind.INT: "int64_t",
    AttributeKind.BOOL: "bool",
    AttributeKind.FLOAT: "float",
    AttributeKind.STRING: "std::string_view",
    AttributeKind.INTS: "AttributeList<int64_t>",
    AttributeKind.FLOATS: "AttributeList<float>",
}
_LAYOUTS = {
    None: "kPlainLayout",
    Packing.FILTER: "kFilterLayouts",
    Packing.INTEGER_MATRICES: "kIntegerMatrixLayouts",
}
# The header in mace/ops and the class for each device.
_SHARED_CODE = {
    (SharedCode.SAME_ELEMENTS, "cpu"): ("cpu_op/shape_only_op.h", "ShapeOnlyOp"),
    (SharedCode.SAME_ELEMENTS, "hexagon"): (
        "hexagon_op/moves.h",
        "HexagonSameElementsOp",
    ),
    (SharedCode.SAME_ELEMENTS, "opencl"): ("opencl_op/move.h", "SameElementsOpencl"),
}
_LICENCE = (
    "// Copyright 2026 The MACE Authors\n// SPDX-License-Identifier: Apache-2.0\n"
)


def generate_op(op: OpSchema) -> str:
    """The header for one operator."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", op.type).upper()
    guard = f"MACE_OPS_{snake}_SCHEMA_H_"
    lines = [f"{_LICENCE}// Generated from the declaration of {op.type}.", ""]
    lines += [f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ["#include <cstdint>", "#include <iterator>"]
    lines += ["#include <string_view>", ""]
    lines += ['#include "mace/core/model/attribute_reader.h"']
    lines += ['#include "mace/core/model/op.h"']
    lines += ['#include "mace/core/model/op_signature.h"']
    lines += ['#include "mace/ops/op_enums.h"', ""]
    lines += ["namespace mace {", ""]
    lines += _attributes(op)
    lines += _ports(op.type, "Input", op.inputs)
    lines += _ports(op.type, "Output", op.outputs)
    lines += _signatures(op)
    attributes = f"{op.type}Attributes"
    lines += [
        "// Sets the shapes and types of the outputs.",
        f"MaceStatus Infer{op.type}Shapes(const {attributes} &attributes,",
        "                 ShapeContext *context);",
        "",
    ]
    count = sum(map(len, op.signatures.values()))
    lines += [
        f"inline constexpr OpSchema k{op.type}Schema = {{",
        f'    "{op.type}",',
        f"    k{op.type}Inputs, {len(op.inputs)},",
        f"    k{op.type}Outputs, {len(op.outputs)},",
        f"    k{op.type}AttributeSchemas, {len(op.attributes)},",
        f"    {f'k{op.type}Signatures' if count else 'nullptr'}, {count},",
        f"    sizeof({attributes}), &ParseAttributes<{attributes}>,",
        f"    &CallShapeFunction<{attributes}, Infer{op.type}Shapes>,",
        f"    {str(op.depends_on_shapes_only).lower()},",
        f"    Signedness::k{_camel(op.signedness.value)},",
        f"    ControlFlow::k{_camel(op.control.value)},",
        "};",
        "",
        "}  // namespace mace",
        "",
        f"#endif  // {guard}",
        "",
    ]
    return "\n".join(lines)


def generate_registration(op: OpSchema, place: str, device: str) -> str:
    """The source that registers code which operators share for one of them.

    Args:
        place: what its files begin with: reshape/squeeze.

    Raises:
        CatalogueError: the operator is not computed by such code.
    """
    if op.computes is None:
        room, name = place.split("/")
        raise CatalogueError(
            f"mace/ops/{room}: the CPU computes every operator; there is no "
            f"{name}_cpu.cc, and {name}.op.yaml does not have the key 'computes'"
        )
    header, operator = _SHARED_CODE[op.computes, device]
    lines = [f"{_LICENCE}// Generated from the declaration of {op.type}.", ""]
    lines += [f'#include "mace/ops/{header}"']
    lines += [f'#include "mace/ops/{place}_schema.h"', ""]
    lines += ["namespace mace {", ""]
    lines += [f"MACE_REGISTER_OP({op.type}, {DEVICES[device]}, {operator});", ""]
    lines += ["}  // namespace mace", ""]
    return "\n".join(lines)


def generate_enums(enums: Enumerations) -> str:
    """The header with the enumerations that operators share."""
    guard = "MACE_OPS_OP_ENUMS_H_"
    lines = [_LICENCE + "// Generated from op_enums.yaml.", ""]
    lines += [f"#ifndef {guard}", f"#define {guard}", "", "#include <cstdint>"]
    lines += ["", "namespace mace {", ""]
    for name, enum in enums.items():
        lines += [f"// {enum.doc}"]
        lines += _enum(name, enum.values)
    lines += ["}  // namespace mace", "", f"#endif  // {guard}", ""]
    return "\n".join(lines)


def generate_types(types: Iterable[str]) -> str:
    """The source that tells the core which operators MACE has."""
    lines = [_LICENCE + "// Generated from all declarations.", ""]
    lines += [
        '#include "mace/core/model/op.h"',
        "",
        "namespace mace {",
        "namespace {",
        "",
    ]
    # One text, as a pointer to each name would take more than the name does.
    lines += ["const OpSelection selection("]
    lines += [f'    "{name}\\0"' for name in sorted(types)]
    lines += ["    );"]
    lines += ["", "}  // namespace", "}  // namespace mace", ""]
    return "\n".join(lines)


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _enum(name: str, values: Iterable[str]) -> list[str]:
    lines = [f"enum class {name} : uint8_t {{"]
    lines += [f"  {value}," for value in values]
    lines += ["};", ""]
    lines += [f"inline constexpr const char *k{name}Names[] = {{"]
    lines += [f'    "{value}",' for value in values]
    lines += ["};", ""]
    return lines


def _cpp_type(op: OpSchema, attribute: Attribute) -> str:
    if attribute.kind is AttributeKind.ENUM:
        return attribute.enum or op.type + _camel(attribute.name)
    return _CPP_TYPES[attribute.kind]


def _literal(attribute: Attribute, cpp_type: str) -> str:
    """The value of the member before the attribute is read."""
    kind, value = attribute.kind, attribute.default
    if kind is AttributeKind.ENUM:
        return f"{cpp_type}::{next(iter(attribute.values)) if value is None else value}"
    if value is None:
        zeros = {
            AttributeKind.INT: "0",
            AttributeKind.BOOL: "false",
            AttributeKind.FLOAT: "0.0f",
        }
        return zeros.get(kind, "{}")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value!r}f"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        suffix = "f" if kind is AttributeKind.FLOATS else ""
        return "{" + ", ".join(f"{v}{suffix}" for v in value) + "}"
    return str(value)


def _reader_call(attribute: Attribute, cpp_type: str) -> str:
    name, kind = attribute.name, attribute.kind
    required = "true" if attribute.required else "false"
    low = "INT64_MIN" if attribute.min is None else attribute.min
    high = "INT64_MAX" if attribute.max is None else attribute.max
    if kind is AttributeKind.ENUM:
        return (
            f'reader.Enum("{name}", {required}, k{cpp_type}Names, '
            f"std::size(k{cpp_type}Names), &{name});"
        )
    if kind is AttributeKind.INT:
        return f'reader.Int("{name}", {required}, {low}, {high}, &{name});'
    if kind is AttributeKind.INTS:
        size = -1 if attribute.size is None else attribute.size
        return f'reader.Ints("{name}", {required}, {size}, {low}, {high}, &{name});'
    return f'reader.{kind.value.capitalize()}("{name}", {required}, &{name});'


def _ports(op_type: str, side: str, ports: Iterable[Port]) -> list[str]:
    lines = [f"enum {op_type}{side} : size_t {{"]
    lines += [
        f"  k{op_type}{_camel(port.name)}{side} = {index},"
        for index, port in enumerate(ports)
    ]
    lines += ["};", ""]
    lines += [f"inline constexpr PortSchema k{op_type}{side}s[] = {{"]
    for port in ports:
        bits, quantized = _types(port.types), _types(port.quantized) or "0"
        optional, constant, variadic = (
            str(flag).lower() for flag in (port.optional, port.constant, port.variadic)
        )
        lines.append(
            f'    {{"{port.name}", {bits}, {quantized}, {optional}, {constant}, '
            f"{_LAYOUTS[port.packed]}, {variadic}}},"
        )
    lines += ["};", ""]
    return lines


def _signatures(op: OpSchema) -> list[str]:
    lines: list[str] = []
    rows: list[str] = []
    for device, signatures in op.signatures.items():
        for signature in signatures:
            name = f"k{op.type}Signature{len(rows)}"
            constants = _constant_conditions(op, signature)
            attributes: list[str] = []
            for negated, condition in (
                ("false", signature.when),
                ("true", signature.unless),
            ):
                for attribute, values in condition.items():
                    array = f"{name}Values{len(attributes)}"
                    words = isinstance(values[0], str)
                    kind = "const char *const" if words else "int64_t"
                    items = ", ".join(
                        f'"{value}"' if words else str(int(value))  # type: ignore[arg-type]
                        for value in values
                    )
                    lines.append(f"inline constexpr {kind} {array}[] = {{{items}}};")
                    pointers = f"{array}, nullptr" if words else f"nullptr, {array}"
                    default = op.attributes[attribute].default in values
                    attributes.append(
                        f'    {{"{attribute}", {pointers}, {len(values)}, '
                        f"{str(default).lower()}, {negated}}},"
                    )
            if constants:
                lines += [
                    f"inline constexpr ConstantCondition {name}Constants[] = {{",
                    *constants,
                    "};",
                ]
            if attributes:
                lines += [
                    f"inline constexpr AttributeCondition {name}Attributes[] = {{",
                    *attributes,
                    "};",
                ]
            rows.append(
                f"    {{DeviceType::{DEVICES[device]}, {_types(signature.floats)}, "
                f"{str(signature.follows_inputs).lower()}, "
                f"{_bits(op, signature.float32_inputs)}, "
                f"{_bits(op, signature.float32_constants)}, "
                + (f'"{signature.kernels}", ' if signature.kernels else "nullptr, ")
                + (f"{name}Constants, " if constants else "nullptr, ")
                + f"{len(constants)}, "
                + (f"{name}Attributes, " if attributes else "nullptr, ")
                + f"{len(attributes)}}},"
            )
    if not rows:
        return []
    return [
        *lines,
        f"inline constexpr OpSignature k{op.type}Signatures[] = {{",
        *rows,
        "};",
        "",
    ]


def _constant_conditions(op: OpSchema, signature: Signature) -> list[str]:
    conditions = []
    for port, stored in signature.constants.items():
        layout = LAYOUTS.get(stored)
        types = "kAnyType" if layout else _types((DataType(stored),))
        layouts = f"LayoutBit(ConstantLayout::{layout})" if layout else "kAnyLayout"
        conditions.append(f"    {{{op.input_index(port)}, {types}, {layouts}}},")
    return conditions


def _types(types: Iterable[DataType]) -> str:
    return " | ".join(f"DataTypeBit(DataType::{t.cpp_name})" for t in types)


def _bits(op: OpSchema, ports: Iterable[str]) -> str:
    bits = 0
    for name in ports:
        index = op.input_index(name)
        # A variadic port stands for all inputs from its position on.
        bits |= (~0 << index) & 0xFFFFFFFF if op.inputs[index].variadic else 1 << index
    return f"{bits:#x}u"


def _attributes(op: OpSchema) -> list[str]:
    before: list[str] = []
    members: list[str] = []
    reads: list[str] = []
    for name, attribute in op.attributes.items():
        cpp_type = _cpp_type(op, attribute)
        if attribute.values and not attribute.enum:
            before += _enum(cpp_type, attribute.values)
        if attribute.doc:
            members.append(f"  // {attribute.doc}")
        literal = _literal(attribute, cpp_type)
        if literal.startswith("{") and literal != "{}":
            # A list is a view, also of its default.
            element = "int64_t" if attribute.kind is AttributeKind.INTS else "float"
            array = f"k{op.type}{_camel(name)}Default"
            before += [f"inline constexpr {element} {array}[] = {literal};", ""]
            literal = array
        members.append(f"  {cpp_type} {name} = {literal};")
        reads.append(f"    {_reader_call(attribute, cpp_type)}")
    body = ["    AttributeReader reader(def);", *reads]
    body += ["    return reader.status();"]
    lines = [*before, f"struct {op.type}Attributes : OpAttributes {{", *members]
    lines += ["" if members else "  // None."]
    lines += ["  // Keeps the defaults of attributes that `def` does not set."]
    lines += ["  MaceStatus Parse(const OperatorDef &def) {"]
    lines += [*body, "  }", "};", ""]
    if not op.attributes:
        return [
            *lines,
            f"inline constexpr const char *k{op.type}AttributeSchemas = nullptr;",
            "",
        ]
    lines += [f"inline constexpr char k{op.type}AttributeSchemas[] ="]
    lines += [
        f'    "{_KIND_LETTERS[attribute.kind]}{name}\\0"'
        for name, attribute in op.attributes.items()
    ]
    lines[-1] = lines[-1].replace("\\0", "") + ";"
    lines += [""]
    return lines


def _generate(
    op: Path | None,
    device: str | None,
    types: Iterable[Path] | None,
    enums: Enumerations,
) -> str:
    if types is not None:
        return generate_types(load_op(path, enums).type for path in types)
    if op is None:
        return generate_enums(enums)
    schema = load_op(op, enums)
    if device is not None:
        name = op.name.removesuffix(".op.yaml")
        return generate_registration(schema, f"{op.parent.name}/{name}", device)
    return generate_op(schema)


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--op", type=Path, help="operator declaration")
    parser.add_argument("--device", choices=DEVICES, help="on which to register it")
    parser.add_argument("--types", type=Path, nargs="+", help="all declarations")
    parser.add_argument("--enums", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    try:
        text = _generate(args.op, args.device, args.types, load_enums(args.enums))
    except CatalogueError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_status
    args.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
