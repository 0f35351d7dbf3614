# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors that `check_tensors` names."""

from __future__ import annotations

import os
import shlex
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.data_type import DataType
from mace.python.tools.errors import UsageError
from mace.python.tools.export.model_file import OperatorInfo, TensorInfo, read_message
from mace.python.tools.report.results import LayerComparison
from mace.python.tools.run import checking
from mace.python.tools.run.checking import FirstWrong, Layer, find_first_wrong
from mace.python.tools.run.options import LayerRange, RunOptions
from mace.python.tools.run.testing.project import Project
from mace.python.tools.validate import compare_tensor


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


_X = np.arange(1, 9, dtype=np.float32)


class _Model:
    """Layers of which those from `wrong` on are wrong, and some are not known."""

    def __init__(self, wrong: int, unknown: Sequence[int] = ()) -> None:
        self._wrong, self._unknown = wrong, unknown
        self.starts = 0

    def compare(self, layers: Sequence[Layer]) -> list[LayerComparison]:
        self.starts += 1
        return [
            LayerComparison(
                layer.index,
                layer.operator.name,
                layer.operator.type,
                compare_tensor(
                    layer.tensor.source,
                    _X,
                    _X[::-1] if layer.index >= self._wrong else _X,
                    0.999,
                ),
            )
            for layer in layers
            if layer.index not in self._unknown
        ]


def _layers(count: int) -> list[Layer]:
    return [
        Layer(
            i,
            OperatorInfo(f"op{i}", "Conv2D", (), ()),
            TensorInfo(f"t{i}", (8,), DataType.FLOAT32, source=f"s{i}"),
        )
        for i in range(count)
    ]


@pytest.mark.parametrize("count", [1, 2, 16, 17, 300])
def test_the_first_wrong_operator_is_found(count: int) -> None:
    for wrong in {0, 1, count // 3, count // 2, count - 1} & set(range(count)):
        model = _Model(wrong)
        found = find_first_wrong(_layers(count), model.compare)
        assert found.wrong is not None
        assert found.wrong.index == wrong
        assert (found.right.index if found.right else -1) == wrong - 1
        assert model.starts <= 3


def test_operators_that_the_framework_does_not_give_are_passed_over() -> None:
    found = find_first_wrong(_layers(40), _Model(20, range(18, 25)).compare)
    assert found.wrong is not None
    assert found.right is not None
    assert (found.right.index, found.wrong.index) == (17, 25)


def test_what_cannot_be_found_is_said() -> None:
    all_right = find_first_wrong(_layers(40), _Model(40).compare)
    assert all_right.wrong is None
    assert all_right.text("onnxruntime", {}).startswith(
        "first wrong operator: one after the last that can be compared; the last "
        "right one is 39 Conv2D op39, tensor s39"
    )
    assert all_right.text("onnxruntime", {}, files=True).startswith(
        "no operator is wrong that can be compared with onnxruntime; the last right "
        "one is 39 Conv2D op39"
    )
    assert find_first_wrong([], _Model(0).compare) == FirstWrong(None, None)
    nothing = find_first_wrong(_layers(3), _Model(0, range(3)).compare)
    assert "no operator has a counterpart" in nothing.text("onnxruntime", {})


def test_a_wrong_constant_is_found_in_a_model(project: Project) -> None:
    deployment = project.deployment()
    project.convert(deployment)
    (graph_path,) = project.build_dir.glob("lib/model/*.pb")
    message = read_message(graph_path)
    data_path = graph_path.with_suffix(".data")
    data = bytearray(data_path.read_bytes())
    last = max(message.constants, key=lambda constant: int(constant.offset))
    weights = np.frombuffer(data, np.float32)[last.offset // 4 :]
    weights[: last.size // 8] *= -1
    data_path.write_bytes(data)
    message.data_crc32 = zlib.crc32(data)
    graph_path.write_bytes(message.SerializeToString())

    report = project.run(deployment, validate=True, layers=LayerRange(0, 1))
    assert not report.passed
    assert "m: next: add --bisect to this command" in project.output.getvalue()
    (run,) = project.run(deployment, validate=True, bisect=True).runs
    assert not run.passed
    text = project.output.getvalue()
    assert "m: first wrong operator: 1 Conv2D y; node Conv conv1 in onnxruntime" in text
    assert "y: cosine similarity" in run.first_wrong
    assert "the last right one before it is 0 Conv2D c0, tensor r0" in text
    assert "next: add --layers=0:3 to this command" in text


def test_bisect_needs_a_comparison(project: Project) -> None:
    from mace.python.tools.cli.parser import parse
    from mace.python.tools.run.options import run_options

    args = parse(["run", "--config=d.yml", "--bisect"])
    with pytest.raises(UsageError, match="--bisect needs --validate"):
        run_options(args)
    assert not RunOptions().bisect
