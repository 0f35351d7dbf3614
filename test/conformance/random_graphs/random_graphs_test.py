# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A sample of random graphs; `python -m test.conformance.random_graphs` runs more, and
`python -m test.conformance.random_graphs.control_flow` of loops and choices.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest

import mace
from mace.python.runtime.library import library_path
from mace.python.tools.errors import MaceError
from test.conformance.native import built
from test.conformance.random_graphs import judge as judging
from test.conformance.random_graphs.apart import judge_apart
from test.conformance.random_graphs.judge import Stage, Verdict

_ROOT = Path(__file__).resolve().parents[3]
_COUNT = 60
# Of the graphs; the rest is refused, or the references differ.
_LEAST_EQUAL = 0.4


@pytest.fixture(scope="module", autouse=True)
def library() -> None:
    """Of this computer; other steps of the tests have built it, too."""
    try:
        library_path()
    except MaceError:
        script = ["bash", "tools/build-standalone-lib.sh", "-abi=host"]
        subprocess.run(script, cwd=_ROOT, check=True)


def test_a_sample_of_graphs(tmp_path: Path) -> None:
    """Other graphs each time; a line that is printed draws a graph again."""
    seed = secrets.randbelow(10**6)
    print(f"--seed {seed}")
    results = list(judge_apart(seed, range(_COUNT), tmp_path))
    wrong = [result.line() for result in results if result.verdict is Verdict.WRONG]
    assert not wrong, "\n".join(wrong)
    found = Counter(result.verdict for result in results)
    assert found[Verdict.EQUAL] >= _LEAST_EQUAL * _COUNT, found


@pytest.mark.parametrize(
    ("stage", "verdict"),
    [(Stage.MACE, Verdict.WRONG), (Stage.REFERENCES, Verdict.NOT_DECIDED)],
)
def test_a_graph_may_end_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stage: Stage, verdict: Verdict
) -> None:
    """The graphs after it are judged all the same."""
    dies = f"""#!{sys.executable}
import json, os, signal, sys
numbers = json.loads(sys.stdin.readline())
for number in numbers:
    print(json.dumps({{"stage": "{stage.name}"}}), flush=True)
    if number == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    told = {{"precision": "fp32_fp32", "verdict": "EQUAL", "reason": ""}}
    print(json.dumps({{**told, "operators": ["Relu"]}}), flush=True)
"""
    program = tmp_path / "python"
    program.write_text(dies, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    results = list(judge_apart(5, range(3), tmp_path))
    assert [result.seed for result in results] == [(5, 0), (5, 1), (5, 2)]
    equal = Verdict.EQUAL
    assert [result.verdict for result in results] == [equal, verdict, equal]
    assert results[1].reason == f"{stage.value} ended the process: signal SIGSEGV"


def test_a_wrong_result_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    x = np.array([1.0, -2.0, 3.0], np.float32)
    value = onnx.helper.make_tensor_value_info
    kind = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [node], "g", [value("x", kind, [3])], [value("y", kind, None)]
    )
    opsets = [onnx.helper.make_opsetid("", 21)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
    assert judging._verdict(model, {"x": x}, "fp32_fp32") == (Verdict.EQUAL, "")

    class Loaded:
        def __enter__(self) -> Loaded:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def run(self, feeds: object) -> dict[str, object]:
            return {"y": x}

    monkeypatch.setattr(mace, "load", lambda *_, **__: Loaded())
    verdict, reason = judging._verdict(model, {"x": x}, "fp32_fp32")
    assert verdict is Verdict.WRONG
    assert reason == "y: error 0.667, bound 0.0001"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([1.0, np.inf, 2.0], 0.0),
        ([1.0, np.inf, 2.5], 0.25),
        ([1.0, -np.inf, 2.0], np.inf),
        ([np.nan, np.inf, 2.0], np.inf),
        ([1.0, np.inf], np.inf),
    ],
)
def test_errors(found: list[float], expected: float) -> None:
    assert judging._error(np.array([1.0, np.inf, 2.0]), np.array(found)) == expected


@pytest.mark.parametrize("seed", range(30))
def test_loops_and_choices_that_the_run_decides(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    from test.conformance.random_graphs.control_flow import difference

    monkeypatch.setenv("MACE_LIBRARY", str(built("//mace:libmace.so")))
    assert difference(seed, tmp_path, Counter()) == ""
