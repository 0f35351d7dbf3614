# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX's cases with certain operators, in the native engine of this computer: what a
change of these operators can affect. Without the variable that names them no case runs
here, since backend_test.py runs all.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from test.conformance.native import native
from test.conformance.onnx import cases as kept
from test.conformance.onnx.cases import KINDS, load_cases
from test.conformance.onnx.runner import Chosen, check_cases
from tools.quality.test_steps import OPS_VARIABLE

_TYPES = frozenset(filter(None, os.environ.get(OPS_VARIABLE, "").split(",")))


def test_operators_are_kept_until_a_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_KEPT", tmp_path / "build" / "kept.json")
    assert kept.known_operators() == {}
    kept.keep_operators({"a": ["Conv2D", "Softmax"]})
    kept.keep_operators({"b": []})
    assert kept.known_operators() == {"a": {"Conv2D", "Softmax"}, "b": set()}
    monkeypatch.setattr(kept, "_key", lambda: "of another source")
    assert kept.known_operators() == {}
    kept.keep_operators({"b": ["Reduce"]})
    assert kept.known_operators() == {"b": {"Reduce"}}
    (tmp_path / "build" / "kept.json").write_text('{"of": "of another source"}')
    assert kept.known_operators() == {}


if _TYPES:

    @pytest.mark.parametrize("kind", KINDS)
    def test_cases_with_these_operators(kind: str) -> None:
        known = kept.known_operators()
        executor = Chosen(native("host"), _TYPES)
        cases = [
            case for case in load_cases(kind) if known.get(case.name, _TYPES) & _TYPES
        ]
        results = check_cases(cases, {"the engine": executor})
        kept.keep_operators({name: result.types for name, result in results.items()})
        print(f"{executor.runs} graphs of {len(cases)} cases have {sorted(_TYPES)}")
