# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The files of Caffe: weights in all formats, and the text form against protobuf."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

from mace.python.tools.importers.caffe.caffemodel import read_weights
from mace.python.tools.importers.caffe.testing import (
    NETWORKS,
    fill_blob,
    messages,
    rand,
)
from mace.python.tools.importers.caffe.text_format import (
    TextError,
    Unknown,
    parse_text,
)
from mace.python.tools.importers.frame.errors import ImportModelError


def _write(folder: Path, data: Any) -> Path:
    path = folder / "net.caffemodel"
    path.write_bytes(data if isinstance(data, bytes) else data.SerializeToString())
    return path


def test_all_formats(tmp_path: Path) -> None:
    weights = rand(2, 3, 1, 4)
    current = messages().NetParameter()
    layer = current.layer.add(name="c", type="Convolution")
    fill_blob(layer.blobs.add(), weights)
    fill_blob(layer.blobs.add(), weights[0, 0, 0])
    current.layer.add(name="relu", type="ReLU")
    second = messages().NetParameter()
    old = second.layers.add(name="c")
    first = messages().NetParameter()
    older = first.layers.add().layer
    older.name = "c"
    for holder in (old, older):
        blob = holder.blobs.add(num=2, channels=3, height=1, width=4)
        blob.data.extend(weights.ravel().tolist())
    for net in (current, second, first):
        found = read_weights(_write(tmp_path, net))
        assert set(found) == {"c"}
        blob = found["c"][0]
        assert (blob.shape, blob.problem) == ((2, 3, 1, 4), "")
        np.testing.assert_array_equal(blob.flat.numpy(), weights.ravel())
    assert read_weights(_write(tmp_path, current))["c"][1].shape == (4,)


def test_numbers_of_double_precision(tmp_path: Path) -> None:
    net = messages().NetParameter()
    blob = net.layer.add(name="c").blobs.add()
    blob.shape.dim.append(2)
    blob.double_data.extend([0.5, -2])
    flat = read_weights(_write(tmp_path, net))["c"][0].flat.numpy()
    assert flat.dtype == np.float32
    np.testing.assert_array_equal(flat, [0.5, -2])


def test_numbers_that_are_not_packed(tmp_path: Path) -> None:
    numbers = np.array([1, 2, 3], "<f4")
    loose = b"".join(b"\x2d" + number.tobytes() for number in numbers)
    packed = b"\x2a\x08" + numbers[:2].tobytes()
    for data, count in ((loose, 3), (packed + loose, 5)):
        blob = b"\x3a\x03\x0a\x01" + bytes([count]) + data
        layer = b"\x0a\x01c\x3a" + bytes([len(blob)]) + blob
        found = read_weights(
            _write(tmp_path, b"\xa2\x06" + bytes([len(layer)]) + layer)
        )
        flat = found["c"][0].flat.numpy()
        assert flat.tolist() == [1, 2, 3] if count == 3 else [1, 2, 1, 2, 3]
        assert not found["c"][0].problem


