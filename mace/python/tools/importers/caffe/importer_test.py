# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks: their files, which layers run, what they share, names and refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

from mace.python.tools.importers.caffe import import_model
from mace.python.tools.importers.caffe.caffemodel import read_weights
from mace.python.tools.importers.caffe.testing import (
    caffemodel,
    fill_blob,
    import_net,
    layer_text,
    messages,
    rand,
    request_of,
    with_inputs,
    write_net,
)
from mace.python.tools.importers.caffe.text_format import (
    TextError,
    Unknown,
    parse_text,
)
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodesError,
)
from mace.python.tools.importers.frame.journal import Journal, Outcome
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize
from mace.python.tools.validate.frameworks import ReferenceRequest, run_reference
from test.conformance.models.caffe_networks import NETWORKS

X = rand(1, 3, 4, 4)
INPUT = 'input: "x" input_dim: 1 input_dim: 3 input_dim: 4 input_dim: 4\n'


def _power(name: str, bottom: str, top: str, shift: float, rules: str = "") -> str:
    param = f"power_param {{ shift: {shift} }} {rules}"
    return layer_text("Power", param, bottom, top, name) + "\n"


def _run(folder: Path, text: str, output: str = "y", fed: str = "x") -> Array:
    graph = import_net(folder, text, {fed: X}, [output])
    return run_graph(graph, {fed: X})[output]


@pytest.mark.parametrize(
    ("rules", "runs"),
    [
        ("", True),
        ("include { phase: TEST }", True),
        ("include { phase: TRAIN }", False),
        ("include { phase: TRAIN } include { phase: TEST }", True),
        ("exclude { phase: TEST }", False),
        ("exclude { phase: TRAIN }", True),
        ("include { min_level: 1 }", False),
        ("include { max_level: 0 }", True),
        ('include { stage: "deploy" }', False),
        ('include { not_stage: "deploy" }', True),
        ('exclude { stage: "deploy" }', True),
        ("phase: TRAIN", True),
    ],
)
def test_layers_of_the_phase_test_run(tmp_path: Path, rules: str, runs: bool) -> None:
    text = INPUT + _power("a", "x", "y", 1) + _power("b", "y", "y", 2, rules)
    np.testing.assert_allclose(_run(tmp_path, text), X + (3 if runs else 1), 1e-6)


def test_the_state_of_the_net(tmp_path: Path) -> None:
    text = f'state {{ phase: TRAIN level: 2 stage: "deploy" }} {INPUT}'
    text += _power("a", "x", "y", 1)
    text += _power("b", "y", "y", 2, 'include { min_level: 2 stage: "deploy" }')
    text += _power("c", "y", "y", 4, "include { phase: TRAIN }")
    np.testing.assert_allclose(_run(tmp_path, text), X + 3, 1e-6)


def test_layers_that_work_in_place(tmp_path: Path) -> None:
    text = INPUT + _power("a", "x", "c", 1) + _power("b", "c", "first", 10)
    text += _power("d", "c", "c", 2) + _power("e", "c", "c", 4)
    text += _power("f", "c", "second", 20)
    assert _run(tmp_path, text, "first")[0, 0, 0, 0] == pytest.approx(
        X[0, 0, 0, 0] + 11
    )
    np.testing.assert_allclose(_run(tmp_path, text, "second"), X + 27, 1e-6)
    # As an output, the name means the last version; as an input, too.
    np.testing.assert_allclose(_run(tmp_path, text, "c"), X + 7, 1e-6)
    np.testing.assert_allclose(_run(tmp_path, text, "second", "c"), X + 20, 1e-6)
    graph = import_net(tmp_path, text, {"x": X}, ["second"])
    assert [op.output.source for op in graph.ops] == [None, None, "c", "second"]


def test_a_layer_that_works_in_place_on_an_input(tmp_path: Path) -> None:
    text = INPUT + _power("a", "x", "x", 1) + _power("b", "x", "y", 2)
    np.testing.assert_allclose(_run(tmp_path, text), X + 3, 1e-6)


def test_layers_share_weights_by_name(tmp_path: Path) -> None:
    shared = 'param { name: "w" } param { name: "b" }'
    param = f"{shared} convolution_param {{ num_output: 3 kernel_size: 1 }}"
    text = INPUT + layer_text("Convolution", param, "x", "y0", "c0")
    text += layer_text("Convolution", param, "y0", "y1", "c1")
    blobs = {"c0": [rand(3, 3, 1, 1), rand(3)]}
    graph = import_net(tmp_path, text, {"x": X}, ["y1"], blobs)
    wanted = X
    for _ in range(2):
        wanted = np.einsum("nchw,oc->nohw", wanted, blobs["c0"][0][:, :, 0, 0])
        wanted = wanted + blobs["c0"][1].reshape(3, 1, 1)
    np.testing.assert_allclose(run_graph(graph, {"x": X})["y1"], wanted, 1e-4, 1e-5)


