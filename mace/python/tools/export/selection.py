# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The operators that a library for certain models needs.

    python -m mace.python.tools.export.selection \
        [--models FILE.pb,...] [--ops TYPE,...] [--quantize] [--custom_ops DIR,...]

prints their names in mace/ops, as depth_to_space, joined by commas: the
value of the Bazel flag --//mace/ops:only. For tools/build-standalone-lib.sh.
Parts, kernels that only some models need, are named as operators are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.catalogue.loader import OPS_DIR, load_catalogue
from mace.python.tools.custom_ops import add_custom_ops_flag
from mace.python.tools.data_type import DataType, Precision
from mace.python.tools.errors import MaceError
from mace.python.tools.export.model_file import attribute_value
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Graph, Op, Value
from mace.python.tools.ir.op_rules import (
    FEW_CHANNELS,
    FIVE_WIDE,
    WINOGRAD,
    rules_of,
)
from mace.python.tools.proto import load_proto
from mace.python.tools.wording import nearest

_PROTO = "mace/proto/mace.proto"

INT8_WEIGHTS = "Int8Weights"
# Before the type of an operator that computes in quantized numbers.
QUANTIZED = "Quantized"
# The part that all of these need.
QUANTIZED_KERNELS = "quantized"
# Products of activations of 16 bits.
INT16 = "Int16"
# The parts of mace/ops/BUILD.bazel that are named, as users name them.
PARTS = {
    FEW_CHANNELS: "few_channels",
    FIVE_WIDE: "five_wide",
    INT16: "int16",
    INT8_WEIGHTS: "int8_weights",
    WINOGRAD: "winograd_transforms",
}


class SelectionError(MaceError):
    """The models or operators of a selection are invalid."""


