# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The search for the first wrong operator."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import pytest

from mace.python.tools.data_type import DataType
from mace.python.tools.errors import UsageError
from mace.python.tools.export.model_file import OperatorInfo, TensorInfo, read_message
from mace.python.tools.report.results import LayerComparison
from mace.python.tools.run.bisect import FirstWrong, find_first_wrong
from mace.python.tools.run.checking import Layer
from mace.python.tools.run.options import LayerRange, RunOptions
from mace.python.tools.run.testing.project import Project
from mace.python.tools.validate import compare_tensor

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