def test_shapes_of_inputs(tmp_path: Path) -> None:
    paths = write_net(tmp_path, INPUT + _power("a", "x", "y", 1))
    request = request_of(paths, {"x": X}, ["y"])

    def shape(spec: InputSpec) -> object:
        graph = import_model(replace(request, inputs=(spec,)))
        return graph.inputs[0].shape

    assert shape(InputSpec("x")) == (1, 3, 4, 4)
    assert shape(InputSpec("x", (2, 5, 6, 3))) == (2, 3, 5, 6)
    nchw = InputSpec("x", (2, 3, 5, 6), data_format=DataFormat.NCHW)
    assert shape(nchw) == (2, 3, 5, 6)
    assert shape(InputSpec("x", (-1, 5, 6, 3))) == ("x:0", 3, 5, 6)
    for spec, message in (
        (InputSpec("x", (1, 3, 4, 4)), "contradicts; is it NCHW"),
        (InputSpec("x", (3, 4)), "which .* contradicts$"),
    ):
        with pytest.raises(ImportModelError, match=message):
            shape(spec)


def test_data_layers(tmp_path: Path) -> None:
    text = 'layer { name: "d" type: "ImageData" top: "x" top: "label" '
    text += 'image_data_param { source: "list.txt" batch_size: 50 } }'
    text += _power("a", "x", "y", 1)
    text += 'layer { name: "l" type: "Eltwise" bottom: "y" bottom: "label" top: "z" }'
    np.testing.assert_allclose(_run(tmp_path, text), X + 1, 1e-6)
    with pytest.raises(ImportModelError, match="the outputs also need label, which"):
        import_net(tmp_path, text, {"x": X}, ["z"])
    paths = write_net(tmp_path, text)
    request = ImportRequest(
        "m", paths[0], (InputSpec("x"),), (OutputSpec("y"),), paths[1]
    )
    with pytest.raises(ImportModelError, match="does not say the shape of x"):
        import_model(request)


def test_names_that_are_not_there(tmp_path: Path) -> None:
    text = INPUT + _power("layer", "x", "blob", 1)
    with pytest.raises(ImportModelError, match="output_tensors: .*near names: blob"):
        import_net(tmp_path, text, {"x": X}, ["blo"])
    with pytest.raises(ImportModelError, match="a layer is called so, and makes blob"):
        import_net(tmp_path, text, {"x": X}, ["layer"])
    with pytest.raises(ImportModelError, match="input_tensors: .* no tensor 'z'"):
        import_net(tmp_path, text, {"z": X}, ["blob"])


def test_what_becomes_of_each_layer_is_noted(tmp_path: Path) -> None:
    text = INPUT + _power("first", "x", "a", 1.0)
    text += 'layer { name: "own" type: "Own" bottom: "a" top: "b" }\n'
    text += _power("last", "b", "y", 2.0)
    paths = write_net(tmp_path, text)
    request = replace(request_of(paths, {"x": X}, ["y"]), journal=Journal())
    with pytest.raises(UnsupportedNodesError):
        import_model(request)
    assert [(e.name, e.type, e.outcome) for e in request.journal.entries] == [
        ("first", "Power", Outcome.CONVERTED),
        ("own", "Own", Outcome.REFUSED),
        ("last", "Power", Outcome.NOT_REACHED),
    ]


def test_everything_unsupported_is_told_at_once(tmp_path: Path) -> None:
    text = INPUT + (
        'layer { name: "c1" type: "Convolution" bottom: "x" top: "c1" '
        "convolution_param { num_output: 2 kernel_size: 1 } }\n"
        'layer { name: "w" type: "Warp" bottom: "c1" top: "w" warp_param { x: 1 } }\n'
        'layer { name: "l" type: "LSTM" bottom: "w" top: "l" }\n'
        'layer { name: "f" type: "InnerProduct" bottom: "l" top: "f" '
        "inner_product_param { num_output: 2 normalize: true } }\n"
        'layer { name: "ignored" type: "Nothing" bottom: "x" top: "i" }\n'
        'layer { name: "s" type: "Softmx" bottom: "f" top: "y" }\n'
    )
    with pytest.raises(UnsupportedNodesError) as caught:
        import_net(tmp_path, text, {"x": X}, ["y"], {"c11": [rand(2, 3, 1, 1)]})
    assert [(n.node, n.reason, n.hint) for n in caught.value.nodes] == [
        ("c1", "the caffemodel has no weights for this layer", "it has some for c11"),
        ("w", "layer not supported", "supported and similar: Crop, Axpy"),
        (
            "l",
            "recurrent layers are not supported",
            "cut the model before it with output_tensors",
        ),
        ("f", "has unknown fields: inner_product_param.normalize (line 5)", ""),
        ("f", "the caffemodel has no weights for this layer", ""),
        ("s", "layer not supported", "supported and similar: Softmax, SoftmaxWithLoss"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no layers"),
        ("layer { ", "no Caffe network .prototxt.: line 1"),
        ('layr { name: "x" }', r"which has no field layr \(line 1\)"),
        ('layer { name: "a" } layers { name: "b" }', "both layer and layers"),
        ('layer { name: "a" }', "layer 'a' has no type"),
        (_power("a", "z", "y", 1), "'a' reads 'z', which no layer before it makes"),
        (INPUT + 2 * _power("a", "x", "x", 1), "two layers are called 'a'"),
        (
            INPUT + _power("a", "x", "y", 1) + _power("b", "x", "y", 1),
            "two layers make the blob 'y'",
        ),
        ('input: "x" input_dim: 1 ' + _power("a", "x", "y", 1), "1 input_dim for 1"),
        (
            'layers { layer { name: "p" type: "pool" k: 2 } }',
            "'p' of type 'pool' has a k",
        ),
        ('layers { layer { name: "p" type: "warp" } }', "has the type 'warp'"),
        (
            'layers { layer { name: "p" type: "padding" } top: "p" }',
            "must have one bottom and one top",
        ),
        (
            'input: "x" layers { layer { name: "p" type: "padding" } '
            'bottom: "x" top: "p" } layers { layer { name: "r" type: "relu" } '
            'bottom: "p" top: "r" }',
            "'r' reads the padding layer 'p'",
        ),
        ("<!doctype html>", "is a web page"),
    ],
)
def test_what_is_no_network(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ImportModelError, match=message):
        import_net(tmp_path, text, {"x": X}, ["y"])


