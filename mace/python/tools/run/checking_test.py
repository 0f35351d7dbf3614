# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors that `check_tensors` names."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.data_type import DataType
from mace.python.tools.errors import UsageError
from mace.python.tools.export.model_file import OperatorInfo, TensorInfo
from mace.python.tools.run import checking
from mace.python.tools.run.options import LayerRange
from mace.python.tools.run.testing.project import Project


def test_check_tensors_decide_like_outputs(project: Project) -> None:
    extra = "check_tensors: r0\ncheck_shapes: 1,6,5,12\n"
    report = project.convert_and_run(extra, validate=True)
    assert [c.name for c in report.runs[0].comparisons] == ["y", "r0"]
    assert report.passed
    # Layers are another question.
    assert report.runs[0].layers == ()
    strict = (
        extra + "validation_threshold: {CPU: 1.0}\nvalidation_outputs_data: y.npy\n"
    )
    np.save(project.folder / "y.npy", np.ones((1, 6, 5, 8), np.float32))
    assert not project.run(project.deployment(strict), validate=True).passed


@pytest.mark.parametrize(
    ("check", "shape", "message"),
    [
        ("r00", "1,6,5,12", r"r00: not in the converted model.*near names: r0"),
        ("c0", "1,6,5,12", "c0: not in the converted model"),
        ("r0", "1,6,5,8", r"check_shapes says \[1, 6, 5, 8\].*\[1, 6, 5, 12\]"),
    ],
)
def test_wrong_check_tensors(
    project: Project, check: str, shape: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        project.convert_and_run(
            f"check_tensors: {check}\ncheck_shapes: {shape}\n", validate=True
        )


def _fail_at_start(project: Project, number: int, how: str) -> None:
    """Puts a program in the place of mace_run that fails when started so often."""
    program = project.build_dir / "bin" / "host" / "mace_run"
    real = program.with_name("real")
    program.rename(real)
    count = project.folder / "starts"
    program.write_text(
        "#!/bin/sh\n"
        f"echo >> {shlex.quote(str(count))}\n"
        f'[ "$(wc -l < {shlex.quote(str(count))})" -lt {number} ] || {how}\n'
        f'exec {shlex.quote(str(real))} "$@"\n'
    )
    program.chmod(0o755)
    # Outdated by no source.
    os.utime(program)


_CHECK_R0 = "check_tensors: r0\ncheck_shapes: 1,6,5,12\n"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("kill -SEGV $$", "mace_run crashed (signal 11)"),
        ("exec sleep 60", "ended after 5 s without result"),
        (
            'exec env MACE_RUNTIME_FAILURE_RATIO=1 {real} "$@"',
            "Runtime error: failure wanted",
        ),
    ],
)
def test_a_check_tensor_that_cannot_be_had_fails(
    project: Project, how: str, said: str
) -> None:
    real = project.build_dir / "bin" / "host" / "real"
    _fail_at_start(project, 2, how.format(real=shlex.quote(str(real))))
    report = project.convert_and_run(_CHECK_R0, validate=True, time_limit=5)
    (run,) = report.runs
    assert not report.passed
    assert [(c.name, c.passed) for c in run.comparisons] == [("y", True), ("r0", False)]
    assert f"check_tensors: {said}" in run.failure
    log = Path(run.failure.rpartition("log: ")[2])
    assert log.is_file()
    text = project.output.getvalue()
    assert "m: r0: FAILED, not computed: its run failed" in text
    assert f"m on host: FAILED, check_tensors: {said}" in text
    rows = {row["output_name"]: row["similarity"] for row in project.log()}
    assert rows["r0"] == "nan"


def test_layers_that_cannot_be_had_fail(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each layer is a run of its own; the second one of them fails.
    monkeypatch.setattr(checking, "_LAYER_GROUP_BYTES", 1)
    _fail_at_start(project, 3, "kill -SEGV $$")
    report = project.convert_and_run(validate=True, layers=LayerRange())
    (run,) = report.runs
    assert not report.passed
    assert "layers: mace_run crashed" in run.failure
    found = [(layer.comparison.name, layer.comparison.passed) for layer in run.layers]
    assert found == [("r0", True), ("y", False)]
    # The worst one is among those that there are.
    assert "worst layer: 0 Conv2D r0" in project.output.getvalue()
    assert [row["output_name"] for row in project.log()] == ["r0", "y", "y"]


@pytest.mark.parametrize(
    ("data_type", "least"), [("fp32_fp32", 0.999), ("bf16_bf16", 0.995)]
)
def test_one_threshold_for_outputs_checks_and_layers(
    project: Project, data_type: str, least: float
) -> None:
    extra = f"{_CHECK_R0}data_type: {data_type}\n"
    report = project.convert_and_run(extra, validate=True, layers=LayerRange())
    (run,) = report.runs
    compared = [*run.comparisons, *(layer.comparison for layer in run.layers)]
    assert [c.name for c in compared] == ["y", "r0", "r0", "y"]
    assert {c.threshold for c in compared} == {least}


def test_what_depends_on_random_numbers() -> None:
    def operator(name: str, op_type: str, inputs: tuple[str, ...]) -> OperatorInfo:
        tensor = TensorInfo(name, (2,), DataType.FLOAT32)
        return OperatorInfo(f"{name}_op", op_type, inputs, (tensor,))

    operators = (
        operator("a", "Eltwise", ("x",)),
        operator("r", "Random", ("x",)),
        operator("b", "Eltwise", ("a", "r")),
        operator("c", "Eltwise", ("b",)),
        operator("d", "Eltwise", ("a",)),
    )
    drawn = checking.drawn_tensors(operators)
    assert drawn == {"r": "r_op", "b": "r_op", "c": "r_op"}
