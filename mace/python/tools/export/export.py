# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a graph to `.pb` and `.data`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from mace.python.installation import VERSION
from mace.python.tools.catalogue import AttributeKind, Packing, default_catalogue
from mace.python.tools.errors import MaceError
from mace.python.tools.export.constants import ConstantPlan, DataFile, WrittenConstant
from mace.python.tools.export.packing import Layout
from mace.python.tools.export.storage import Storage, StoredInEightBits
from mace.python.tools.importers.frame.errors import UnsupportedNodes
from mace.python.tools.ir import DataFormat, DataType, Graph, Op, Value
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.ir.shapes import NHWC_TO_NCHW, permute, to_ints
from mace.python.tools.ir.subgraphs import assign_rest
from mace.python.tools.ir.verify import op_problems
from mace.python.tools.proto import load_proto

# With this many digits, a collision in a thousand names happens once in a million
# models.
_DIGITS = 8


class Names:
    """Maps names of the graph to names in the file.

    Args:
        obfuscate: replace names by the start of their MD5 sum, so that a
            shipped model does not tell how it was built. No protection of
            the weights.
        keep: names an application uses: inputs and outputs of the model.
    """

    def __init__(self, obfuscate: bool, keep: Iterable[str]) -> None:
        self._obfuscate = obfuscate
        self._names = {name: name for name in keep}
        self._taken = set(self._names)

    def __call__(self, name: str) -> str:
        """The name in the file; '' stays ''."""
        if not self._obfuscate or not name:
            return name
        if name not in self._names:
            digest = hashlib.md5(name.encode("utf-8")).hexdigest()
            length = _DIGITS
            while digest[:length] in self._taken:
                length += 1
            self._names[name] = digest[:length]
            self._taken.add(digest[:length])
        return self._names[name]


# The first format versions that have a layout (mace/proto/README.md).
FORMAT_VERSIONS = {
    Layout.PLAIN: 1,
    Layout.PACKED_O16: 1,
    Layout.PACKED_O16_PAIRS: 2,
    Layout.PACKED_O16_SCALED: 3,
    Layout.PACKED_N16_FOURS: 5,
    Layout.PACKED_O16_FOURS: 7,
}
# The first version that has states, and that has quantized operators.
_STATES_VERSION = 4
_QUANTIZED_VERSION = 6
_PROTO = "mace/proto/mace.proto"


class ExportError(MaceError):
    """The graph cannot be written as a model."""


@dataclass(frozen=True)
class InputSignature:
    """An input or output as the application uses it.

    Its element type is the graph's: the engine converts between floating types.

    Attributes:
        data_format: its order of dimensions, NHWC or NCHW; taken where the
            graph says that the tensor is an image, else NONE is written.
        alias: another name for it.
        value_range: lowest and highest value, for quantization.
        largest: of an input, its shape with upper limits; empty if it has none.
        means, scales: of an input that the model normalises; for information.
    """

    data_format: DataFormat = DataFormat.NHWC
    alias: str = ""
    value_range: tuple[float, float] | None = None
    largest: tuple[int, ...] = ()
    means: tuple[float, ...] = ()
    scales: tuple[float, ...] = ()


OutputSignature = InputSignature


