# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that every case of ONNX's conformance suite is correct or refused: by the
reference and, where it can be built, in the native engine.
"""

from __future__ import annotations

import collections
import functools
import inspect
from pathlib import Path

import pytest

from mace.python.tools.importers.onnx.node import HANDLERS
from test.conformance.native import has_bazel, native
from test.conformance.onnx import cases as kept
from test.conformance.onnx.cases import KINDS, Case, load_cases
from test.conformance.onnx.runner import (
    Chosen,
    Executor,
    Result,
    Verdict,
    run_case,
    run_reference,
)

# Slightly less than the current counts, so that losing an operator fails.
_FEWEST_PASSED = {
    "node": 1605,
    "pytorch-converted": 82,
    "pytorch-operator": 35,
    "simple": 7,
}


@functools.cache
def _engine() -> Chosen:
    return Chosen(native("host"))


@functools.cache
def _results(kind: str) -> tuple[tuple[Case, Result], ...]:
    executors: dict[str, Executor] = {"the reference": run_reference}
    if has_bazel():
        executors["the engine"] = _engine()
    return tuple((case, run_case(case, executors)) for case in load_cases(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_no_case_is_wrong(kind: str) -> None:
    results = _results(kind)
    wrong = [
        f"{case.name}: {result.reason}"
        for case, result in results
        if result.verdict is Verdict.WRONG
    ]
    assert not wrong, "\n".join(wrong)
    kept.keep_operators({case.name: result.types for case, result in results})
    counts = collections.Counter(result.verdict.value for _, result in results)
    print(f"{kind}: {dict(counts)}")
    assert counts["passed"] >= _FEWEST_PASSED[kind]


def test_the_engine_ran_them() -> None:
    engine = _engine()
    for kind in KINDS:
        _results(kind)
    # Few have no inputs; most have several variants.
    assert engine.runs >= sum(_FEWEST_PASSED.values())


def test_every_handler_passes_a_case() -> None:
    passed = {
        op_type
        for kind in KINDS
        for case, result in _results(kind)
        if result.verdict is Verdict.PASSED
        for op_type in case.op_types
    }
    # Operators without a case in the suite must be tested by their handler's test.
    untried = [op for op in HANDLERS.types() if op not in passed and not _tried(op)]
    assert not untried


def _tried(op_type: str) -> bool:
    handler = HANDLERS.find(op_type)
    assert handler is not None
    source = Path(inspect.getfile(handler))
    test = source.with_name(f"{source.stem}_test.py")
    return test.is_file() and f'"{op_type}"' in test.read_text("utf-8")


def test_refusals_name_a_node_and_a_reason() -> None:
    for case, result in _results("node"):
        if result.verdict is Verdict.UNSUPPORTED and "cannot be conv" in result.reason:
            rows = result.reason.splitlines()[3:]
            assert rows, case.name
            for row in rows:
                assert len(row.split("  ")) > 2, case.name
