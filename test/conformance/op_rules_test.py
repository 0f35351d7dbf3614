# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the converter's rules for each operator with the native operator. A native
program runs random cases of every operator, including malformed ones, and writes the
results. The rules (`mace/ops/<room>/<room>.py`) are compared with them: types, shapes,
values, errors, transposes, channels first; and the kernels that they name with those
that the operator uses.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.catalogue import AttributeKind, ControlFlow, default_catalogue
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import (
    ShapeError,
    evaluate_op,
    infer_op,
    update_outputs,
)
from mace.python.tools.ir.graph import DataFormat, Graph, Op, Value
from mace.python.tools.ir.op_rules import WINOGRAD, rules_of
from mace.python.tools.ir.op_rules.images import DATA_FORMAT
from mace.python.tools.ir.op_rules.movement import symbols
from mace.python.tools.ir.shapes import (
    Dim,
    Shape,
    compatible,
    to_channels_first,
    to_channels_last,
)
from mace.python.tools.ir.verify import op_problems
from test.conformance.native import built
from test.conformance.native import native as executor

_TARGET = "//mace/ops/testing:write_random_cases"
_SUCCESS, _OUT_OF_RESOURCES = 0, 2

# As in AllOpsTest, which compares instruction sets: floats are within 4 of zero,
# weights within 1, and few sums have more than a hundred terms.
_ABSOLUTE, _RELATIVE = 1e-5, 1e-4

# There are no random cases of these: the end of a loop takes what its beginning made,
# and every second failure would fail.
_WITHOUT_CASES = (ControlFlow.LOOP_END, ControlFlow.FAILURE)
_OPS = sorted(
    name
    for name, op in default_catalogue().ops.items()
    if op.control not in _WITHOUT_CASES
)
_EVERY_OP = pytest.mark.parametrize("op_type", _OPS)


@dataclass(frozen=True)
class _Tensor:
    """An input or output.

    Attributes:
        kind: of an input: absent, computed, known (before the run, yet no constant
            of the model) or constant.
    """

    kind: str
    dtype: DataType
    array: Array


@dataclass(frozen=True)
class _Case:
    """One case, and the result of the native operator."""

    op_type: str
    attributes: Mapping[str, Any]
    inputs: tuple[_Tensor, ...]
    output_count: int
    code: int
    message: str
    macs: int
    outputs: tuple[_Tensor, ...]

    @property
    def arrays(self) -> list[Array | None]:
        """The inputs in the form for a formula."""
        found = [None if x.kind == "absent" else x.array for x in self.inputs]
        while found and found[-1] is None:
            found.pop()
        return found

    def op(
        self,
        attributes: Mapping[str, Any] | None = None,
        arrays: Sequence[Array | None] | None = None,
        shape: Callable[[Array], Any] = np.shape,
        constant: Sequence[str] = ("constant", "known"),
    ) -> Op:
        """The operator in a separate graph, whose outputs are not inferred.

        Args:
            attributes: instead of its own.
            arrays: instead of its own inputs.
            shape: what is known of the shape of an input that is no constant.
            constant: the kinds of inputs that are.
        """
        graph = Graph("case", "test")
        values: list[Value | None] = []
        for index, array in enumerate(self.arrays if arrays is None else arrays):
            tensor = self.inputs[index]
            if array is None:
                values.append(None)
            elif tensor.kind in constant:
                made = Constant(
                    array.shape, tensor.dtype, functools.partial(_is, array)
                )
                values.append(graph.add_constant(f"x{index}", made))
            else:
                values.append(graph.add_value(f"x{index}", tensor.dtype, shape(array)))
        outputs = [
            graph.add_value(f"y{index}", DataType.FLOAT32, None)
            for index in range(self.output_count)
        ]
        attrs = self.attributes if attributes is None else attributes
        return graph.add_op(self.op_type, values, outputs, attrs, "case")

    def __str__(self) -> str:
        inputs = [
            "-" if x.kind == "absent" else f"{x.kind} {x.dtype.value} {x.array.shape}"
            for x in self.inputs
        ]
        return f"{self.op_type} {dict(self.attributes)} of {'; '.join(inputs)}"