@dataclass(frozen=True)
class ExportOptions:
    """How to write a model.

    Attributes:
        storage: type of large weights.
        pairs: lay bfloat16 weights out for bfloat16 arithmetic.
        eight_bit_weights: store large weights of convolutions (not depthwise)
            and fully connected layers in 8 bits, whatever `storage` says.
        whatever_size: of small weights too, so that no operator lacks the type
            for arithmetic in it.
        obfuscate: replace names, see `Names`.
        hints: fields of `DeploymentHints`.
        inputs, outputs: by name.
        states: by the name of an input, the output that it becomes.
        constants: what inputs hold that are constants, for people; empty: none are.
        source_sha256: of the files that the model comes from, and of these constants.
        external_sources: path and SHA-256 of the files that these name.
    """

    storage: Storage = Storage.FLOAT32
    pairs: bool = False
    eight_bit_weights: bool = False
    whatever_size: bool = False
    obfuscate: bool = False
    hints: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, InputSignature] = field(default_factory=dict)
    outputs: Mapping[str, OutputSignature] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    constants: str = ""
    source_sha256: Sequence[str] = ()
    external_sources: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Exported:
    """A model as written."""

    # The message `mace.Model`.
    model: Any
    data_size: int
    constants: Sequence[WrittenConstant]

    @property
    def eight_bit(self) -> StoredInEightBits | None:
        """What was stored in 8 bits; None if nothing was."""
        stored = [(c, c.noise.sqnr_db) for c in self.constants if c.noise]
        if not stored:
            return None
        worst, worst_sqnr_db = min(stored, key=lambda item: item[1])
        return StoredInEightBits(
            tensors=len(stored),
            float_bytes=sum(4 * c.planned.constant.size for c, _ in stored),
            stored_bytes=sum(c.size for c, _ in stored),
            worst=worst.planned.name,
            worst_sqnr_db=worst_sqnr_db,
        )


def export_model(
    graph: Graph, options: ExportOptions, data_stream: IO[bytes]
) -> Exported:
    """Writes the constants to `data_stream` and returns the message.

    The caller writes `model.SerializeToString(deterministic=True)`.

    Args:
        graph: rewritten by the passes: channels last, catalogue operators.
            Operators without a subgraph get one, where the graph has any.

    Raises:
        UnsupportedNodesError: operators that are not as the catalogue says.
    """
    check_supported(graph)
    assign_rest(graph)
    proto = load_proto(_PROTO)
    border = [v.name for v in (*graph.inputs, *graph.outputs)]
    names = Names(options.obfuscate, border)
    plan = ConstantPlan(
        graph,
        options.storage,
        pairs=options.pairs,
        eight_bit=options.eight_bit_weights,
        whatever_size=options.whatever_size,
    )
    data = DataFile(data_stream)
    written = [data.write(planned) for planned in plan]
    data.finish()
    model = proto.Model(
        format_version=max(
            [
                _STATES_VERSION if options.states else 1,
                _QUANTIZED_VERSION if any(map(is_quantized, graph.ops)) else 1,
                *(FORMAT_VERSIONS[c.layout] for c in written),
            ]
        ),
        name=graph.name,
        producer=_producer(graph, options),
        inputs=[_border(proto, graph, v, options.inputs) for v in graph.inputs],
        outputs=[_border(proto, graph, v, options.outputs) for v in graph.outputs],
        operators=[
            _operator(proto, op, plan, names, options.obfuscate) for op in graph.ops
        ],
        constants=[_constant(proto, entry, names) for entry in written],
        data_size=data.size,
        data_crc32=data.crc32,
        hints=proto.DeploymentHints(**options.hints),
        source_sha256=options.source_sha256,
        external_sources=[
            proto.SourceFile(path=path, sha256=sha256)
            for path, sha256 in options.external_sources
            if not options.obfuscate
        ],
        # The deployment gives the names of inputs and outputs.
        states=[
            proto.State(input=name, output=becomes)
            for name, becomes in options.states.items()
        ],
        subgraphs=[proto.Subgraph(name=name) for name in graph.subgraphs],
        devices=graph.target.devices,
    )
    return Exported(model, data.size, written)


def check_supported(graph: Graph) -> None:
    """Raises UnsupportedNodesError with every operator MACE cannot run."""
    unsupported = UnsupportedNodes(graph.name)
    for op in graph.ops:
        problems = op_problems(op)
        if problems:
            source = next((v.source for v in op.outputs if v.source), op.name)
            unsupported.add(source, op.type, "; ".join(problems))
    unsupported.raise_if_any()


def _producer(graph: Graph, options: ExportOptions) -> str:
    """The program, the framework, and what of the model is fixed, for people."""
    fixed = f", with {options.constants}" if options.constants else ""
    return f"mace-converter {VERSION} ({graph.framework}{fixed})"


