# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What files are, whatever their names say."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path

import onnx
import pytest

from mace.python.tools.config.vocabulary import Platform
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.recognise import (
    Recognised,
    check_recognised,
    recognise,
)
from mace.python.tools.proto import load_proto

_HEADER = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})


def _zip(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, b"x")
    return stream.getvalue()


def _onnx() -> bytes:
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


def _converted() -> bytes:
    proto = load_proto("mace/proto/mace.proto")
    model = proto.Model(format_version=1, name="m", producer="test", data_size=64)
    model.operators.add(name="op", type="Softmax", inputs=["x"], outputs=["y"])
    return bytes(model.SerializeToString())


@pytest.mark.parametrize(
    ("data", "platform", "what"),
    [
        (_onnx(), Platform.ONNX, "an ONNX model"),
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
        _onnx()[:-3],
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