def _is(array: Array) -> Array:
    return array


@functools.cache
def _all_cases() -> Mapping[str, list[_Case]]:
    program = built(_TARGET)
    cases: dict[str, list[_Case]] = {name: [] for name in default_catalogue().ops}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases"
        subprocess.run([program, path], check=True, capture_output=True)
        with path.open("rb") as stream:
            for line in iter(stream.readline, b""):
                case = _read_case(json.loads(line), stream.read)
                cases[case.op_type].append(case)
    return cases


def _read_case(raw: Mapping[str, Any], read: Callable[[int], bytes]) -> _Case:
    declared = default_catalogue()[raw["op"]].attributes

    def attribute(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(value)
        is_bool = name in declared and declared[name].kind is AttributeKind.BOOL
        return bool(value) if is_bool and value in (0, 1) else value

    def tensor(entry: Mapping[str, Any]) -> _Tensor:
        data = read(entry["bytes"])
        if entry.get("kind") == "absent":
            return _Tensor("absent", DataType.FLOAT32, np.zeros(0))
        dtype = DataType(entry["type"])
        if dtype is DataType.BFLOAT16:
            wide = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
            array: Array = wide.view(np.float32)
        else:
            array = np.frombuffer(data, dtype.numpy)
        return _Tensor(entry.get("kind", ""), dtype, array.reshape(entry["shape"]))

    return _Case(
        raw["op"],
        {name: attribute(name, value) for name, value in raw["attributes"].items()},
        tuple(map(tensor, raw["inputs"])),
        raw["output_count"],
        raw["code"],
        raw["message"],
        raw["macs"],
        tuple(map(tensor, raw["outputs"])),
    )


def _computed(op_type: str) -> list[_Case]:
    return [
        case
        for case in _all_cases()[op_type]
        if case.code == _SUCCESS and not _has_wild_weights(case)
    ]


def _has_wild_weights(case: _Case) -> bool:
    # 16-bit values can have any bits. The product of an infinite weight and padding
    # depends on whether padding is multiplied at all, which no operator guarantees.
    return any(
        x.kind == "constant" and x.dtype.is_float and not np.isfinite(x.array).all()
        for x in case.inputs
    )


def _evaluate(op: Op, arrays: Sequence[Array | None]) -> list[Array]:
    update_outputs(op)
    return evaluate_op(op, arrays)


def _assert_close(
    found: Array, wanted: Array, what: object, spread: Array | float = 0.0
) -> None:
    """Compares as closely as the arithmetic allows.

    Args:
        found, wanted: by the rules and by the operator.
        what: the case, for the message.
        spread: how far the result moves when the inputs move by a rounding.
    """
    assert found.shape == wanted.shape, what
    if not np.issubdtype(wanted.dtype, np.floating):
        np.testing.assert_array_equal(found, wanted, err_msg=str(what))
        return
    # 16-bit constants can have any bits, and large ones cancel.
    largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=1)
    with np.errstate(invalid="ignore", over="ignore"):
        allowed = _ABSOLUTE * largest + _RELATIVE * np.abs(wanted) + spread
        off = np.abs(np.float64(found) - np.float64(wanted)) > allowed
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    wild = ~(np.isfinite(found) & np.isfinite(wanted)) | ~np.isfinite(allowed)
    wrong = np.where(wild, ~same & np.isfinite(spread), off)
    assert not wrong.any(), (
        f"{what}: {np.count_nonzero(wrong)} of {wrong.size} differ, as "
        f"{found[wrong][:3]} from {wanted[wrong][:3]}"
    )


def _spread(case: _Case, op: Op, found: Sequence[Array]) -> list[Array | float]:
    """The change of the outputs if the inputs are rounded, computed several times."""
    with np.errstate(invalid="ignore", over="ignore"):
        moved = [
            x * np.float32(1 + 2**-22) if x is not None and x.dtype == np.float32 else x
            for x in case.arrays
        ]
        return [
            8 * np.abs(np.float64(a) - np.float64(b))
            if np.issubdtype(a.dtype, np.floating)
            else 0.0
            for a, b in zip(found, evaluate_op(op, moved))
        ]


