# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A model is read once, whatever is asked of it, and one budget begins anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save

from mace.python.tools.cli.main import main
from mace.python.tools.config.vocabulary import Platform
from mace.python.tools.importers import onnx as onnx_package
from mace.python.tools.importers.caffe.testing import write_net
from mace.python.tools.importers.frame.budget import budget
from mace.python.tools.importers.frame.description import ModelDescription
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.opened import (
    Framework,
    OpenedModels,
    load_framework,
)
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.ir.graph import DataFormat, Graph, to_text

_REQUEST = ImportRequest("m", Path("m"), (), ())


class _Counted:
    """A framework of which nothing is real but the calls."""

    def __init__(self) -> None:
        self.reads = 0
        self.left: list[int] = []

    def framework(self) -> Framework[str]:
        return Framework(self._read, self._describe, self._build)

    def _read(self, model: Path, weights: Path | None) -> str:
        self.reads += 1
        budget().unpack(1000, "what it holds")
        return f"{model} {weights}"

    def _describe(self, files: str) -> ModelDescription:
        return ModelDescription(files, DataFormat.NHWC, (), (), {})

    def _build(self, request: ImportRequest, files: str) -> Graph:
        self.left.append(budget().unpackable)
        budget().unpack(1, "a part")
        return Graph(request.name, files)


def test_files_are_read_once_until_they_are_closed() -> None:
    counted = _Counted()
    opened = counted.framework().open(Path("m"), Path("w"))
    assert counted.reads == 0
    assert opened.describe().framework == "m w"
    assert opened.describe() is opened.describe()
    for _ in range(2):
        assert opened.import_graph(_REQUEST).framework == "m w"
    assert counted.reads == 1
    opened.close()
    opened.import_graph(_REQUEST)
    assert counted.reads == 2
    # Each import has what reading left, not what the import before it left.
    assert len(set(counted.left)) == 1


def test_a_command_opens_a_model_once() -> None:
    opened = OpenedModels()
    found = opened.open(Platform.ONNX, Path("m"))
    assert opened.open(Platform.ONNX, Path("m")) is found
    assert opened.open(Platform.ONNX, Path("n")) is not found


def test_the_wrong_framework_is_told_before_a_file_is_read(tmp_path: Path) -> None:
    path = _onnx(tmp_path)
    found = OpenedModels().open(Platform.TFLITE, path)
    with pytest.raises(ImportModelError, match="say platform: onnx instead of tflite"):
        found.describe()


@pytest.mark.parametrize("framework", ["onnx", "caffe"])
def test_what_was_read_stays_as_it_is(framework: str, tmp_path: Path) -> None:
    """test/conformance/networks_test.py has larger models of more frameworks."""
    files = {"onnx": _onnx, "caffe": _caffe}[framework](tmp_path)
    model, weights = files if isinstance(files, tuple) else (files, None)
    opened = load_framework(framework).open(model, weights)
    order = opened.describe().image_order
    request = ImportRequest(
        "m",
        model,
        (InputSpec("x", (1, 3, 4, 5), data_format=order),),
        (OutputSpec("y", order),),
        weights,
    )
    assert len({to_text(opened.import_graph(request)) for _ in range(3)}) == 1


@pytest.mark.parametrize("command", ["convert", "check", "inspect", "init"])
def test_each_command_reads_a_model_once(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _onnx(tmp_path)
    reads: list[Path] = []
    framework = onnx_package.FRAMEWORK

    def read(model: Path, weights: Path | None) -> object:
        reads.append(model)
        return framework.read(model, weights)

    builds: list[str] = []

    def build(request: ImportRequest, files: object) -> Graph:
        builds.append(request.name)
        return framework.build(request, files)  # type: ignore[arg-type]

    changed = replace(framework, read=read, build=build)  # type: ignore[arg-type]
    monkeypatch.setattr(onnx_package, "FRAMEWORK", changed)
    words = [f"--build_dir={tmp_path / 'build'}"] if command == "convert" else []
    assert main([command, str(path), *words]) == 0
    assert len(reads) == len(builds) == 1


def _onnx(folder: Path) -> Path:
    """Its output has no shape."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["inner"]),
        helper.make_node("Relu", ["inner"], ["y"]),
    ]
    info = helper.make_tensor_value_info
    weights = np.ones((4, 3, 3, 3), np.float32)
    graph = helper.make_graph(
        nodes,
        "g",
        [info("x", TensorProto.FLOAT, [1, 3, 4, 5])],
        [info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weights, "w")],
    )
    path = folder / "net.onnx"
    opsets = [helper.make_opsetid("", 17)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def _caffe(folder: Path) -> tuple[Path, Path]:
    return write_net(
        folder,
        'layer { name: "in" type: "Input" top: "x" '
        "input_param { shape { dim: 1 dim: 3 dim: 4 dim: 5 } } }\n"
        'layer { name: "y" type: "ReLU" bottom: "x" top: "y" }\n',
    )