def test_numbers_that_do_not_fit_the_shape(tmp_path: Path) -> None:
    net = messages().NetParameter()
    for name, dims in (("few", [2, 3]), ("below", [-1, -5]), ("huge", [2**40, 2**40])):
        blob = net.layer.add(name=name).blobs.add()
        blob.shape.dim.extend(dims)
        blob.data.extend([1.0] * 5)
    found = read_weights(_write(tmp_path, net))
    assert found["few"][0].problem == "a blob of [2, 3] holds 5 numbers"
    assert all(blobs[0].problem for blobs in found.values())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"name: 'net' layer { }", "no caffemodel, or it is damaged"),
        (b"\x0a\x03net", "has no layers"),
        (b"\xa2\x06\x7f", "ends 127 bytes after"),
        (b"\xa2\x06\x05\x0a\x03abc\x3a", "damaged"),
        (b"\xff" * 20, "damaged"),
        (b"PK\x03\x04", "is a zip archive"),
        (b"\x89HDF\r\n\x1a\n", "is an HDF5 file"),
    ],
)
def test_what_is_no_caffemodel(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(ImportModelError, match=message):
        read_weights(_write(tmp_path, data))
    with pytest.raises(ImportModelError, match="cannot be read"):
        read_weights(tmp_path / "absent")
    with pytest.raises(ImportModelError, match="cannot be read"):
        read_weights(tmp_path)


_SPELLINGS = [
    "name: 'it''s' name_is_not_one: 1",
    'layer { name: "a\\n\\"b" "c" } layer < name: "d" >',
    "layer: { name: 'x' }; layer { name: 'y', type: 'z' }",
    "input_dim: [1, 0x10, 010, -3] input_dim: 4 # five numbers\n# and a line",
    "layer { power_param { power: 1.5e-3 scale: -.5f shift: 2. } }",
    "layer { power_param { power: inf scale: -inf shift: 1E3 } }",
    "layer { convolution_param { bias_term: 0 kernel_size: 3 stride: [1, 2] } }",
    "layer { convolution_param { bias_term: t } pooling_param { pool: AVE } }",
    "layer { pooling_param { pool: 1 } include: [{ phase: TEST }, { phase: 0 }] }",
    "input_shape { dim: [1, 2] } input_shape: { dim: 3 dim: 4 }",
    "input: []",
]


@pytest.mark.parametrize("text", _SPELLINGS)
def test_as_protobuf(text: str) -> None:
    wanted, found = messages().NetParameter(), messages().NetParameter()
    text_format.Parse(text, wanted, allow_unknown_field=True)
    parse_text(text, found, ())
    assert found == wanted


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_as_protobuf(name: str) -> None:
    text = NETWORKS[name]().text
    wanted, found = messages().NetParameter(), messages().NetParameter()
    text_format.Parse(text, wanted, allow_unknown_field=True)
    parse_text(text, found, ())
    assert found == wanted


def test_unknown_fields() -> None:
    text = """
    layer { name: "a" }
    layer { name: "b" more { deep: [{ x: 1 }, "text" 'text'] deeper: -1 } rate: 0.5
            convolution_param { kernel_size: 3 kernel_d: 3 weight_filler { std: 1 } }
            include { phase: TEST level: 3 } }
    extra: "text"
    """
    net: Any = messages().NetParameter()
    found = parse_text(text, net, {"weight_filler"})
    layer = ("layer", 1)
    assert found == [
        Unknown((layer,), "more", 3),
        Unknown((layer,), "rate", 3),
        Unknown((layer,), "convolution_param.kernel_d", 4),
        Unknown((layer, ("include", 0)), "include.level", 5),
        Unknown((), "extra", 6),
    ]
    assert list(net.layer[1].convolution_param.kernel_size) == [3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("layer {", "line 1: expected the name of a field, not 'the end"),
        ("layer }", "expected '{' after layer"),
        ("layer { } }", "not '}'"),
        ("layer { > ", "not '>'"),
        ("\n\nname 'x'", "line 3: expected ':' after name"),
        ("name: x", "takes a text in quotes"),
        ("name: 'x", 'unexpected "\'"'),
        ("name: 'x' name: 'y'", "name is given twice"),
        ("name: ['x']", "name takes one value"),
        ("input_dim: 1.5", "takes an integer"),
        ("input_dim: 3000000000", "input_dim is out of range"),
        ("input_dim: " + "9" * 5000, "takes an integer"),
        ("input_dim: [1 2]", "expected ',' or ']'"),
        ("input_dim: x", "takes an integer"),
        ("layer { power_param { power: 'x' } }", "takes a number"),
        ("layer { power_param { power: much } }", "takes a number"),
        ("layer { pooling_param { pool: MEAN } }", "accepted: MAX, AVE, STOCHASTIC"),
        ("layer { convolution_param { bias_term: 2 } }", "takes true or false"),
        ("layer { convolution_param { group: -1 } }", "out of range"),
        ("unknown", "the text ends within a field"),
        ("unknown }", "unexpected '}'"),
        ("unknown { ]", "unexpected ']'"),
        ("unknown: [[[[", "the text ends within a field"),
        ("$", "line 1: unexpected '\\$'"),
        ("\x00", "unexpected"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(
        TextError, match=message.replace("[", r"\[").replace("{", r"\{")
    ):
        parse_text(text, messages().NetParameter(), ())