def model_types(path: Path) -> set[str]:
    """The operator types of a converted model, and the parts it needs.

    Raises:
        SelectionError: the file is missing, unreadable or has no operators.
    """
    proto = load_proto(_PROTO)
    message = proto.Model()
    try:
        message.ParseFromString(path.read_bytes())
    except (OSError, DecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SelectionError(
            f"{path} can't be read as a converted model (.pb): {reason}"
        ) from error
    types = {_type(operator) for operator in message.operators}
    if not types:
        raise SelectionError(f"{path} has no operators: is it a converted model (.pb)?")
    if any(c.layout == proto.CL_PACKED_O16_SCALED for c in message.constants):
        types.add(INT8_WEIGHTS)
    if any(
        q.data_type == proto.DT_INT16
        for operator in message.operators
        for q in operator.output_quantization
    ):
        types.add(INT16)
    kernels = _kernels(message)
    types |= kernels if message.hints.winograd else kernels - {WINOGRAD}
    if _precision(path, message.hints.data_type).computes_in_half:
        # The engine uses it for conversions, and it links kernels for 16 bits.
        types.add("Cast")
    return types


def _type(operator: Any) -> str:
    known = default_catalogue().ops.get(operator.type)
    quantized = (
        known is not None
        and known.can_be_quantized
        and any(q.scales for q in operator.output_quantization[:1])
    )
    return QUANTIZED + operator.type if quantized else str(operator.type)


def _precision(path: Path, data_type: str) -> Precision:
    known = [item.value for item in Precision]
    if data_type and data_type not in known:
        raise SelectionError(
            f"{path} asks for data_type {data_type!r}, which this release does not "
            f"know; it knows {', '.join(known)}: convert the model again"
        )
    return Precision(data_type or Precision.FP32_FP32)


def _kernels(message: Any) -> set[str]:
    """The kernels that the operators' rules name, see `OpRules.kernels`."""
    known = default_catalogue().ops
    shapes = {constant.name: tuple(constant.dims) for constant in message.constants}
    return {
        name
        for operator in message.operators
        if operator.type in known and _type(operator) == operator.type
        for name in rules_of(operator.type).kernels(_op(operator, shapes))
    }


def _op(operator: Any, shapes: Mapping[str, tuple[int, ...]]) -> Op:
    """The operator in a graph of its own; its constants have only shapes."""
    graph = Graph("selection", "mace")
    values: dict[str, Value] = {}
    for name in filter(None, dict.fromkeys(operator.inputs)):
        if name in shapes:
            data = Constant(shapes[name], DataType.FLOAT32, _no_data)
            values[name] = graph.add_constant(name, data)
        else:
            values[name] = graph.add_value(name, DataType.FLOAT32, None)
    inputs = [values.get(name) for name in operator.inputs]
    # As the converter inferred it; empty if nothing is known.
    shape = None
    if operator.output_shapes and operator.output_shapes[0].dims:
        shape = tuple(d if d >= 0 else None for d in operator.output_shapes[0].dims)
    outputs = [graph.add_value("y", DataType.FLOAT32, shape)]
    attrs = {a.name: attribute_value(operator.type, a) for a in operator.attributes}
    return graph.add_op(operator.type, inputs, outputs, attrs, operator.name)


def _no_data() -> Array:
    raise AssertionError("a selection reads no weights")


def select_rooms(types: Iterable[str], ops_dir: Path = OPS_DIR) -> tuple[str, ...]:
    """The names of these operator types and the parts in mace/ops, sorted.

    Raises:
        SelectionError: names every type that this release does not compute.
    """
    places = _places(ops_dir)
    computed = {
        kind: place.name for kind, place in places.items() if any(_sources(place))
    } | PARTS
    quantized = {
        QUANTIZED + kind: f"{place.name}_quantized"
        for kind, place in places.items()
        if _quantized_source(place).exists()
    }
    computed |= quantized
    unknown = sorted(set(types) - computed.keys())
    if unknown:
        lines = []
        for kind in unknown:
            near = nearest(kind, computed)
            lines.append(f"\n  {kind}" + (f" (did you mean {near}?)" if near else ""))
        raise SelectionError(
            "this release does not compute these operators:" + "".join(lines)
        )
    selected = {computed[kind] for kind in types}
    if quantized.keys() & set(types):
        selected.add(QUANTIZED_KERNELS)
    return tuple(sorted(selected))


def with_quantized(types: Iterable[str], ops_dir: Path = OPS_DIR) -> set[str]:
    """The operator types, each also in quantized numbers where there is such a one.

    With the operators at the borders of a quantized model, and products of 16 bits, if
    there is any.
    """
    places = _places(ops_dir)
    named = set(types)
    quantized = {
        QUANTIZED + kind
        for kind in named
        if kind in places and _quantized_source(places[kind]).exists()
    }
    others = {"Quantize", "Dequantize", INT16}
    return named | quantized | (others if quantized else set())


def _places(ops_dir: Path) -> dict[str, Path]:
    """What the files of each operator type begin with, as mace/ops/gather/gather_nd,
    with those of users' own."""
    own = ops_dir == OPS_DIR
    catalogue = default_catalogue() if own else load_catalogue(ops_dir)
    return {
        kind: catalogue.custom.get(kind, ops_dir / catalogue.rooms[kind]) / name
        for kind, name in catalogue.names.items()
    }


def _quantized_source(place: Path) -> Path:
    return place.with_name(f"{place.name}_quantized.cc")


def _sources(place: Path) -> Iterable[Path]:
    # As in mace/ops/rooms.bzl: a folder without sources only has a declaration.
    return (
        path
        for path in place.parent.glob("*.cc")
        if not path.name.endswith(("_test.cc", "_benchmark.cc"))
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(description="Selects operators for a library.")
    parser.add_argument("--models", default="", help="converted models (.pb)")
    parser.add_argument("--ops", default="", help="operator types")
    parser.add_argument(
        "--quantize", action="store_true", help="--ops also in quantized numbers"
    )
    add_custom_ops_flag(parser)
    args = parser.parse_args(argv)
    try:
        types = {kind.strip() for kind in args.ops.split(",") if kind.strip()}
        if args.quantize:
            types = with_quantized(types)
        problems = []
        for name in args.models.split(","):
            if not name.strip():
                continue
            try:
                types |= model_types(Path(name.strip()))
            except SelectionError as error:
                problems.append(str(error))
        if problems:
            raise SelectionError("\n".join(problems))
        if not types:
            raise SelectionError("no model and no operator is named")
        sys.stdout.write(",".join(select_rooms(types)) + "\n")
    except MaceError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main())
