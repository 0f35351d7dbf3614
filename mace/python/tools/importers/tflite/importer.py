# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Imports a network: chooses its operators, and reports problems.

A quantized tensor is two values: its integers, which have the name of the tensor, and
the floats that Dequantize makes of them. Handlers compute in floats; passes of the
converter make integer operators of what is between Dequantize and Quantize.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mace.python.tools.importers.emit.control_flow import Choice, while_loop
from mace.python.tools.importers.frame.budget import budget
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodeError,
    UnsupportedNodes,
    missing_inputs,
    refusal_of,
    static_hint,
    unknown_tensor,
)
from mace.python.tools.importers.frame.journal import NodeEntry, Outcome
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
    add_output,
    border_type,
)
from mace.python.tools.importers.tf_operators.context import Item
from mace.python.tools.importers.tflite.complex_parts import (
    BY_PARTS,
    OF_PARTS,
    ComplexParts,
    numbers_of,
)
from mace.python.tools.importers.tflite.context import (
    ACTIVATIONS,
    HANDLERS,
    Context,
    Handler,
)
from mace.python.tools.importers.tflite.least_operators import LeastOperators
from mace.python.tools.importers.tflite.reader import (
    COMPLEX64,
    ELEMENT_TYPES,
    FLOAT32,
    STEPS,
    VARIABLE,
    Network,
    Operator,
    Scales,
    Tensor,
    type_name,
)
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import state_quantization
from mace.python.tools.ir.graph import DataFormat, Graph, Value
from mace.python.tools.ir.op_rules.quantization import known_quantization
from mace.python.tools.ir.quantization import QUANTIZED_TYPES

_CONTROL = frozenset({"CALL_ONCE", "STABLEHLO_CASE", "STABLEHLO_WHILE"})
# Operators whose results are those of other subgraphs.
STRUCTURES = ("CALL", "IF", "STABLEHLO_COMPOSITE", "WHILE")
_VARIABLES = frozenset({"ASSIGN_VARIABLE", "READ_VARIABLE", "VAR_HANDLE"})
# Layers that get all steps at once; their states are 0 when a run begins.
_SEQUENCES = ("_SEQUENCE_LSTM", "_SEQUENCE_RNN")
_DEEPEST = 16
# Further activations by their number in the schema: min(max(x, -1), 1), and signs.
_LIMITS, _SIGN_BIT = 2, 5


def build(request: ImportRequest, network: Network) -> Graph:
    """See `importers.frame.opened.Framework`."""
    return _Import(request, network).run()


@dataclass
class _Values:
    """The values of a tensor.

    Attributes:
        stored: as the file stores it; integers if it is quantized.
        floats: what they stand for; None: not asked for yet.
    """

    stored: Value
    floats: Value | None = None


