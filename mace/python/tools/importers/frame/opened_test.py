# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which files are read, and as which framework's."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
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
    Recognised,
    check_recognised,
    load_framework,
    recognise,
)
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.ir.graph import DataFormat, Graph, to_text
from mace.python.tools.proto import load_proto

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


_HEADER = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})


def _zip(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, b"x")
    return stream.getvalue()


def _onnx_bytes() -> bytes:
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    infos = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1])
        for name in "xy"
    ]
    graph = onnx.helper.make_graph([node], "g", infos[:1], infos[1:])
    return bytes(onnx.helper.make_model(graph).SerializeToString())


def _message(*fields: tuple[int, bytes | int]) -> bytes:
    """Fields of protocol buffers: bytes of less than 128, and small numbers."""
    return b"".join(
        bytes([number << 3, value])
        if isinstance(value, int)
        else bytes([number << 3 | 2 & 127, len(value)]) + value
        if number < 16
        else bytes([(number << 3 | 2) & 127 | 128, number >> 4, len(value)]) + value
        for number, value in fields
    )


_NODE = _message((1, b"x"), (2, b"Placeholder"))
_GRAPH = _message((1, _NODE), (1, _message((1, b"y"), (2, b"Relu"), (3, b"x"))))


def _converted(**fields: object) -> bytes:
    proto = load_proto("mace/proto/mace.proto")
    model = proto.Model(format_version=1, name="m", **fields)
    model.producer = "mace-converter 9.8.7 (onnx)"
    model.operators.add(name="op", type="Softmax", inputs=["x"], outputs=["y"])
    return bytes(model.SerializeToString())


@pytest.mark.parametrize(
    ("data", "platform", "what"),
    [
        (_onnx_bytes(), Platform.ONNX, "an ONNX model"),
        (_GRAPH, Platform.TENSORFLOW, "a TensorFlow graph"),
        (_message((1, 1), (2, b"meta")), Platform.TENSORFLOW, "a TensorFlow graph"),
        (b"node {\n  name: 'x'\n}\n", Platform.TENSORFLOW, "a TensorFlow graph"),
        (b"\x1c\0\0\0TFL3" + bytes(90), Platform.TFLITE, "a TensorFlow Lite model"),
        (_zip("config.json", "model.weights.h5"), Platform.KERAS, "a Keras model"),
        (b"\x89HDF\r\n\x1a\n" + bytes(90), Platform.KERAS, "a Keras model"),
        (_zip("net/models/model.json"), Platform.PYTORCH, "a file of PyTorch"),
        (_zip("net/data.pkl"), Platform.PYTORCH, "a file of PyTorch"),
        (b"\x80\x02}q\0.", Platform.PYTORCH, "a pickle"),
        (b"# net\nname: 'n'\nlayer {\n}", Platform.CAFFE, "a Caffe network"),
        (
            _message((1, b"net"), (100, _message((1, b"conv")))),
            Platform.CAFFE,
            "the weights of a Caffe model",
        ),
        (b"", None, "empty: is the download complete"),
        (b"<!DOCTYPE html><html>", None, "a web page: download the file itself"),
        (b"\n <html lang='en'>", None, "a web page: the download failed"),
        (b"<?xml version='1.0'?>\n<html>", None, "a web page: the download failed"),
        (b"<?xml version='1.0'?>\n<net name='x'>", None, "a model of OpenVINO"),
        (b"7767517\n75 83\n", None, "a model of ncnn"),
        (b"library_name: x\n", None, "a deployment file"),
        (b"version https://git-lfs.github.com/spec/v1\n", None, "git lfs pull"),
        (_zip("a/net.onnx"), None, "a zip archive: unpack it and name a/net.onnx"),
        (_zip("readme"), None, "a zip archive: unpack it and name the model"),
        (b"PK\x03\x04" + bytes(90), None, "a damaged zip archive"),
        (
            struct.pack("<Q", len(_HEADER)) + _HEADER.encode() + bytes(8),
            None,
            "weights without a graph",
        ),
        (b"GGUF\x03\0\0\0", None, "a file of weights for llama.cpp"),
        (b"\x93NUMPY\x01\0", None, "an array of NumPy"),
        (b"\x89PNG\r\n\x1a\n", None, "a picture"),
        (b"\xff\xd8\xff\xe0", None, "a picture"),
        (b"\x7fELF\x02", None, "a program or library"),
        (_converted(data_size=64), None, "a model that MACE has converted: name the"),
        (_converted(), None, "a model that MACE has converted: name the original"),
    ],
)
def test_a_file_is_recognised(
    data: bytes, platform: Platform | None, what: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(data)
    found = recognise(path)
    assert found is not None
    assert found.platform is platform
    for asked in Platform:
        if asked is platform:
            check_recognised(path, asked, recognise)
            continue
        with pytest.raises(ImportModelError) as error:
            check_recognised(path, asked, recognise)
        text = str(error.value)
        assert text.startswith(f"model_file_path: {path} is ")
        assert what in text
        if platform is not None:
            assert f"say platform: {platform.value} instead of {asked.value}" in text


@pytest.mark.parametrize(
    "data",
    [
        b"hello world\n",
        b'{"a": 1}',
        bytes(300),
        bytes((37 * i + 11) % 256 for i in range(300)),
        b"\x08\x04\x12\x7f",
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        _onnx_bytes()[:-3],
    ],
)
def test_what_is_not_certain_is_left_to_the_importer(
    data: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(data)
    assert recognise(path) is None
    check_recognised(path, Platform.ONNX, recognise)


def test_folders_and_missing_files_are_left_to_the_importer(tmp_path: Path) -> None:
    check_recognised(tmp_path, Platform.TENSORFLOW, recognise)
    check_recognised(tmp_path / "absent", Platform.ONNX, recognise)
    assert recognise(tmp_path / "absent") is None


def test_a_zip_archive_of_a_newer_version(tmp_path: Path) -> None:
    data = bytearray(_zip("model.onnx"))
    at = data.index(b"PK\x01\x02")
    data[at + 6 : at + 8] = (234).to_bytes(2, "little")
    path = tmp_path / "m.keras"
    path.write_bytes(data)
    assert recognise(path) == Recognised(
        "a damaged zip archive", advice="download it again"
    )
