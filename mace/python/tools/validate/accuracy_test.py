# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The accuracy script: batches, its result and its mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.validate.accuracy import (
    AccuracyScriptError,
    run_accuracy_script,
)
from mace.python.tools.validate.metrics import Array

# Sample i is the number i; a right model says whether it is odd.
_SCRIPT = """
import numpy as np

class AccuracyValidator:
    def __init__(self):
        self.right = 0
        self.batches = []
    def sample_size(self):
        return 5
    def batch_size(self):
        return 2
    def preprocess(self, begin, end):
        return {"x": np.arange(begin, end, dtype=np.float32)}
    def postprocess(self, begin, end, outputs):
        self.batches.append((begin, end))
        truth = np.arange(begin, end) % 2
        self.right += int(np.sum(outputs["odd"] == truth))
    def result(self):
        return f"{self.right / 5} {self.batches}"
"""


def _model(inputs: Mapping[str, Array]) -> Mapping[str, Array]:
    odd = inputs["x"] % 2
    odd[inputs["x"] == 3] = 0  # wrong once
    return {"odd": odd}


def _write(tmp_path: Path, text: str) -> Path:
    script = tmp_path / "script.py"
    script.write_text(text)
    return script


def test_runs_every_sample_once(tmp_path: Path) -> None:
    result = run_accuracy_script(_write(tmp_path, _SCRIPT), ("x",), _model)
    assert result == "0.8 [(0, 2), (2, 4), (4, 5)]"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("np.arange(begin, end, ", "np.nonsense(", r"script\.py:13: AttributeError"),
        ('{"x":', '{"y":', r"preprocess\(\) must return a dict .*\['x'\].*\['y'\]"),
        ("def result", "def results", "one class AccuracyValidator"),
        ("return 5", "return 0", "at least 1"),
        ("import numpy", "import no_such_package", "ModuleNotFoundError"),
        ("class A", "clas A", "SyntaxError"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in _SCRIPT
    script = _write(tmp_path, _SCRIPT.replace(old, new))
    with pytest.raises(AccuracyScriptError, match=message):
        run_accuracy_script(script, ("x",), _model)


def test_missing_script(tmp_path: Path) -> None:
    with pytest.raises(AccuracyScriptError, match="absent.py"):
        run_accuracy_script(tmp_path / "absent.py", ("x",), _model)


def test_arrays_reach_the_model_as_arrays(tmp_path: Path) -> None:
    as_list = _SCRIPT.replace(
        "np.arange(begin, end, dtype=np.float32)", "list(range(begin, end))"
    )
    script = _write(tmp_path, as_list)
    seen = []

    def model(inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        seen.append(inputs["x"])
        return {"odd": inputs["x"] % 2}

    run_accuracy_script(script, ("x",), model)
    assert all(isinstance(array, np.ndarray) for array in seen)
