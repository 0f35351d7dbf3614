# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The operator reference of the documentation, from the declarations.

python -m mace.python.tools.catalogue.table [--output FILE] [--custom_ops DIR,...]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mace.python.tools.catalogue.loader import default_catalogue
from mace.python.tools.catalogue.proofs import (
    frameworks,
    instruction_sets,
    proofs_of,
)
from mace.python.tools.catalogue.schema import (
    Attribute,
    AttributeKind,
    Catalogue,
    OpSchema,
    Port,
    Signature,
)
from mace.python.tools.custom_ops import add_custom_ops_flag
from mace.python.tools.errors import MaceError
from mace.python.tools.reference_page import page_parser, table, write_page

_LEGEND = (
    "The column CPU has the element types of the first output, and those in which",
    "the CPU may store its floats; every operator runs there. *Quantized*: it also",
    "computes in integers that stand for floats ([quantization](quantization.md)).",
    "*GPU*: it has kernels for OpenCL, which store floats as `data_type` says.",
    "*DSP*: Qualcomm's Hexagon runs it, in integers ([DSP](../user/dsp.md)).",
    "*x86-64*, *ARM 64*, *ARM 32*: its tests run on all instruction sets listed below.",
    "*Converted from*: frameworks with an operator that becomes this one, or a part of",
    "which does; the converter makes the others from several operators.",
    "",
    "Each section ends with the tests that prove what is said of devices, types and",
    "frameworks: files of the sources, and targets of Bazel.",
)

_INSTRUCTION_SETS = (
    "The tests of an operator run each case on every instruction set that the",
    "processor has and for which MACE has kernels: `tools/test.sh` does so on x86-64,",
    "and its steps for other processors under emulation. There are no kernels for SVE",
    "and SME; processors with these run those for `neon_dotprod`.",
)


def operator_table(catalogue: Catalogue) -> str:
    """Markdown: a table of all operators, then a section for each."""
    ops = sorted(catalogue.ops.values(), key=lambda op: op.type.lower())
    summaries = [
        (
            f"[{op.type}](#{op.type.lower()})",
            op.summary,
            ", ".join(_cpu_types(op)),
            _quantized_bits(op),
            "yes" if "GPU" in catalogue.devices.get(op.type, ()) else "",
            "yes" if "HEXAGON" in catalogue.devices.get(op.type, ()) else "",
            *(_runs_on(op, catalogue, processor) for processor in instruction_sets()),
            ", ".join(_frameworks(op, catalogue)),
        )
        for op in ops
    ]
    heading = (
        "operator",
        "what it computes",
        "CPU",
        "quantized",
        "GPU",
        "DSP",
        *instruction_sets(),
        "converted from",
    )
    sets = [
        (processor, ", ".join(names)) for processor, names in instruction_sets().items()
    ]
    lines = ["# Operators", "", *_LEGEND, "", *table(heading, summaries), ""]
    lines += [*_INSTRUCTION_SETS, "", *table(("processor", "all"), sets)]
    for op in ops:
        lines += _section(op, catalogue)
    return "\n".join(lines) + "\n"


def _runs_on(op: OpSchema, catalogue: Catalogue, processor: str) -> str:
    """Whether a test of the operator runs its cases on each instruction set."""
    proved = [p for p in proofs_of(op, catalogue) if p.where == processor and p.tests]
    return "all" if proved else ""


def _cpu_types(op: OpSchema) -> list[str]:
    """The types of the first output, and those in which the CPU stores float32."""
    types = list(op.outputs[0].types)
    for signature in op.signatures.get("cpu", ()):
        types += [dtype for dtype in signature.floats if dtype not in types]
    return [dtype.value for dtype in types]


def _quantized_bits(op: OpSchema) -> str:
    sizes = {dtype.numpy.itemsize * 8 for dtype in op.outputs[0].quantized}
    return " and ".join(map(str, sorted(sizes))) + (" bits" if sizes else "")


def _frameworks(op: OpSchema, catalogue: Catalogue) -> list[str]:
    titles = frameworks().values()
    return [p.where for p in proofs_of(op, catalogue) if p.where in titles]


def _section(op: OpSchema, catalogue: Catalogue) -> list[str]:
    lines = ["", f"## {op.type}", "", op.summary]
    if op.doc:
        lines += ["", op.doc]
    ports = [
        _port(side, port)
        for side, ports in (("input", op.inputs), ("output", op.outputs))
        for port in ports
    ]
    lines += ["", *table(("port", "element types", "meaning"), ports)]
    if op.attributes:
        head = ("attribute", "type", "default", "meaning")
        lines += ["", *table(head, map(_attribute, op.attributes.values()))]
    if op.signatures:
        rows = [
            _signature(device, signature)
            for device, signatures in op.signatures.items()
            for signature in signatures
        ]
        lines += ["", *table(("device", "stores float32 as", "where"), rows)]
    proofs = [
        (proof.where, proof.what, ", ".join(f"`{test}`" for test in proof.tests))
        for proof in proofs_of(op, catalogue)
    ]
    lines += ["", *table(("device or framework", "types", "tested by"), proofs)]
    return lines


def _signature(device: str, signature: Signature) -> tuple[str, ...]:
    where = ["all its float inputs are"] if signature.follows_inputs else []
    where += [f"constant `{p}` is {how}" for p, how in signature.constants.items()]
    for verb, condition in (("is", signature.when), ("is not", signature.unless)):
        for name, values in condition.items():
            words = " or ".join(f"`{_value(value)}`" for value in values)
            where.append(f"`{name}` {verb} {words}")
    if signature.kernels:
        where.append(f"the {signature.kernels} kernels exist")
    taken = [f"`{port}`" for port in signature.float32_inputs]
    taken += [f"constant `{port}`" for port in signature.float32_constants]
    if taken:
        where.append(f"{', '.join(taken)} may be float32")
    floats = ", ".join(dtype.value for dtype in signature.floats)
    return device, floats, "; ".join(where)


def _port(side: str, port: Port) -> tuple[str, ...]:
    notes = [
        word
        for word, holds in (
            ("optional", port.optional),
            ("constant", port.constant),
            ("one or more", port.variadic),
        )
        if holds
    ]
    meaning = "; ".join([*notes, *([port.doc] if port.doc else [])])
    types = ", ".join(dtype.value for dtype in port.types)
    if port.quantized:
        types += "; quantized: " + ", ".join(dtype.value for dtype in port.quantized)
    return f"{side} `{port.name}`", types, meaning


def _attribute(attribute: Attribute) -> tuple[str, ...]:
    default = "required" if attribute.required else f"`{_value(attribute.default)}`"
    kind = attribute.kind.value
    if attribute.size is not None:
        kind = f"{attribute.size} {kind}"
    meaning = [attribute.doc] if attribute.doc else []
    if attribute.kind is AttributeKind.ENUM:
        meaning.append(", ".join(f"`{word}`" for word in attribute.values))
    if attribute.min is not None:
        meaning.append(f"at least {attribute.min}")
    if attribute.max is not None:
        meaning.append(f"at most {attribute.max}")
    return f"`{attribute.name}`", kind, default, "; ".join(meaning)


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(str(v) for v in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = page_parser(
        "mace.python.tools.catalogue.table", "Print the operator reference."
    )
    add_custom_ops_flag(parser)
    args = parser.parse_args(argv)
    try:
        write_page(operator_table(default_catalogue()), args.output)
    except MaceError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main())