@_EVERY_OP
def test_elements_along_an_axis_that_moves_do_not_meet(op_type: str) -> None:
    """What comes of the first ones is the same, whatever the others are."""
    for case in _computed(op_type):
        op = case.op()
        update_outputs(op)
        for axes in _axes_of(case):
            moved = rules_of(op_type).moves_axis(op, axes)
            if moved is None:
                continue
            wanted, changed = _evaluate(op, case.arrays), list(case.arrays)
            for index, axis in axes.items():
                array = case.inputs[index].array
                kept = range(array.shape[axis] // 2)
                places = [at if at in kept else 0 for at in range(array.shape[axis])]
                changed[index] = array.take(places, axis)
            for one, other in zip(wanted, _evaluate(op, changed)):
                assert one.shape[moved] == len(places), case
                _assert_close(other.take(kept, moved), one.take(kept, moved), case)


def _axes_of(case: _Case) -> Iterator[dict[int, int]]:
    """Each axis of each computed input, and of all of them together."""
    ranks = {i: x.array.ndim for i, x in enumerate(case.inputs) if x.kind == "computed"}
    for index, rank in ranks.items():
        yield from ({index: axis} for axis in range(rank))
    if len(ranks) > 1:
        for axis in range(min(ranks.values())):
            lengths = {case.inputs[index].array.shape[axis] for index in ranks}
            if len(lengths) == 1:
                yield dict.fromkeys(ranks, axis)


@pytest.mark.parametrize(
    "op_type", ["Conv2D", "Deconv2D", "DepthwiseConv2d", "DepthwiseDeconv2d", "Pooling"]
)
def test_images_of_a_batch_do_not_meet(op_type: str) -> None:
    for case in _computed(op_type):
        op = case.op()
        update_outputs(op)
        assert rules_of(op_type).moves_axis(op, {0: 0}) == 0


@_EVERY_OP
def test_formula_types_and_shapes_are_those_of_the_operator(op_type: str) -> None:
    cases = _computed(op_type)
    assert len(cases) > 10
    for case in cases:
        op = case.op()
        found = _evaluate(op, case.arrays)
        assert op_problems(op) == [], case
        spread = _spread(case, op, found)
        for value, array, native, by in zip(op.outputs, found, case.outputs, spread):
            assert value.dtype is native.dtype, case
            assert value.shape is not None and None not in value.shape, case
            assert _agree(op_type, value.shape, native.array.shape), case
            _assert_close(array, native.array, case, by)


@_EVERY_OP
def test_every_type_of_the_operator_table_was_computed(op_type: str) -> None:
    computed = {case.outputs[0].dtype for case in _computed(op_type)}
    assert set(default_catalogue()[op_type].outputs[0].types) <= computed


@_EVERY_OP
def test_multiply_accumulates_are_those_of_the_operator(op_type: str) -> None:
    for case in _computed(op_type):
        op = case.op()
        update_outputs(op)
        assert rules_of(op_type).macs(op) == case.macs, case


@_EVERY_OP
def test_results_are_within_the_bounds_that_follow_from_the_inputs(
    op_type: str,
) -> None:
    for case in _computed(op_type):
        op = case.op(constant=["constant"])
        update_outputs(op)
        known = {
            value: (float(array.min()), float(array.max()))
            for value, array in zip(op.inputs, case.arrays)
            if value is not None and array is not None and array.size
            if np.isfinite(array).all()
        }
        bounds = rules_of(op_type).bounds(op, known.get)
        if bounds is None:
            continue
        low, high = bounds
        slack = 1e-3 * max(1.0, abs(low), abs(high))
        for native in case.outputs:
            if native.dtype.is_float:
                assert (native.array >= low - slack).all(), case
                assert (native.array <= high + slack).all(), case


# Their formulas are about images with pixels. Without any, results have none, either.
_WINDOWS = frozenset(
    {
        "Conv2D",
        "Deconv2D",
        "DepthwiseConv2d",
        "DepthwiseDeconv2d",
        "Im2Col",
        "Pooling",
        "VolumePooling",
    }
)


@_EVERY_OP
def test_what_is_known_of_unknown_shapes_is_true(op_type: str) -> None:
    guesses: list[Callable[[Array], Any]] = [
        np.shape,
        lambda array: (None,) * array.ndim,
        lambda array: tuple(f"d{dim}" for dim in array.shape),
        lambda array: None,
    ]
    for case, guess in itertools.product(_computed(op_type), guesses):
        if guess is guesses[2] and op_type in _WINDOWS and 0 in case.arrays[0].shape:
            continue
        op = case.op(shape=guess, constant=["constant"])
        for known, native in zip(infer_op(op), case.outputs):
            assert known.dtype is native.dtype, case
            shape = known.shape
            if shape is not None:
                shape = tuple(map(_number, shape))
            assert _agree(op_type, shape, native.array.shape), case


class _Lengths(dict[str, Any]):
    """The functions of formulas, and the numbers in the names of dimensions."""

    def __missing__(self, name: str) -> int:
        return int(name.removeprefix("d"))


def _number(dim: Dim) -> int | None:
    """The number of a dimension, from the text of its formula."""
    if not isinstance(dim, str):
        return dim
    functions = {"floor": math.floor, "min": min, "max": max}
    names = _Lengths(functions, broadcast=lambda a, b: b if a == 1 else a)
    return int(eval(dim, {}, names))


def _agree(op_type: str, shape: Shape | None, native: tuple[int, ...]) -> bool:
    """Whether a shape is true of a result."""
    if shape is None or not rules_of(op_type).largest_shape:
        return compatible(shape, native)
    return len(shape) == len(native) and all(
        dim >= found for dim, found in zip(shape, native) if isinstance(dim, int)
    )


@_EVERY_OP
def test_what_the_operator_refuses_is_refused(op_type: str) -> None:
    for case in _all_cases()[op_type]:
        # Whether a run computes a value too late, importers find out.
        late = "is not known before the run" in case.message
        if case.code not in (_SUCCESS, _OUT_OF_RESOURCES) and not late:
            assert _is_refused(case), f"{case}: {case.message}"


def _is_refused(case: _Case) -> bool:
    # Computed indices are known when they are folded; an input that must be a constant
    # is refused because it is not one.
    everything = ("computed", "known", "constant")
    return any(_op_is_refused(case.op(constant=c)) for c in (everything, ["constant"]))


def _op_is_refused(op: Op) -> bool:
    # In the order of the importers: attributes, then types, then conditions on both.
    if any("attribute" in problem for problem in op_problems(op)):
        return True
    try:
        update_outputs(op)
    except ShapeError:
        return True
    return op_problems(op) != []


@_EVERY_OP
def test_a_transpose_moves_behind_it(op_type: str) -> None:
    rng = np.random.default_rng(7)
    for case in _computed(op_type):
        rules = rules_of(op_type)
        rank = case.arrays[0].ndim if case.arrays and case.arrays[0] is not None else 0
        moved = [
            i
            for i, array in enumerate(case.arrays)
            if array is not None and (i == 0 or rules.inputs_share_axes)
        ]
        if rank < 2 or any(case.inputs[i].array.ndim != rank for i in moved):
            continue
        perm = tuple(int(axis) for axis in rng.permutation(rank))
        sunk = rules.sink_transpose(case.op(), perm)
        if sunk is None:
            continue
        # The inputs are the results of the transpose; op' gets the transpose's inputs.
        back = np.argsort(perm)
        arrays = [
            array.transpose(back) if i in moved and array is not None else array
            for i, array in enumerate(case.arrays)
        ]
        op = case.op({**case.attributes, **_plain(sunk.attrs)}, arrays)
        plain = _evaluate(case.op(), case.arrays)
        for array, wanted in zip(_evaluate(op, arrays), plain):
            _assert_close(array.transpose(sunk.output_perm), wanted, case)


def _plain(attrs: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in attrs.items()}


@_EVERY_OP
def test_channels_first_is_the_same_transposed(op_type: str) -> None:
    ports = rules_of(op_type).layout_inputs
    for case in _computed(op_type) if ports else []:
        rank = case.inputs[0].array.ndim
        if rank < 3:
            continue
        arrays = [
            array.transpose(to_channels_first(rank))
            if i in ports and array is not None
            else array
            for i, array in enumerate(case.arrays)
        ]
        op = case.op({**case.attributes, DATA_FORMAT: "NCHW"}, arrays)
        assert op_problems(op) == []
        plain = _evaluate(case.op(), case.arrays)
        for array, wanted in zip(_evaluate(op, arrays), plain):
            assert array.shape == op.outputs[0].shape
            _assert_close(array.transpose(to_channels_last(rank)), wanted, case)
        assert rules_of(op_type).macs(op) == case.macs


@_EVERY_OP
def test_what_does_nothing_or_only_reshapes_keeps_the_elements(op_type: str) -> None:
    rules = rules_of(op_type)
    for case in _computed(op_type):
        op = case.op()
        update_outputs(op)
        if len(case.outputs) != 1 or case.arrays[0] is None:
            continue
        x, y = case.arrays[0], case.outputs[0].array
        if rules.is_identity(op):
            _assert_close(x, y, case)
        if rules.only_reshapes:
            _assert_close(x.reshape(-1), y.reshape(-1), case)


@_EVERY_OP
def test_dimensions_are_followed_as_they_are_computed(op_type: str) -> None:
    for case, array in _followed(op_type):
        numbers = array.reshape(-1).tolist()
        wanted = case.outputs[0].array
        assert array.shape == wanted.shape, case
        assert all(
            known is None or known == number
            for known, number in zip(numbers, wanted.reshape(-1).tolist())
        ), case


def _followed(op_type: str) -> Iterator[tuple[_Case, Array]]:
    """Cases with integers, and the results of the symbolic rule for their elements."""
    for case in _computed(op_type):
        integers = all(x.dtype is DataType.INT32 for x in case.inputs if x.array.size)
        if len(case.outputs) != 1 or not (integers or op_type == "Shape"):
            continue
        op = case.op()
        update_outputs(op)
        elements = [
            None if x is None else symbols(x.reshape(-1).tolist()).reshape(x.shape)
            for x in case.arrays
        ]
        result = rules_of(op_type).symbolic(op, elements)
        if result is not None:
            yield case, result


# Kernels that an operator may use ----------------------------------------------------

# Enough channels and pixels for Winograd's method to be chosen if it is possible.
_CHANNELS, _SIZE = 64, 56


@pytest.mark.parametrize(
    ("kernel", "strides", "dilations", "groups"),
    itertools.product(
        [(3, 3), (1, 1), (5, 5), (3, 1), (1, 3)],
        [(1, 1), (2, 2), (1, 2)],
        [(1, 1), (2, 2), (1, 2)],
        [1, 2],
    ),
)
def test_winograd_is_named_where_convolutions_take_it(
    kernel: tuple[int, int],
    strides: tuple[int, int],
    dilations: tuple[int, int],
    groups: int,
) -> None:
    builder = GraphBuilder("m", "test")
    shape = (1, _SIZE, _SIZE, _CHANNELS)
    x = builder.input("x", DataType.FLOAT32, shape, DataFormat.NHWC)
    filters = np.ones((_CHANNELS, *kernel, _CHANNELS // groups), np.float32)
    attrs = {"strides": strides, "dilations": dilations, "groups": groups}
    y = builder.one("Conv2D", [x, builder.constant("w", filters)], "y", attrs)
    builder.output(y, "y", DataFormat.NHWC)
    op = y.producer
    assert op is not None
    feeds = {"x": np.zeros((1, _CHANNELS, _SIZE, _SIZE), np.float32)}
    taken = executor("host").kernels(builder.graph, feeds)[op.name]
    named = WINOGRAD in rules_of("Conv2D").kernels(op)
    assert ("winograd" in taken) == named, taken
