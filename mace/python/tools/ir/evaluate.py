# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Types, values and constants of operators by their rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mace.python.tools.catalogue import ControlFlow
from mace.python.tools.errors import MaceError
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Graph, Op, Value
from mace.python.tools.ir.loops import control_of, guards_of, loops_of
from mace.python.tools.ir.op_rules import OutputType, rules_of
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.ir.shapes import MAX_RANK, product, static

# Shapes are short; a longer tensor contains data.
_MOST_DIMS = 64


class ShapeError(MaceError):
    """The inputs of an operator do not match each other or its attributes."""


def infer_op(op: Op) -> list[OutputType]:
    """Infers the outputs of an operator.

    Raises:
        ShapeError: the inputs do not fit; names operator, inputs and reason.
    """
    rules = rules_of(op.type)
    try:
        found = rules.infer(op)
        for output in found:
            if output.shape is not None and len(output.shape) > MAX_RANK:
                raise ValueError(
                    f"the output would have {len(output.shape)} dimensions; at most "
                    f"{MAX_RANK} are supported"
                )
        if is_quantized(op):
            # The model says which integers stand for the numbers.
            found = [
                replace(output, dtype=value.dtype)
                for output, value in zip(found, op.outputs)
            ]
        return found
    except ValueError as error:
        shapes = ", ".join(f"{v.name} {v.shown_shape}" for v in op.inputs if v)
        raise ShapeError(
            f"{op.type} {op.name!r}: {error} (inputs: {shapes})"
        ) from error


def update_outputs(op: Op) -> None:
    """Writes the result of `infer_op` to the outputs of `op`."""
    for value, found in zip(op.outputs, infer_op(op)):
        value.dtype, value.shape = found.dtype, found.shape
    if len(op.outputs) == 1:
        op.output.dims = _dims(op)
    for value, quantization in zip(op.outputs, infer_quantization(op)):
        # If the operator's rules say nothing, the quantization of the framework's model
        # applies.
        value.quantization = quantization or value.quantization


def _dims(op: Op) -> Array | None:
    """The elements of the output if they follow from shapes, some of which are open."""
    shape = static(op.output.shape)
    if shape is None or math.prod(shape) > _MOST_DIMS:
        return None
    # What depends only on constants is computed.
    follows = any(value is not None and value.dims is not None for value in op.inputs)
    if not follows and op.type != "Shape":
        return None
    found = rules_of(op.type).symbolic(op, [_elements(v) for v in op.inputs])
    return None if found is None else np.asarray(found, object).reshape(shape)


def _elements(value: Value | None) -> Array | None:
    if value is None:
        return None
    if value.constant is None:
        return value.dims
    if value.constant.size > _MOST_DIMS:
        return None
    if value.dtype not in (DataType.INT32, DataType.BOOL):
        return None
    return value.numpy().astype(object)


def infer_quantization(op: Op) -> list[Quantization | None]:
    """The quantization of each output by the rules of its producer; None if unknown."""
    return rules_of(op.type).quantization(op)


def state_quantization(value: Value, quantization: Quantization) -> None:
    """Sets what the integers of a value stand for, and of what operators move of it."""
    value.quantization = quantization
    for op, _ in value.uses:
        for output, known in zip(op.outputs, infer_quantization(op)):
            if known is not None and known != output.quantization:
                state_quantization(output, known)


# Runs operators and graphs in plain NumPy.
#
# Slow and simple on purpose: it is the reference for tests of passes, and it folds
# constants. The formulas are in the operators' folders.


def evaluate_op(op: Op, inputs: Sequence[Array | None]) -> list[Array]:
    """The outputs of one operator, in the inferred types."""
    rules = rules_of(op.type)
    with np.errstate(all="ignore"):
        compute = rules.evaluate_quantized if is_quantized(op) else rules.evaluate
        results = compute(op, inputs)
        return [
            np.asarray(array, dtype=value.dtype.numpy)
            for array, value in zip(results, op.outputs)
        ]


def run_graph(
    graph: Graph,
    inputs: Mapping[str, Array],
    fetch: Sequence[str] | None = None,
) -> dict[str, Array]:
    """Runs a sorted graph.

    Args:
        graph: whose operators are in order.
        inputs: an array for each input by name, in the shape it has in this
            graph.
        fetch: values wanted; None: the outputs.
    """
    names = [v.name for v in graph.outputs] if fetch is None else fetch
    known: dict[str, Array] = dict(inputs)
    ops = list(graph.ops)
    loops = loops_of(ops)
    ends, begins = {end: begin for begin, end in loops}, dict(loops)
    guards = guards_of(ops, {graph.values[name] for name in names})
    place: dict[Op | None, int] = {op: index for index, op in enumerate(ops)}
    left = {v.name: len(v.uses) for v in graph.values.values()}

    def made(value: Value) -> Array:
        if loops and value.name not in known:  # in a loop without rounds
            return _nothing(value)
        return known[value.name]

    index = 0
    while index < len(ops):
        op = ops[index]
        if any(
            place.get(condition.producer, -1) < index
            and bool(known[condition.name].any()) is not wanted
            for condition, wanted in guards.get(op, ())
        ):
            results = [_nothing(value) for value in op.outputs]
        else:
            arrays = [
                None if v is None else (v.numpy() if v.is_constant else made(v))
                for v in op.inputs
            ]
            results = evaluate_op(op, arrays)
        if index in ends:
            _collect(op, results, known)
        for value, array in zip(op.outputs, results):
            known[value.name] = array
        if index in begins and not results[0]:
            index = begins[index]  # to its end
            continue
        if index in ends and results[0]:
            index = ends[index] + 1
            _hand_on(ops[index - 1], op, known)
            continue
        index += 1
        for used in () if loops else op.inputs:
            if used is None or used.is_constant:
                continue
            left[used.name] -= 1
            if not left[used.name] and used.name not in names:
                del known[used.name]
    return {
        name: known[name] if name in known else graph.values[name].numpy()
        for name in names
    }