def test_files(tmp_path: Path) -> None:
    paths = write_net(tmp_path, INPUT + _power("a", "x", "y", 1))
    request = request_of(paths, {"x": X}, ["y"])
    for model, weights, message in (
        (paths[0], None, "weight_file_path: a Caffe model also needs its weights"),
        (tmp_path / "absent", paths[1], "model_file_path: .*absent cannot be read"),
        (paths[0], tmp_path / "absent", "weight_file_path: .*absent cannot be read"),
        (tmp_path, paths[1], "model_file_path: .* cannot be read"),
        (paths[0], paths[0], "weight_file_path: .* is no caffemodel"),
    ):
        with pytest.raises(ImportModelError, match=message):
            import_model(replace(request, model_path=model, weight_path=weights))
    swapped = tmp_path / "swapped"
    swapped.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ImportModelError, match="is no text; the prototxt belongs here"):
        import_model(replace(request, model_path=swapped))


def test_weights_of_another_model(tmp_path: Path) -> None:
    param = "convolution_param { num_output: 2 kernel_size: 1 }"
    text = with_inputs(layer_text("Convolution", param, name="c"), {"x": X})
    for blobs, message in (
        ([rand(2, 4, 1, 1)], r"filter must have the shape \[2, 3, 1, 1\], but"),
        ([rand(2, 3, 1, 1)], "1 blobs for this layer; the bias is missing"),
        ([rand(2, 3, 1, 1), rand(3)], r"bias must have the shape \[2\], but"),
    ):
        with pytest.raises(UnsupportedNodesError, match=message):
            import_net(tmp_path, text, {"x": X}, ["y"], {"c": blobs})


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_as_opencv(name: str, tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    net = NETWORKS[name]()
    paths = write_net(tmp_path, net.text, net.weights())
    inputs = {"data": net.data}
    # OpenCV does not read weights of the first format.
    weights = tmp_path / "current.caffemodel"
    weights.write_bytes(caffemodel(net.blobs).SerializeToString())
    wanted = run_reference(
        ReferenceRequest("cv2", paths[0], inputs, net.outputs, (), weights)
    ).tensors
    graph = import_model(request_of(paths, inputs, net.outputs, DataFormat.NCHW))
    results = run_graph(graph, inputs)
    for output in net.outputs:
        np.testing.assert_allclose(results[output], wanted[output], 1e-4, 1e-4)
    optimize(graph)
    results = run_graph(graph, {"data": inputs["data"].transpose(0, 2, 3, 1)})
    for output in net.outputs:
        found = results[output]
        if graph.formats[output] is DataFormat.NHWC:
            found = found.transpose(0, 3, 1, 2)
        np.testing.assert_allclose(found, wanted[output], 1e-4, 1e-4)
    transposes = [
        op.name
        for op in graph.ops
        if op.type == "Transpose" and len(op.input(0).shape or ()) == 4
    ]
    assert not transposes, "the order of channels changes nowhere"


def test_normalisation_and_activation_become_part_of_convolutions(
    tmp_path: Path,
) -> None:
    net = NETWORKS["resnet"]()
    paths = write_net(tmp_path, net.text, net.weights())
    request = request_of(paths, {"data": net.data}, net.outputs, DataFormat.NCHW)
    graph = import_model(request)
    optimize(graph)
    types = [op.type for op in graph.ops]
    assert "BatchNorm" not in types
    assert "Activation" not in types
    assert types.count("Conv2D") == 9


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
