# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one conformance case through import, passes and executors.

In many cases, filters, axes or shapes are inputs of the model, although they are
constants in real models. MACE refuses them at run time, so a case is tried unchanged
and then with inputs converted to initializers, in this order:

1. as it is;
2. integer and boolean inputs after the first frozen (axes, shapes, indices);
3. all inputs after the first frozen (weights);
4. for loops and ranges, inputs of rank 0, the first one included (their steps);
5. for windows and the like, all inputs (their sizes), which give constants.

Each variant that can be imported must be right. The case is unsupported only
if none can be.
"""

from __future__ import annotations

import collections
import enum
import itertools
import tempfile
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import MALFORMED
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.ir.builder import narrow
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat, Graph, Target
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, NHWC_TO_NCHW
from mace.python.tools.passes.manager import optimize
from test.conformance.onnx.cases import Array, Case

# Operators whose number of steps is often their first input.
_LOOPS = frozenset({"Loop", "Range"})
# What they compute depends on sizes alone.
_OF_SIZES = frozenset(
    {
        "BlackmanWindow",
        "ConstantOfShape",
        "HammingWindow",
        "HannWindow",
        "MelWeightMatrix",
    }
)

# Values by name; inputs and outputs in the order of the framework.
Executor = Callable[[Graph, "Mapping[str, Array]"], "dict[str, Array]"]


class Verdict(enum.Enum):
    """How a case ended."""

    PASSED = "passed"
    UNSUPPORTED = "unsupported"
    WRONG = "wrong"


@dataclass(frozen=True)
class Result:
    """How a case ended.

    Attributes:
        reason: of another verdict than that it passed.
        variants: how many passed.
        types: of the operators that any of these has after the passes.
    """

    verdict: Verdict
    reason: str = ""
    variants: int = 0
    types: frozenset[str] = frozenset()


_CPU = Target(("CPU",))
# What becomes an operator that other devices lack.
_COMPOSITES = frozenset({"Attention", "AveragePool", "LpPool", "MaxPool"})


class Chosen:
    """Runs graphs by an executor, and counts them.

    Args:
        executor: of the graphs that have an operator of these types.
        types: without any, all graphs; others are left to the reference.

    Attributes:
        runs: how many graphs the executor ran.
    """

    def __init__(self, executor: Executor, types: Set[str] = frozenset()) -> None:
        self._executor = executor
        self._types = types
        self.runs = 0

    def __call__(self, graph: Graph, feeds: Mapping[str, Array]) -> dict[str, Array]:
        if self._types and self._types.isdisjoint(op.type for op in graph.ops):
            return run_reference(graph, feeds)
        self.runs += 1
        return self._executor(graph, feeds)


def run_case(case: Case, executors: Mapping[str, Executor]) -> Result:
    """Runs every variant of a case: as it was imported by the reference, and after the
    passes by each executor.

    Args:
        case: what to run.
        executors: by the words for it in a reason.
    """
    reason = _not_for_mace(case)
    if reason:
        return Result(Verdict.UNSUPPORTED, reason)
    reasons: list[str] = []
    passed = 0
    types: set[str] = set()
    # With operators that only the CPU has, and without.
    targets = (Target(), _CPU) if _COMPOSITES & set(case.op_types) else (Target(),)
    for frozen, target in itertools.product(_variants(case), targets):
        try:
            graph = _import(case, frozen)
            graph.target = target
        except MaceError as error:
            reasons.append(str(error))
            if MALFORMED in str(error):
                return Result(Verdict.WRONG, str(error))
            continue
        if any(op.type == "Random" for op in graph.ops):
            # Two frameworks draw different numbers.
            reasons.append("it draws random numbers")
            continue
        wrong = _compare_all(case, graph, frozen, executors)
        if wrong:
            return Result(
                Verdict.WRONG, f"with inputs {sorted(frozen)} frozen: {wrong}"
            )
        passed += 1
        types.update(op.type for op in graph.ops)
    if passed:
        return Result(Verdict.PASSED, variants=passed, types=frozenset(types))
    return Result(Verdict.UNSUPPORTED, reasons[0])


def check_cases(
    cases: Sequence[Case], executors: Mapping[str, Executor]
) -> dict[str, Result]:
    """Runs cases, and fails where one is wrong or none passes.

    Returns:
        the results, by the names of the cases; none if there are no cases.
    """
    results = {case.name: run_case(case, executors) for case in cases}
    print(dict(collections.Counter(r.verdict.value for r in results.values())))
    wrong = [
        f"{name}: {result.reason}"
        for name, result in results.items()
        if result.verdict is Verdict.WRONG
    ]
    assert not wrong, "\n".join(wrong)
    assert not cases or any(r.verdict is Verdict.PASSED for r in results.values())
    return results


def _not_for_mace(case: Case) -> str:
    """Why MACE cannot represent the arrays of a case, '' if it can."""
    for array in (*case.inputs, *case.outputs):
        if array is None:
            return "a value is no tensor"
        try:
            DataType.of(array.dtype)
        except ValueError:
            return f"elements of type {array.dtype}"
        if array.dtype.kind in "iu" and array.size:
            bounds = np.iinfo(np.int32)
            if array.max() > bounds.max or array.min() < bounds.min:
                return "integers of more than 32 bits"
    if not case.outputs:
        return "no outputs"
    return ""


def _variants(case: Case) -> list[frozenset[int]]:
    later = range(1, len(case.inputs))
    whole = [i for i in later if _input(case, i).dtype.kind in "iub"]
    variants = [frozenset(), frozenset(whole), frozenset(later)]
    types = {node.op_type for node in case.model.graph.node}
    if _LOOPS & types and _input(case, 0).ndim == 0:
        numbers = [i for i in range(len(case.inputs)) if _input(case, i).ndim == 0]
        variants.append(frozenset(numbers))
    if types <= _OF_SIZES:
        variants.append(frozenset(range(len(case.inputs))))
    return list(dict.fromkeys(variants))


def _input(case: Case, index: int) -> Array:
    array = case.inputs[index]
    assert array is not None
    return array


def _import(case: Case, frozen: frozenset[int]) -> Graph:
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    names = [value.name for value in model.graph.input]
    for index in frozen:
        tensor = onnx.numpy_helper.from_array(_input(case, index), names[index])
        model.graph.initializer.append(tensor)
    inputs = tuple(
        InputSpec(
            names[index],
            array.shape,
            DataType.of(array.dtype),
            _format(array),
        )
        for index, array in enumerate(case.inputs)
        if index not in frozen and array is not None
    )
    outputs = tuple(
        OutputSpec(value.name, _format(array))
        for value, array in zip(model.graph.output, case.outputs)
        if array is not None
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        request = ImportRequest(case.name, path, inputs, outputs)
        return import_model(request)


def as_passed(array: Array) -> Array:
    """As an application passes it: int16 as it is, although it becomes int32."""
    return array if array.dtype == np.int16 else narrow(array)


def _format(array: Array) -> DataFormat:
    return DataFormat.NCHW if array.ndim == 4 else DataFormat.NONE


def _compare_all(
    case: Case,
    graph: Graph,
    frozen: frozenset[int],
    executors: Mapping[str, Executor],
) -> str:
    """The differences, before the passes and after; '' if there are none."""
    feeds = {
        case.model.graph.input[index].name: as_passed(array)
        for index, array in enumerate(case.inputs)
        if index not in frozen and array is not None
    }
    wrong = _compare(case, run_reference(graph, feeds))
    if wrong:
        return f"as imported, {wrong}"
    optimize(graph)
    # A model without inputs is all constants; mace_run takes no such model.
    for name, executor in executors.items():
        wrong = _compare(case, (executor if feeds else run_reference)(graph, feeds))
        if wrong:
            return f"after the passes, by {name}, {wrong}"
    return ""


def run_reference(graph: Graph, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """The reference executor with the framework's order of dimensions."""
    turned = {
        name: array.transpose(NCHW_TO_NHWC)
        if graph.formats.get(name) is DataFormat.NHWC
        else array
        for name, array in feeds.items()
    }
    return {
        name: array.transpose(NHWC_TO_NCHW)
        if graph.formats.get(name) is DataFormat.NHWC
        else array
        for name, array in run_graph(graph, turned).items()
    }