def _border(
    proto: Any, graph: Graph, value: Value, signatures: Mapping[str, InputSignature]
) -> Any:
    signature = signatures.get(value.name, InputSignature())
    if value.shape is None:
        raise ExportError(
            f"the rank of {value.name!r} is not known; "
            "give its shape in the deployment file"
        )
    shape, data_format = value.shape, DataFormat.NONE
    if graph.formats[value.name] is DataFormat.NHWC:
        data_format = signature.data_format
        if data_format is DataFormat.NCHW:
            shape = permute(shape, NHWC_TO_NCHW)
    return proto.ValueInfo(
        name=value.name,
        shape=to_ints(shape),
        data_type=data_type_number(proto, value.dtype),
        data_format=getattr(proto, f"DF_{data_format.value}"),
        alias=signature.alias,
        range=signature.value_range or (),
        largest_shape=signature.largest,
        means=signature.means,
        scales=signature.scales,
        quantization=_quantization(proto, value),
    )


def _quantization(proto: Any, value: Value) -> Any:
    """The message; None for a value that is not quantized."""
    found = value.quantization
    if found is None:
        return None
    return proto.Quantization(
        scales=found.scales, zero_points=found.zero_points, axis=found.axis
    )


def _output_quantization(proto: Any, op: Op, value: Value) -> Any:
    """Likewise of an output; empty for one that is not quantized."""
    message = _quantization(proto, value)
    if message is None:
        return proto.Quantization()
    if is_quantized(op):
        message.data_type = data_type_number(proto, value.dtype)
    return message


def data_type_number(proto: Any, dtype: DataType) -> int:
    """The number of an element type in the file."""
    return int(getattr(proto, f"DT_{dtype.name}"))


def _operator(
    proto: Any, op: Op, plan: ConstantPlan, names: Names, obfuscate: bool
) -> Any:
    inputs = []
    for index, value in enumerate(op.inputs):
        if value is None:
            inputs.append("")
        elif value.is_constant:
            inputs.append(names(plan.name(op, index)))
        else:
            inputs.append(names(value.name))
    sources = [v.source or "" for v in op.outputs]
    has_sources = any(sources) and not obfuscate
    known = all(v.shape is not None for v in op.outputs)
    return proto.Operator(
        name=names(f"op:{op.name}") if obfuscate else op.name,
        type=op.type,
        inputs=inputs,
        outputs=[names(v.name) for v in op.outputs],
        attributes=[_attribute(proto, op, name) for name in sorted(op.attrs)],
        source_outputs=sources if has_sources else (),
        source_axes=[
            proto.Shape(dims=(v.source and v.source_axes) or ())
            for v in op.outputs
            if has_sources
        ],
        output_shapes=[
            proto.Shape(dims=to_ints(v.shape or ())) for v in op.outputs if known
        ],
        output_types=[data_type_number(proto, v.dtype) for v in op.outputs],
        output_quantization=[
            _output_quantization(proto, op, v)
            for v in op.outputs
            if any(other.quantization for other in op.outputs)
        ],
        subgraph=op.subgraph or 0,
    )


def _attribute(proto: Any, op: Op, name: str) -> Any:
    kind = default_catalogue()[op.type].attributes[name].kind
    value: Any = op.attrs[name]
    result = proto.Attribute(name=name)
    if kind in (AttributeKind.INT, AttributeKind.BOOL):
        result.i = int(value)
    elif kind is AttributeKind.FLOAT:
        result.f = value
    elif kind is AttributeKind.INTS:
        # Set even if the list is empty: an absent oneof would mean no value.
        result.ints.SetInParent()
        result.ints.values.extend(value)
    elif kind is AttributeKind.FLOATS:
        result.floats.SetInParent()
        result.floats.values.extend(value)
    else:
        result.s = value
    return result


def _constant(proto: Any, entry: WrittenConstant, names: Names) -> Any:
    form = entry.planned.form
    return proto.Constant(
        name=names(entry.planned.name),
        dims=entry.planned.constant.shape,
        data_type=data_type_number(proto, entry.dtype),
        layout=getattr(proto, f"CL_{entry.layout.name}"),
        groups=form.groups if form.packed is Packing.FILTER else 0,
        offset=entry.offset,
        size=entry.size,
        quantization=_quantization(proto, entry.planned.value),
    )