class _Import:
    """One import: the file's network and the values created from it so far."""

    def __init__(self, request: ImportRequest, network: Network) -> None:
        self.request = request
        self.network = self.whole = network
        self.builder = request.builder("tflite")
        self.by_name = {t.name: i for i, t in enumerate(network.tensors)}
        self.values: dict[int, _Values] = {}
        self.unsupported = UnsupportedNodes(str(request.model_path), request.journal)
        # Outputs of operators that could not be converted.
        self.unknown: set[int] = set()
        # Inside loops and branches: how deep, and constants of their subgraphs.
        self.depth = self.unrolled = 0
        self.constants: dict[int, dict[int, _Values]] = {}
        self.complex = ComplexParts(self.builder)
        self.least = LeastOperators(network.subgraphs)

    def run(self) -> Graph:
        outputs = [self._find("output_tensors", o.name) for o in self.request.outputs]
        for spec in self.request.inputs:
            self._add_input(spec)
        for operator in self._needed(outputs):
            if any(index in self.values for index in operator.outputs):
                continue  # given by an input
            name = self.network.tensors[operator.outputs[0]].name
            journal, graph = self.request.journal, self.builder.graph
            with journal.node(name, _kind(operator), graph) as entry:
                self._convert(operator, name, entry)
        self.unsupported.raise_if_any()
        for index, output in zip(outputs, self.request.outputs):
            self._add_output(index, output)
        return self.unsupported.finish(self.builder.graph)

    def _find(self, key: str, name: str) -> int:
        if name not in self.by_name:
            known = [
                self.network.tensors[i].name
                for i in (*self.network.inputs, *self.network.outputs)
            ]
            # Weights have names, too, that nobody means.
            computed = [t.name for t in self.network.tensors if not t.buffer.size]
            known += [n for n in computed if n not in known]
            raise unknown_tensor(key, name, self.request.model_path, known)
        return self.by_name[name]

    # Inputs and outputs of the model ----------------------------------------

    def _add_input(self, spec: InputSpec) -> None:
        index = self._find("input_tensors", spec.name)
        tensor = self.network.tensors[index]
        try:
            dtype = tensor.dtype
        except UnsupportedNodeError as error:
            raise ImportModelError(f"input_tensors: {error.reason}") from None
        value = self.request.add_input(
            self.builder,
            spec,
            tensor.shape,
            DataFormat.NHWC,
            dtype=dtype,
            # Operators compute with integers of 16 bits that stand for floats.
            widen=tensor.quantization is None,
        )
        self.values[index] = _Values(value)

    def _add_output(self, index: int, output: OutputSpec) -> None:
        try:
            value = self._of(index).stored
            if self.network.tensors[index].number == COMPLEX64:
                raise UnsupportedNodeError("complex numbers")
        except UnsupportedNodeError as error:
            raise ImportModelError(
                f"output_tensors: {output.name!r}: {error.reason}"
            ) from error
        tensor = self.network.tensors[index]
        wanted = border_type(tensor.dtype, output)
        if value.dtype is DataType.INT16 and wanted is not DataType.INT16:
            # As the application gets them.
            inputs = [value, self._constant(np.float32(1)), self._constant(np.int16(0))]
            numbers = self.builder.one("Dequantize", inputs)
            value = self.builder.one("Cast", [numbers], None, {"to": "INT32"})
        add_output(self.builder, value, output, DataFormat.NHWC, tensor.dtype)

    # Operators ----------------------------------------------------------------

    def _needed(self, outputs: Sequence[int]) -> list[Operator]:
        """The operators that the outputs need, in the order of the file, in which
        they run.
        """
        made: dict[int, int] = {}
        for number, operator in enumerate(self.network.operators):
            for index in operator.outputs:
                if index in made:
                    name = self.network.tensors[index].name
                    raise ImportModelError(
                        f"model_file_path: {self.request.model_path} is damaged: two "
                        f"operators make {name}; export the model again"
                    )
                made[index] = number
        needed: set[int] = set()
        waiting = [index for index in outputs if index not in self.values]
        while waiting:
            number = made.get(waiting.pop(), -1)
            if number < 0 or number in needed:
                continue
            needed.add(number)
            sources = self.network.operators[number].inputs
            waiting += [i for i in sources if i >= 0 and i not in self.values]
        self._check_inputs(needed, outputs, made)
        return [self.network.operators[number] for number in sorted(needed)]

    def _check_inputs(
        self, needed: set[int], outputs: Sequence[int], made: Mapping[int, int]
    ) -> None:
        read = {i for n in needed for i in self.network.operators[n].inputs if i >= 0}
        missing = [
            self.network.tensors[index].name
            for index in self.network.inputs
            if index in read | set(outputs)
            and index not in self.values
            and index not in made
        ]
        if missing:
            raise missing_inputs(missing)

    def _convert(self, operator: Operator, name: str, entry: NodeEntry) -> None:
        if self.unknown.intersection(operator.inputs):
            self.unknown.update(operator.outputs)
            entry.outcome = Outcome.NOT_REACHED
            return  # caused by an operator that is already in the table
        refusal = refusal_of(lambda: self._call(operator))
        if refusal is not None:
            self._refuse(operator, name, refusal.reason, refusal.hint)

    def _refuse(
        self, operator: Operator, name: str, reason: str, hint: str = ""
    ) -> None:
        self.unsupported.add(name, _kind(operator), reason, hint)
        self.unknown.update(operator.outputs)
        if self.request.check_all:
            self._stand_in(operator)

    def _stand_in(self, operator: Operator) -> None:
        """Gives the outputs of a refused operator the types and shapes that the file
        states, so that the operators that read them can be checked.
        """
        for index in operator.outputs:
            tensor = self.network.tensors[index]
            if tensor.number not in ELEMENT_TYPES or min(tensor.shape, default=0) < -1:
                continue
            shape = tuple(
                f"{tensor.name}:{axis}" if dim < 0 else dim
                for axis, dim in enumerate(tensor.shape)
            )
            free = self.builder.graph.unique_name(tensor.name)
            value = self.builder.graph.add_value(free, tensor.dtype.narrowed, shape)
            self.values[index] = _Values(value)
            self.unknown.discard(index)

    def _call(self, operator: Operator) -> None:
        if operator.type == "WHILE":
            self._loop(operator)
            return
        if operator.type == "IF":
            self._branch(operator)
            return
        if operator.type in STRUCTURES:
            # A composite is an operator that some runtimes have, and others compute as
            # its subgraph says.
            subgraph = self._subgraph(operator, "subgraph")
            given = self._read_by(operator, 0, subgraph)
            self._become(operator, self._inside(subgraph, given, len(operator.outputs)))
            return
        handler = HANDLERS.find(_kind(operator))
        if handler is None:
            raise UnsupportedNodeError(*_why(operator))
        activation = _activation(operator)
        tensors = [self.network.tensors[i] for i in operator.outputs]
        self._check_plain(operator)
        sources = [
            None if i < 0 or self._is_state(operator, i) else self._of(i)
            for i in operator.inputs
        ]
        inputs = [
            None if source is None else self._floats(source, index)
            for source, index in zip(sources, operator.inputs)
        ]
        if operator.type in BY_PARTS and self._is_complex(operator):
            self._by_parts(operator, handler, inputs)
            return
        if operator.type in OF_PARTS and inputs[0] is not None:
            inputs = [*self.complex.split(inputs[0])]
        final = [
            not (activation or self.depth or _is_quantized(tensor))
            for tensor in tensors
        ]
        names = [
            tensor.name
            if is_final
            else self.builder.graph.unique_name(f"{tensor.name}/{self._suffix()}")
            for tensor, is_final in zip(tensors, final)
        ]

        def rounded(value: Value, place: int) -> Value:
            index = operator.inputs[place] if place < len(operator.inputs) else -1
            return value if index < 0 else self._rounded(value, index)

        stored = [None if source is None else source.stored for source in sources]
        context = Context(
            operator, self.builder, inputs, stored, tensors, names, rounded
        )
        with (
            self.builder.counted.require_reads(inputs),
            self.builder.results_of(
                lambda: [ELEMENT_TYPES.get(tensor.number) for tensor in tensors]
            ),
        ):
            handler(context)
        for number, index in enumerate(operator.outputs):
            value = context.results.get(number)
            if not isinstance(value, Value):
                raise UnsupportedNodeError(f"output {number} is not computed")
            if not final[number] and value.source == value.name:
                value.source = None  # no tensor of the framework's
            self._set(index, self._activated(value, activation, tensors[number]))

    def _is_complex(self, operator: Operator) -> bool:
        indices = [i for i in (*operator.inputs, *operator.outputs) if i >= 0]
        return any(self.network.tensors[i].number == COMPLEX64 for i in indices)

    def _by_parts(
        self, operator: Operator, handler: Handler, inputs: Sequence[Value | None]
    ) -> None:
        """Computes with the real and the imaginary parts of complex numbers."""
        kinds = self.network.tensors
        is_complex = {i for i, kind in enumerate(kinds) if kind.number == COMPLEX64}
        tensors = [
            replace(kinds[i], number=FLOAT32) if i in is_complex else kinds[i]
            for i in operator.outputs
        ]
        divided = [
            self.complex.split(value)
            if value is not None and index in is_complex
            else None
            for index, value in zip(operator.inputs, inputs)
        ]
        has_both = any(divided) and not is_complex.isdisjoint(operator.outputs)
        found: list[Mapping[int, Item]] = []
        for part in range(2 if has_both else 1):
            given = [
                value if parts is None else parts[part]
                for value, parts in zip(inputs, divided)
            ]
            unique = self.builder.graph.unique_name
            names = [unique(f"{t.name}/{self._suffix()}") for t in tensors]
            context = Context(operator, self.builder, given, given, tensors, names)
            with self.builder.counted.require_reads(given):
                handler(context)
            found.append(context.results)
        for number, index in enumerate(operator.outputs):
            results = [result.get(number) for result in found]
            values = [value for value in results if isinstance(value, Value)]
            if len(values) != len(found):
                raise UnsupportedNodeError(f"output {number} is not computed")
            for value in values:
                value.source = None  # a part of the framework's tensor
            value, imag = values[0], values[1] if has_both else None
            if index in is_complex:
                value = self.complex.join(value, imag, kinds[index].name)
            self._set(index, value)

    def _check_plain(self, operator: Operator) -> None:
        """Refuses complex numbers, and states that the deployment does not name."""
        tensors = self.network.tensors
        for index in operator.inputs:
            if index < 0:
                continue
            is_complex = tensors[index].number == COMPLEX64
            if is_complex and operator.type not in OF_PARTS | BY_PARTS:
                raise UnsupportedNodeError("complex numbers")
            if operator.type not in STEPS or tensors[index].problem != VARIABLE:
                continue
            name = tensors[index].name
            readers = [o for o in self.network.operators if index in o.inputs]
            after = self.network.states.get(index)
            if len(readers) != 1 or after is None:
                raise UnsupportedNodeError(f"several operators change {name}")
            if index not in self.values:
                becomes = tensors[after].name
                raise UnsupportedNodeError(
                    f"{name} is a state that lasts from one run to the next",
                    f"name it in input_tensors, {becomes} in output_tensors, and write "
                    f"states: {{{name}: {becomes}}}; init writes all three",
                )

    def _is_state(self, operator: Operator, index: int) -> bool:
        """Whether a tensor is a state that begins at 0."""
        is_variable = self.network.tensors[index].problem == VARIABLE
        is_sequence = operator.type.endswith(_SEQUENCES)
        return is_sequence and is_variable and index not in self.values

    def _activated(self, value: Value, activation: int, tensor: Tensor) -> Value:
        name = None if _is_quantized(tensor) or self.depth else tensor.name
        if activation == _LIMITS:
            least, most = (self._constant(np.float32(bound)) for bound in (-1, 1))
            value = self.builder.one("Eltwise", [value, least], None, {"mode": "MAX"})
            return self.builder.one("Eltwise", [value, most], name, {"mode": "MIN"})
        attrs = ACTIVATIONS[activation]
        return self.builder.one("Activation", [value], name, attrs) if attrs else value

    # Loops and branches ---------------------------------------------------------

    def _loop(self, operator: Operator) -> None:
        """The nodes of all steps, one after another."""
        condition = self._subgraph(operator, "cond_subgraph_index")
        body = self._subgraph(operator, "body_subgraph_index")
        state = self._read_by(operator, 0, condition, body)
        rounds = self.least.check_rounds(condition, body, state)
        before = budget().added
        for number in itertools.count():
            if number == 1 and rounds is not None:
                budget().check_rest(before, rounds - 1)
            (found,) = self._inside(condition, state, 1)
            if not found.is_constant:
                state = while_loop(
                    self.builder,
                    f"{operator.type}_{number}",
                    state,
                    lambda values, place: self._inside(condition, values, 1)[0],
                    lambda values, place: self._inside(body, values, len(values)),
                    [
                        index
                        for index, pair in enumerate(zip(body.inputs, body.outputs))
                        if pair[0] == pair[1]
                    ],
                )
                break
            if not np.asarray(found.numpy()).reshape(-1)[:1].any():
                break
            state = self._inside(body, state, len(state))
        self._become(operator, state)

    def _branch(self, operator: Operator) -> None:
        """The nodes of the branch that is taken; of both, if each run decides."""
        branches = [
            self._subgraph(operator, f"{name}_subgraph_index")
            for name in ("then", "else")
        ]
        given = self._read_by(operator, 1, *branches)
        condition, count = self._of(operator.inputs[0]).stored, len(operator.outputs)
        if condition.is_constant:
            taken = bool(np.asarray(condition.numpy()).reshape(-1)[:1].any())
            self._become(operator, self._inside(branches[not taken], given, count))
            return
        choice = Choice(self.builder, condition, operator.type)
        yes, no = choice.both(
            *(partial(self._inside, branch, given, count) for branch in branches)
        )
        hint = static_hint(condition, "")
        self._become(operator, choice.results(yes, no, hint))

    def _subgraph(self, operator: Operator, option: str) -> Network:
        index, subgraphs = int(operator.options[option]), self.whole.subgraphs
        if not 0 < index < len(subgraphs):
            raise UnsupportedNodeError(f"subgraph {index} of {len(subgraphs)}")
        return subgraphs[index]

    def _read_by(
        self, operator: Operator, skip: int, *subgraphs: Network
    ) -> list[Value]:
        """The inputs of an operator that its subgraphs get."""
        indices = operator.inputs[skip:]
        if skip > len(operator.inputs) or min(operator.inputs, default=-1) < 0:
            raise UnsupportedNodeError("an input is missing")
        for subgraph in subgraphs:
            if len(subgraph.inputs) != len(indices):
                raise UnsupportedNodeError(
                    f"{len(indices)} inputs for a subgraph of {len(subgraph.inputs)}"
                )
        return [self._of(index).stored for index in indices]

    def _inside(
        self, subgraph: Network, given: Sequence[Value], count: int
    ) -> list[Value]:
        """The results of a subgraph; its nodes are added."""
        if len(subgraph.outputs) != count:
            raise UnsupportedNodeError(
                f"a subgraph with {len(subgraph.outputs)} results, not {count}"
            )
        if self.depth >= _DEEPEST:
            raise UnsupportedNodeError(f"subgraphs are nested {_DEEPEST} deep")
        if self.depth == 0:
            budget().check_nodes(self.least.of(subgraph), "its subgraphs")
        outside = self.network, self.values
        constants = self.constants.setdefault(id(subgraph), {})
        self.network, self.values = subgraph, dict(constants)
        self.values.update(zip(subgraph.inputs, map(_Values, given)))
        self.depth += 1
        try:
            needed = self._needed(subgraph.outputs)
            budget().add_nodes(max(1, len(needed)), "its subgraphs, with others,")
            for operator in needed:
                self._call_inside(operator)
            constants.update(
                (index, values)
                for index, values in self.values.items()
                if subgraph.tensors[index].buffer.size
            )
            return [self._of(index).stored for index in subgraph.outputs]
        finally:
            self.depth -= 1
            self.network, self.values = outside

    def _suffix(self) -> str:
        # Each step has its own, since looking for a free name takes long.
        return f"step{self.unrolled}" if self.depth else "floats"

    def _call_inside(self, operator: Operator) -> None:
        self.unrolled += 1
        refusal = refusal_of(lambda: self._call(operator))
        if refusal is None:
            return
        reason = refusal.reason
        if not reason.startswith("inside, "):
            reason = f"inside, {_kind(operator)}: {reason}"
        raise UnsupportedNodeError(reason, refusal.hint)

    def _become(self, operator: Operator, results: Sequence[Value]) -> None:
        if len(operator.outputs) != len(results):
            raise UnsupportedNodeError(
                f"{len(operator.outputs)} outputs for {len(results)} results"
            )
        for index, value in zip(operator.outputs, results):
            self.values[index] = _Values(value)

    # Values -------------------------------------------------------------------

    def _of(self, index: int) -> _Values:
        """The values of a tensor that is an input, a constant or computed."""
        if index not in self.values:
            tensor = self.network.tensors[index]
            is_empty = 0 in tensor.shape
            if not (tensor.buffer.size or is_empty or tensor.problem):
                raise UnsupportedNodeError(
                    f"{tensor.name} is computed by no operator before it",
                    "export the model again",
                )
            self.values[index] = _Values(self._read(tensor))
        return self.values[index]

    def _read(self, tensor: Tensor) -> Value:
        """A constant."""
        if tensor.number == COMPLEX64:
            return self.builder.constant(tensor.name, numbers_of(tensor.array()))
        array = tensor.array()
        graph = self.builder.graph
        if _is_quantized(tensor) and array.dtype == np.int16:
            return graph.add_constant(tensor.name, array)
        if tensor.quantization is not None and array.dtype == np.int64:
            bounds = np.iinfo(np.int32)
            if array.size and not (
                bounds.min <= array.min() and array.max() <= bounds.max
            ):
                raise UnsupportedNodeError(
                    f"{tensor.name} has integers beyond those of 32 bits"
                )
        value = self.builder.constant(tensor.name, array)
        value.source = tensor.name
        return value

    def _set(self, index: int, value: Value) -> None:
        """Makes a result a tensor of the file."""
        tensor = self.network.tensors[index]
        is_float = value.dtype is DataType.FLOAT32
        if tensor.number == COMPLEX64 and is_float:
            self.values[index] = _Values(value)
            return
        if not _is_quantized(tensor) or not is_float:
            kinds = (tensor.dtype, tensor.dtype.narrowed)
            if value.dtype not in kinds:
                raise UnsupportedNodeError(
                    f"{tensor.name} is of {type_name(tensor.number)}, but is computed "
                    f"in {value.dtype.value}"
                )
            self.values[index] = _Values(value)
            return
        stored, _ = self._quantized(value, tensor, None if self.depth else tensor.name)
        self.values[index] = _Values(stored)

    def _quantized(
        self, value: Value, tensor: Tensor, name: str | None = None
    ) -> tuple[Value, tuple[Value, Value]]:
        """The integers of a tensor for floats, and the parameters of both."""
        scales, dtype = _scales(tensor), tensor.dtype
        parameters, axis = self._parameters(scales, dtype, tensor)
        attrs = {"to": dtype.value.upper(), "axis": axis}
        inputs = [value, *parameters]
        stored = self.builder.one("Quantize", inputs, name, attrs, tensor.name)
        return stored, parameters

    def _rounded(self, value: Value, index: int) -> Value:
        """What is left of floats in the integers of a tensor."""
        tensor = self.network.tensors[index]
        if not _is_quantized(tensor):
            return value
        stored, parameters = self._quantized(value, tensor)
        return self.builder.one("Dequantize", [stored, *parameters])

    def _floats(self, values: _Values, index: int) -> Value:
        """What a tensor stands for."""
        tensor = self.network.tensors[index]
        if values.floats is None:
            values.floats = self._dequantized(values.stored, tensor)
        return values.floats

    def _dequantized(self, value: Value, tensor: Tensor) -> Value:
        scales = tensor.quantization
        if scales is None or value.dtype not in QUANTIZED_TYPES:
            return value
        if value.dtype is DataType.INT32 and not (
            value.is_constant or tensor.dtype is DataType.INT16
        ):
            return value
        parameters, axis = self._parameters(scales, value.dtype, tensor)
        if value.is_constant:
            stated = known_quantization(value, *parameters, axis)
            if stated is not None:
                state_quantization(value, stated)
        name, attrs = f"{tensor.name}/floats", {"axis": axis}
        inputs = [value, *parameters]
        result = self.builder.one("Dequantize", inputs, None, attrs, name)
        if tensor.dtype is not DataType.INT16 or value.dtype is not DataType.INT32:
            return result
        # An input of the application, which MACE computes in as int16.
        stored, parameters = self._quantized(result, tensor)
        return self.builder.one("Dequantize", [stored, *parameters], None, None, name)

    def _parameters(
        self, scales: Scales, dtype: DataType, tensor: Tensor
    ) -> tuple[tuple[Value, Value], int]:
        """The inputs of Quantize and Dequantize, and their axis."""
        bounds = np.iinfo(dtype.numpy)
        zeros = np.asarray(scales.zeros)
        if not (bounds.min <= zeros.min() and zeros.max() <= bounds.max):
            raise UnsupportedNodeError(
                f"the zero point of {tensor.name} does not fit into {dtype.value}"
            )
        if not (np.isfinite(scales.scales).all() and (scales.scales > 0).all()):
            raise UnsupportedNodeError(
                f"a scale of {tensor.name} is not finite and above 0"
            )
        if scales.scales.size > 1 and not 0 <= scales.axis < len(tensor.shape):
            raise UnsupportedNodeError(
                f"{tensor.name} has scales along axis {scales.axis} of "
                f"{len(tensor.shape)}"
            )
        stored = zeros.astype(dtype.numpy)
        one = scales.scales.size == 1
        return (
            self._constant(scales.scales.reshape(-1)),
            self._constant(stored.reshape(-1)),
        ), 0 if one else scales.axis

    def _constant(self, array: np.generic | Array) -> Value:
        graph = self.builder.graph
        return graph.add_constant(graph.unique_name("parameter"), np.asarray(array))