def _compare(case: Case, results: Mapping[str, Array]) -> str:
    rtol, atol = case.rtol, case.atol
    names = {a.dtype.name for a in (*case.inputs, *case.outputs) if a is not None}
    for half, bits in (("float16", 11), ("bfloat16", 8)):
        if half in names:
            # The expected values were rounded to this many bits at every step; MACE
            # computes in float32.
            rtol, atol = (max(t, 2.0 ** (2 - bits)) for t in (rtol, atol))
    for value, expected in zip(case.model.graph.output, case.outputs):
        assert expected is not None
        found, wanted = results[value.name], as_passed(expected)
        if found.dtype != wanted.dtype:
            return f"{value.name} is {found.dtype}, not {wanted.dtype}"
        if found.shape != wanted.shape:
            return f"{value.name} has shape {found.shape}, not {wanted.shape}"
        allowed = atol
        if "DFT" in case.op_types and wanted.size:
            # The expected numbers are sums in float32: where they cancel, what is left
            # is the rounding of the terms.
            allowed = max(atol, float(np.abs(wanted).max()) * 2.0**-22)
        close = np.isclose(found, wanted, rtol, allowed, equal_nan=True)
        if not close.all():
            where = tuple(int(i) for i in np.argwhere(~close)[0])
            return (
                f"{value.name} differs in {int((~close).sum())} of {close.size} "
                f"elements, first at {where}: {found[where]}, not {wanted[where]}"
            )
    return ""