def _nothing(value: Value) -> Array:
    """In place of what a run does not compute."""
    shape = [dim if isinstance(dim, int) else 1 for dim in value.shape or ()]
    return np.zeros(shape, value.dtype.numpy)


def _hand_on(begin: Op, end: Op, known: dict[str, Array]) -> None:
    """Makes the results of a round the states of the next one."""
    for state, result in zip(begin.outputs[2:], end.outputs[1:]):
        known[state.name] = known[result.name]
    step = begin.outputs[1].name
    known[step] = known[step] + np.ones_like(known[step])


def _collect(end: Op, results: list[Array], known: Mapping[str, Array]) -> None:
    """Keeps what earlier rounds have collected."""
    step = int(known[end.input(1).name])
    for index in range(1 + end.attr("states"), len(results)):
        before = known.get(end.outputs[index].name)
        if before is not None:
            results[index][:step] = before[:step]


_INT32 = np.iinfo(np.int32)
# Results with more elements are kept only if they are not larger than the operands; a
# broadcast filled tensor would otherwise inflate the model file.
_ALWAYS_FOLD_ELEMENTS = 1 << 16
_LARGEST_GROWTH = 4


def fold_op(graph: Graph, op: Op) -> bool:
    """Converts the outputs of `op` to constants if they are known. Large results are
    computed only when they are needed.
    """
    if control_of(op.type) not in (ControlFlow.NONE, ControlFlow.CHOICE):
        return False  # each round has other values; no run may take what fails
    known = rules_of(op.type).known_outputs(op)
    if known is not None:
        graph.make_constants(op, known)
        return True
    if _is_settled(op):
        value = op.output
        settled = Constant.of(np.asarray(value.dims, value.dtype.numpy))
        graph.make_constants(op, [settled])
        return True
    if not op.inputs or any(v is not None and not v.is_constant for v in op.inputs):
        return False
    saturated = bool(saturated_operands(op))
    if saturated and computes_with_integers(op):
        return False  # of other numbers than the model's; see importers/frame/errors.py
    before = sum(v.constant.size for v in op.inputs if v and v.constant)
    after = 0
    for value in op.outputs:
        size = product(value.shape or (None,))
        if size is None and value.shape != ():
            return False
        after += size or 0
    if after > max(_ALWAYS_FOLD_ELEMENTS, _LARGEST_GROWTH * before):
        return False
    try:
        results = _results(op, small=after <= _ALWAYS_FOLD_ELEMENTS)
    except (ArithmeticError, IndexError, ValueError):
        # If the operator reports that the value cannot be computed, it would fail at
        # run time too, unless its result is not needed.
        return False
    integers = rules_of(op.type).integers(op)
    if integers is not None:
        results = [replace(results[0], integers=integers)]
    if saturated:
        results = [replace(result, saturated=_at_limits(result)) for result in results]
    graph.make_constants(op, results)
    return True


def saturated_operands(op: Op) -> list[Value]:
    """Constants of the operator with integers that 32 bits cannot hold."""
    return [
        value
        for value in op.inputs
        if value is not None and value.constant is not None and value.constant.saturated
    ]


def computes_with_integers(op: Op) -> bool:
    """Whether the results are other numbers than the operands. The largest integer
    stands for any larger one where it only says how far something goes.
    """
    if op.type == "Cast":
        return op.output.dtype is DataType.FLOAT32
    divides = op.type == "Eltwise" and op.attr("mode") == "FLOOR_MOD"
    return divides or op.type == "Bitwise" or rules_of(op.type).can_exceed(op)


def _at_limits(constant: Constant) -> bool:
    if constant.dtype is not DataType.INT32:
        return False
    return bool(np.isin(constant.numpy(), (_INT32.min, _INT32.max)).any())


def _is_settled(op: Op) -> bool:
    """Whether what is computed of open dimensions is the same in every run."""
    if len(op.outputs) != 1 or op.output.dims is None:
        return False
    return all(isinstance(dim, int) for dim in op.output.dims.flat)


def _results(op: Op, small: bool) -> list[Constant]:
    sources = [v.constant if v else None for v in op.inputs]
    # The operator is removed from the graph; the recipe keeps a copy of what it needs.
    frozen = Op(op.name, op.type, op.attrs)
    frozen._outputs = list(op.outputs)

    def compute() -> list[Array]:
        return evaluate_op(frozen, [s.numpy() if s else None for s in sources])

    if small:
        return [Constant.of(np.asarray(a, order="C")) for a in compute()]
    constants = []
    for index, value in enumerate(op.outputs):
        shape = static(value.shape)
        assert shape is not None
        constants.append(
            Constant(shape, value.dtype, lambda i=index: compute()[i])  # type: ignore[misc]
        )
    return constants