def _kind(operator: Operator) -> str:
    """The type of an operator for people."""
    return f"{operator.type} {operator.custom}".rstrip()


def _is_quantized(tensor: Tensor) -> bool:
    """Whether operators compute its integers."""
    if tensor.quantization is None:
        return False
    return tensor.dtype in (DataType.INT8, DataType.UINT8, DataType.INT16)


def _scales(tensor: Tensor) -> Scales:
    scales = tensor.quantization
    assert scales is not None
    if scales.scales.size > 1:
        raise UnsupportedNodeError(
            f"{tensor.name} is computed with a scale for each channel"
        )
    return scales


def _activation(operator: Operator) -> int:
    """The activation that follows."""
    number = int(operator.options.get("activation", 0))
    if number == _SIGN_BIT:
        raise UnsupportedNodeError("the activation is SIGN_BIT")
    if number not in (*ACTIVATIONS, _LIMITS):
        raise UnsupportedNodeError(f"activation {number} is not known")
    return number


def _why(operator: Operator) -> tuple[str, str]:
    kind = operator.type
    if kind in _CONTROL:
        return "control flow", "convert the model without calls of subgraphs"
    if kind in _VARIABLES:
        return "a variable", "convert the model with its variables as constants"
    if operator.custom:
        return (
            "a custom operator",
            "name the tensors in front of it in output_tensors, and compute it in "
            "the application, or convert it with a handler of your own (custom_ops)",
        )
    return "operator not supported", HANDLERS.similar(kind)
