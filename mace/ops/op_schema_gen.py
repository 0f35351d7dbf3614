# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Generates C++ from the operator declarations.

    op_schema_gen.py --op conv2d.op.yaml --enums op_enums.yaml --out conv2d_schema.h
    op_schema_gen.py --enums op_enums.yaml --out op_enums.h
    op_schema_gen.py --types */*.op.yaml --out left_out.cc

The first form writes, for an operator `Conv2D`:

* `struct Conv2DAttributes`, whose members hold the attributes with their
  defaults, and whose `Parse` reads and range-checks them;
* `enum Conv2DInput : size_t {...}` and `Conv2DOutput`: port numbers;
* `kConv2DSchema`: the `OpSchema` that the graph checks models against.

The third writes the names of all operators, for a library that has some only.

A declaration that is wrong stops the build with one message per mistake.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import yaml

KINDS = {
    "int": "kInt",
    "bool": "kInt",
    "float": "kFloat",
    "enum": "kString",
    "string": "kString",
    "ints": "kInts",
    "floats": "kFloats",
}
CPP_TYPES = {
    "int": "int64_t",
    "bool": "bool",
    "float": "float",
    "string": "std::string",
    "ints": "std::vector<int64_t>",
    "floats": "std::vector<float>",
}
DATA_TYPES = {
    "float32": "kFloat32",
    "float16": "kFloat16",
    "bfloat16": "kBfloat16",
    "int32": "kInt32",
    "int8": "kInt8",
    "uint8": "kUint8",
    "bool": "kBool",
    "int16": "kInt16",
    "int64": "kInt64",
}
TOP_KEYS = {"op", "summary", "doc", "inputs", "outputs", "attributes"}
PORT_KEYS = {
    "name",
    "types",
    "doc",
    "optional",
    "constant",
    "packed",
    "variadic",
}
ATTRIBUTE_KEYS = {
    "type",
    "default",
    "required",
    "min",
    "max",
    "size",
    "enum",
    "values",
    "doc",
}
LICENCE = "// Copyright 2026 The MACE Authors\n// SPDX-License-Identifier: Apache-2.0\n"


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


class DeclarationError(Exception):
    """Every mistake found in one declaration file."""


def check(op: dict[str, Any], enums: dict[str, Any]) -> list[str]:
    """Returns what is wrong with a declaration, empty if nothing."""
    problems = [f"unknown key '{k}'" for k in op if k not in TOP_KEYS]
    problems += [
        f"missing key '{k}'"
        for k in ("op", "summary", "inputs", "outputs", "attributes")
        if k not in op
    ]
    if problems:
        return problems
    for side in ("inputs", "outputs"):
        ports = op[side]
        for index, port in enumerate(ports):
            where = f"{side}[{index}]"
            problems += [
                f"{where}: unknown key '{k}'" for k in port if k not in PORT_KEYS
            ]
            problems += [
                f"{where}: unknown type '{t}'"
                for t in port.get("types", [])
                if t not in DATA_TYPES
            ]
            if not port.get("name") or not port.get("types"):
                problems.append(f"{where}: needs name and types")
            if port.get("variadic") and index + 1 != len(ports):
                problems.append(f"{where}: only the last port may be variadic")
    for name, attr in op["attributes"].items():
        where = f"attributes.{name}"
        problems += [
            f"{where}: unknown key '{k}'" for k in attr if k not in ATTRIBUTE_KEYS
        ]
        kind = attr.get("type")
        if kind not in KINDS:
            problems.append(f"{where}: unknown type '{kind}'")
            continue
        if bool(attr.get("required")) == ("default" in attr):
            problems.append(f"{where}: needs either default or required")
        if kind == "enum":
            values = enum_values(attr, enums)
            if values is None:
                problems.append(f"{where}: needs values or a known enum")
            elif "default" in attr and attr["default"] not in values:
                problems.append(f"{where}: default is not a value")
    return problems


def enum_values(attr: dict[str, Any], enums: dict[str, Any]) -> list[str] | None:
    if "enum" in attr:
        shared = enums.get(attr["enum"])
        return None if shared is None else list(shared["values"])
    values = attr.get("values")
    return None if values is None else list(values)


def emit_enum(name: str, values: list[str]) -> list[str]:
    lines = [f"enum class {name} : uint8_t {{"]
    lines += [f"  {value}," for value in values]
    lines += ["};", ""]
    lines += [f"inline constexpr const char *k{name}Names[] = {{"]
    lines += [f'    "{value}",' for value in values]
    lines += ["};", ""]
    return lines


def literal(attr: dict[str, Any], cpp_type: str) -> str:
    kind, value = attr["type"], attr.get("default")
    if kind == "enum":
        value = attr["values"][0] if value is None else value
        return f"{cpp_type}::{value}"
    if value is None:
        return {"int": "0", "bool": "false", "float": "0.0f"}.get(kind, "{}")
    if kind == "bool":
        return "true" if value else "false"
    if kind == "float":
        return f"{float(value)!r}f"
    if kind == "string":
        return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
    if kind in ("ints", "floats"):
        suffix = "f" if kind == "floats" else ""
        return "{" + ", ".join(f"{v}{suffix}" for v in value) + "}"
    return str(value)


def reader_call(name: str, attr: dict[str, Any], enum_name: str | None) -> str:
    required = "true" if attr.get("required") else "false"
    kind = attr["type"]
    low = attr.get("min", "INT64_MIN")
    high = attr.get("max", "INT64_MAX")
    if kind == "enum":
        return (
            f'reader.Enum("{name}", {required}, k{enum_name}Names, '
            f"std::size(k{enum_name}Names), &{name});"
        )
    if kind == "int":
        return f'reader.Int("{name}", {required}, {low}, {high}, &{name});'
    if kind == "ints":
        size = attr.get("size", -1)
        return f'reader.Ints("{name}", {required}, {size}, {low}, {high}, &{name});'
    return f'reader.{kind.capitalize()}("{name}", {required}, &{name});'


def emit_ports(op: str, side: str, ports: list[dict[str, Any]]) -> list[str]:
    lines = [f"enum {op}{side} : size_t {{"]
    lines += [
        f"  k{op}{camel(port['name'])}{side} = {index},"
        for index, port in enumerate(ports)
    ]
    lines += ["};", ""]
    lines += [f"inline constexpr PortSchema k{op}{side}s[] = {{"]
    for port in ports:
        bits = " | ".join(
            f"DataTypeBit(DataType::{DATA_TYPES[t]})" for t in port["types"]
        )
        flags = ", ".join(
            "true" if port.get(key) else "false"
            for key in ("optional", "constant", "packed", "variadic")
        )
        lines.append(f'    {{"{port["name"]}", {bits}, {flags}}},')
    lines += ["};", ""]
    return lines


def emit_attributes(
    op: str, attributes: dict[str, Any], enums: dict[str, Any]
) -> list[str]:
    before: list[str] = []
    members: list[str] = []
    reads: list[str] = []
    for name, attr in attributes.items():
        enum_name = None
        cpp_type = CPP_TYPES.get(attr["type"], "")
        if attr["type"] == "enum":
            enum_name = attr.get("enum") or op + camel(name)
            cpp_type = enum_name
            if "enum" in attr:
                attr = {**attr, "values": enum_values(attr, enums)}
            else:
                before += emit_enum(enum_name, list(attr["values"]))
        if attr.get("doc"):
            members.append(f"  // {attr['doc']}")
        members.append(f"  {cpp_type} {name} = {literal(attr, cpp_type)};")
        reads.append(f"    {reader_call(name, attr, enum_name)}")
    body = ["    AttributeReader reader(def);", *reads]
    body += ["    return reader.status();"]
    lines = [*before, f"struct {op}Attributes {{", *members]
    lines += ["" if members else "  // None."]
    lines += ["  // Keeps the defaults of attributes that `def` does not set."]
    lines += ["  MaceStatus Parse(const OperatorDef &def) {"]
    lines += [*body, "  }", "};", ""]
    if not attributes:
        return [
            *lines,
            f"inline constexpr const AttributeSchema *k{op}AttributeSchemas =",
            "    nullptr;",
            "",
        ]
    lines += [f"inline constexpr AttributeSchema k{op}AttributeSchemas[] = {{"]
    lines += [
        f'    {{"{name}", AttributeKind::{KINDS[attr["type"]]}}},'
        for name, attr in attributes.items()
    ]
    lines += ["};", ""]
    return lines


def generate_op(op: dict[str, Any], enums: dict[str, Any]) -> str:
    """Returns the header for one operator."""
    problems = check(op, enums)
    if problems:
        raise DeclarationError("\n".join(problems))
    name = op["op"]
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()
    guard = f"MACE_OPS_{snake}_SCHEMA_H_"
    lines = [LICENCE + f"// Generated from the declaration of {name}.", ""]
    lines += [f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ["#include <cstdint>", "#include <iterator>"]
    lines += ["#include <string>", "#include <vector>", ""]
    lines += ['#include "mace/core/attribute_reader.h"']
    lines += ['#include "mace/core/op.h"', '#include "mace/ops/op_enums.h"', ""]
    lines += ["namespace mace {", ""]
    lines += emit_attributes(name, op["attributes"], enums)
    lines += emit_ports(name, "Input", op["inputs"])
    lines += emit_ports(name, "Output", op["outputs"])
    lines += [
        f"inline constexpr OpSchema k{name}Schema = {{",
        f'    "{name}",',
        f"    k{name}Inputs, {len(op['inputs'])},",
        f"    k{name}Outputs, {len(op['outputs'])},",
        f"    k{name}AttributeSchemas, {len(op['attributes'])},",
        "};",
        "",
        "}  // namespace mace",
        "",
        f"#endif  // {guard}",
        "",
    ]
    return "\n".join(lines)


def generate_enums(enums: dict[str, Any]) -> str:
    """Returns the header with the enumerations that operators share."""
    guard = "MACE_OPS_OP_ENUMS_H_"
    lines = [LICENCE + "// Generated from op_enums.yaml.", ""]
    lines += [f"#ifndef {guard}", f"#define {guard}", "", "#include <cstdint>"]
    lines += ["", "namespace mace {", ""]
    for name, enum in enums.items():
        lines += [f"// {enum['doc']}"]
        lines += emit_enum(name, list(enum["values"]))
    lines += ["}  // namespace mace", "", f"#endif  // {guard}", ""]
    return "\n".join(lines)


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def generate_types(types: list[str]) -> str:
    """Returns the source that tells the core which operators MACE has."""
    lines = [LICENCE + "// Generated from all declarations.", ""]
    lines += ['#include "mace/core/op.h"', "", "namespace mace {", "namespace {", ""]
    lines += ["constexpr const char *kTypes[] = {"]
    lines += [f'    "{name}",' for name in sorted(types)]
    lines += ["};", ""]
    lines += ["const OpSelection selection(kTypes, sizeof(kTypes) / sizeof(*kTypes));"]
    lines += ["", "}  // namespace", "}  // namespace mace", ""]
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--op", type=Path, help="operator declaration")
    parser.add_argument("--types", type=Path, nargs="+", help="all declarations")
    parser.add_argument("--enums", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    if (args.enums is None) == (args.types is None):
        parser.error("takes either --enums or --types")
    enums = _read(args.enums) if args.enums else {}
    try:
        if args.types is not None:
            text = generate_types([_read(path)["op"] for path in args.types])
        elif args.op is None:
            text = generate_enums(enums)
        else:
            text = generate_op(_read(args.op), enums)
    except DeclarationError as error:
        for line in str(error).splitlines():
            print(f"{args.op}: {line}", file=sys.stderr)
        return 2
    args.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
