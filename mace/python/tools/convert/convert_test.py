# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From a deployment file to a model's files, and nothing on failure."""

from __future__ import annotations

import hashlib
import logging
import os
import platform
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from mace.python.tools.atomic import OutputError
from mace.python.tools.cli.main import main
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.convert import convert
from mace.python.tools.convert.convert import ConvertResult, convert_deployment
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.errors import MaceError, UnsupportedError
from mace.python.tools.export import linkable
from mace.python.tools.export.model_file import read_model_file
from mace.python.tools.export.places import ModelPlaces
from mace.python.tools.export.testing import read_model
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodesError,
)
from mace.python.tools.ir.evaluate import run_graph


def _write_model(
    path: Path, last: str = "Relu", channels: int = 8, kernel: int = 3
) -> None:
    """Convolution, batch normalisation and an activation."""
    rng = np.random.default_rng(0)
    arrays = {
        "w": rng.standard_normal((channels, 3, kernel, kernel)),
        **{name: rng.standard_normal(channels) for name in ("scale", "bias", "mean")},
        "var": rng.random(channels) + 0.5,
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["stem"], pads=[kernel // 2] * 4),
        helper.make_node(
            "BatchNormalization", ["stem", "scale", "bias", "mean", "var"], ["bn"]
        ),
        helper.make_node(last, ["bn"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 6, 5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, channels, 6, 5])],
        [
            numpy_helper.from_array(array.astype(np.float32), name)
            for name, array in arrays.items()
        ],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


_TYPES = ("input_data_types", "output_data_types")


def _model(tag: str, file: str, **changes: Any) -> str:
    keys = {
        "platform": "onnx",
        "model_file_path": file,
        "runtime": "cpu",
        "data_type": "fp32_fp32",
        **{k: v for k, v in changes.items() if k not in (*_TYPES, "output_shapes")},
    }
    lines = [f"  {tag}:"]
    lines += [f"    {key}: {value}" for key, value in keys.items()]
    lines += [
        "    subgraphs:",
        "      - input_tensors: x",
        "        input_shapes: 1,6,5,3",
        *(f"        {k}: {changes[k]}" for k in _TYPES if k in changes),
        "        output_tensors: y",
        f"        output_shapes: {changes.get('output_shapes', '1,6,5,8')}",
    ]
    return "\n".join(lines) + "\n"


class _Place:
    """A folder with a model, and a conversion into it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.build = root / "build"
        _write_model(root / "m.onnx")

    def convert(
        self,
        *models: str,
        head: str = "",
        graph_format: str = "file",
        abi: str = "host",
        **options: Any,
    ) -> ConvertResult:
        text = (
            f"library_name: lib\ntarget_abis: [{abi}]\n"
            f"model_graph_format: {graph_format}\n"
            f"model_data_format: file\n{head}models:\n"
        )
        deployment = load_deployment_text(
            text + "".join(models), self.root / "deployment.yml"
        )
        chosen = ConvertOptions(build_dir=self.build, **options)
        return convert_deployment(deployment, chosen)

    def files(self) -> list[str]:
        found = [p for p in self.root.rglob("*") if p.is_file()]
        names = sorted(str(p.relative_to(self.root)) for p in found)
        return [name for name in names if name.endswith("onnx") is False]


@pytest.fixture
def place(tmp_path: Path) -> _Place:
    return _Place(tmp_path)


_FILES = [
    "build/lib/model/net.data",
    "build/lib/model/net.pb",
    "build/lib/model/net.pb_txt",
    "build/lib/model/net_index.html",
]


def test_links_of_tensors_that_models_lack(tmp_path: Path) -> None:
    text = "".join(
        f"  {name}:\n    platform: onnx\n    model_file_path: {name}.onnx\n"
        "    runtime: cpu\n    subgraphs:\n      - {input_tensors: x, input_shapes: 1, "
        "output_tensors: y, output_shapes: 1}\n"
        for name in ("first", "second")
    )
    head = "library_name: l\ntarget_abis: host\nmodels:\n"
    for links, message in (
        ("first/z: second/x", "model 'first' has no output 'z'; it has: y"),
        ("first/y: second/a/b", "model 'second' has no input 'a/b'; it has: x"),
    ):
        deployment = load_deployment_text(
            f"{head}{text}links: {{{links}}}\n", tmp_path / "d.yml"
        )
        with pytest.raises(MaceError, match=message):
            convert_deployment(deployment, ConvertOptions(build_dir=tmp_path))


def test_conversion_gives_the_answers_of_the_framework(place: _Place) -> None:
    result = place.convert(_model("net", "m.onnx"))
    assert place.files() == _FILES
    (model,) = result.models
    assert (model.ops_before, model.ops_after) == (3, 1)
    assert model.graph_path == place.build / "lib/model/net.pb"
    assert model.weight_bytes == model.data_path.stat().st_size
    graph = read_model(model.graph_path.read_bytes(), model.data_path.read_bytes())
    x = np.random.default_rng(1).standard_normal((1, 6, 5, 3)).astype(np.float32)
    expected = ReferenceEvaluator(str(place.root / "m.onnx")).run(
        None, {"x": x.transpose(0, 3, 1, 2)}
    )[0]
    found = run_graph(graph, {"x": x})["y"]
    np.testing.assert_allclose(
        found.transpose(0, 3, 1, 2), expected, rtol=1e-5, atol=1e-5
    )


def test_old_output_folder_leads_to_the_new(place: _Place) -> None:
    place.convert(_model("net", "m.onnx"))
    assert (place.root / "builds/lib/model/net.pb").exists()
    # What a user has there himself is left alone.
    (place.root / "builds").unlink()
    (place.root / "builds").mkdir()
    place.convert(_model("net", "m.onnx"))
    assert list((place.root / "builds").iterdir()) == []


@pytest.mark.parametrize("schema", ["", "uint8", "int8"])
def test_conversion_is_the_same_for_every_target(place: _Place, schema: str) -> None:
    ranges = place.root / "ranges"
    ranges.write_text("x@@-1,1\ny@@0,2\n")
    keys = {"quantize": 1, "quantize_schema": schema, "quantize_range_file": ranges}
    text = _model("net", "m.onnx", **(keys if schema else {}))
    sums = []
    for abi in ("host", "host", "arm64-v8a"):
        result = place.convert(text, abi=abi).model("net")
        paths = (
            result.graph_path,
            result.data_path,
            result.text_path,
            result.page_path,
        )
        sums.append([hashlib.sha256(p.read_bytes()).hexdigest() for p in paths])
    assert sums[0] == sums[1] == sums[2]


def test_passes_are_dumped_per_model(place: _Place) -> None:
    place.convert(_model("net", "m.onnx"), dump_passes=place.root / "dump")
    assert (place.root / "dump/net/000_imported.txt").exists()


def test_chosen_passes_alone_give_the_same_answers(place: _Place) -> None:
    x = np.random.default_rng(1).standard_normal((1, 6, 5, 3)).astype(np.float32)
    found = []
    for keys in ({}, {"graph_optimize_options": "[merge_equal_ops]"}):
        model = place.convert(_model("net", "m.onnx", **keys)).model("net")
        graph = read_model(model.graph_path.read_bytes(), model.data_path.read_bytes())
        found.append((model.ops_after, run_graph(graph, {"x": x})["y"]))
    (all_ops, expected), (chosen_ops, chosen) = found
    assert chosen_ops > all_ops
    np.testing.assert_allclose(chosen, expected, rtol=1e-5, atol=1e-5)


def test_failing_model_leaves_no_file_of_any(place: _Place) -> None:
    (place.root / "bad.onnx").write_bytes(b"not a model")
    with pytest.raises(MaceError, match="bad.onnx"):
        place.convert(_model("net", "m.onnx"), _model("bad", "bad.onnx"))
    assert place.files() == []
    assert not place.build.exists()


def test_unsupported_node_leaves_no_file(place: _Place) -> None:
    _write_model(place.root / "odd.onnx", "NonMaxSuppression")
    with pytest.raises(UnsupportedNodesError, match="NonMaxSuppression"):
        place.convert(_model("net", "odd.onnx"))
    assert place.files() == []


def test_interruption_keeps_the_earlier_conversion(
    place: _Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.convert(_model("net", "m.onnx"))
    before = {name: (place.root / name).read_bytes() for name in _FILES}

    def interrupted(*_: Any) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(convert, "graph_page", interrupted)
    with pytest.raises(KeyboardInterrupt):
        place.convert(_model("net", "m.onnx", data_type="fp16_fp32"))
    assert place.files() == _FILES
    assert before == {name: (place.root / name).read_bytes() for name in _FILES}


def test_large_weights_in_eight_bits(
    place: _Place, caplog: pytest.LogCaptureFixture
) -> None:
    _write_model(place.root / "large.onnx", channels=16, kernel=5)
    found = {}
    for flag in (0, 1):
        model = place.convert(
            _model(
                "net",
                "large.onnx",
                quantize_large_weights=flag,
                output_shapes="1,6,5,16",
            )
        ).models[0]
        image = np.random.default_rng(3).standard_normal((1, 6, 5, 3))
        graph = read_model(model.graph_path.read_bytes(), model.data_path.read_bytes())
        found[flag] = run_graph(graph, {"x": image.astype(np.float32)})["y"]
    assert model.eight_bit is not None
    # 16 x 5 x 5 x 3 in 4 bytes and in 1, with a scale and an offset each.
    assert (model.eight_bit.float_bytes, model.eight_bit.stored_bytes) == (4800, 1328)
    assert model.summary().splitlines()[1] == f"net: {model.eight_bit.summary()}"
    np.testing.assert_allclose(found[1], found[0], atol=0.02 * found[0].max())
    assert "quantize_large_weights" not in caplog.text


def test_eight_bits_that_change_less_than_expected(
    place: _Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.convert(_model("net", "m.onnx", quantize_large_weights=1))
    assert "no weights of this model are large" in caplog.text
    _write_model(place.root / "large.onnx", channels=16, kernel=5)
    place.convert(
        _model(
            "net",
            "large.onnx",
            quantize_large_weights=1,
            data_type="bf16_bf16",
            output_shapes="1,6,5,16",
        )
    )
    assert "these layers compute in float32" in caplog.text


def _write_product(path: Path, depth: int, outputs: int) -> None:
    rng = np.random.default_rng(0)
    weights = (rng.standard_normal((depth, outputs)) / 8).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [6, 5, depth])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [6, 5, outputs])],
        [numpy_helper.from_array(weights, "w")],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


def _product(**changes: Any) -> str:
    model = _model("net", "product.onnx", output_shapes="6,5,72", **changes)
    return model.replace("input_shapes: 1,6,5,3", "input_shapes: 6,5,64")


def test_products_that_each_run_quantizes(
    place: _Place, caplog: pytest.LogCaptureFixture
) -> None:
    _write_product(place.root / "product.onnx", 64, 72)
    found, sizes = {}, {}
    for flag in (0, 1):
        model = place.convert(_product(quantize_dynamic=flag)).models[0]
        image = np.random.default_rng(3).standard_normal((6, 5, 64))
        graph = read_model(model.graph_path.read_bytes(), model.data_path.read_bytes())
        found[flag] = run_graph(graph, {"x": image.astype(np.float32)})["y"]
        sizes[flag] = model.data_path.stat().st_size
    assert model.dynamic is not None and len(model.dynamic.names) == 1
    assert "1 of 1 fully connected layers quantize their input" in model.summary()
    # Weights in a byte each, their sums and scales in four.
    assert (sizes[0], sizes[1]) == (64 * 80 * 4, 64 * 80 + 4 * 80 + 4 * 72)
    np.testing.assert_allclose(found[1], found[0], atol=0.02 * found[0].max())
    assert "quantize_dynamic" not in caplog.text


def test_no_product_is_large_enough(
    place: _Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.convert(_model("net", "m.onnx", quantize_dynamic=1))
    assert "this model has no fully connected layer that is large" in caplog.text


def test_full_disk_is_told(place: _Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(convert, "export_model", full)
    with pytest.raises(OutputError, match="No space left"):
        place.convert(_model("net", "m.onnx"))
    assert place.files() == []


def test_place_that_cannot_be_written(place: _Place) -> None:
    place.build.write_text("a file, not a folder")
    with pytest.raises(OutputError, match="cannot write"):
        place.convert(_model("net", "m.onnx"))
    assert place.files() == ["build"]


def test_contradicting_output_shape(place: _Place) -> None:
    with pytest.raises(ImportModelError, match=r"\[1, 6, 5, 9\].*\[1, 6, 5, 8\]"):
        place.convert(_model("net", "m.onnx", output_shapes="1,6,5,9"))
    assert place.files() == []


def test_contradicting_element_types(place: _Place) -> None:
    with pytest.raises(ImportModelError) as caught:
        place.convert(
            _model("net", "m.onnx", input_data_types="int32", output_data_types="int8")
        )
    message = str(caught.value)
    assert "input_data_types says int32 for 'x', which MACE takes as float" in message
    assert "output_data_types says int8 for 'y'" in message
    assert place.files() == []
    place.convert(_model("net", "m.onnx", input_data_types="float16"))


def test_only_floats_are_normalised(place: _Place) -> None:
    """And every number that is given for something else is told."""
    model = onnx.load(place.root / "m.onnx")
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT32
    cast = helper.make_node("Cast", ["x"], ["float"], to=TensorProto.FLOAT)
    model.graph.node[0].input[0] = "float"
    model.graph.node.insert(0, cast)
    onnx.save(model, place.root / "m.onnx")
    text = _model("net", "m.onnx", input_data_types="int32")
    with pytest.raises(ImportModelError, match="takes 'x' as int32; give 0 and 1"):
        place.convert(f"{text}    input_means: 3\n")
    place.convert(f"{text}    input_means: 0\n    input_scales: 1\n")


@pytest.mark.usefixtures("release_without_gpu")
def test_everything_that_is_not_supported_is_told_at_once(place: _Place) -> None:
    with pytest.raises(UnsupportedError) as caught:
        place.convert(
            _model("net", "m.onnx", runtime="hta"),
            _model("other", "m.onnx", quantize_schema="mace_apu_16bit_per_tensor"),
            enable_micro=True,
        )
    for part in (
        "models.net.runtime: the library has no HTA runtime",
        "models.other.quantize_schema: mace_apu_16bit_per_tensor is not in this",
        "--enable_micro",
    ):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "what"),
    [({}, "in floats"), ({"quantize": 1, "quantize_schema": "int16"}, "in int16")],
)
def test_a_model_for_the_dsp_is_quantized_to_eight_bits(
    place: _Place, keys: dict[str, Any], what: str
) -> None:
    ranges = place.root / "ranges"
    ranges.write_text("x@@-1,1\ny@@0,2\n")
    if keys:
        keys = {**keys, "quantize_range_file": ranges}
    with pytest.raises(UnsupportedError) as caught:
        place.convert(_model("net", "m.onnx", runtime="dsp", **keys))
    message = str(caught.value)
    assert "deployment.yml:9: models.net.runtime: dsp computes in integers" in message
    assert f"computes {what}; add quantize: 1 with" in message
    assert not place.build.exists()
    keys = {"quantize": 1, "quantize_range_file": ranges}
    (model,) = place.convert(_model("net", "m.onnx", runtime="dsp", **keys)).models
    places = ModelPlaces(model.graph_path, model.data_path)
    assert read_model_file(places).hints["runtime"] == "dsp"


def test_obfuscated_model_keeps_only_the_names_of_its_border(place: _Place) -> None:
    model = place.convert(_model("net", "m.onnx", obfuscate=1)).models[0]
    content = model.graph_path.read_bytes()
    for name in (b"stem", b"bn", b"scale"):
        assert name not in content
    graph = read_model(content, model.data_path.read_bytes())
    assert [graph.inputs[0].name, graph.outputs[0].name] == ["x", "y"]


def test_the_model_file_has_the_hints_for_the_gpu(place: _Place) -> None:
    keys = {
        "data_type": "fp16_fp32",
        "limit_opencl_kernel_completion": 1,
        "cl_mem_type": "buffer",
    }
    net = _model(
        "net", "m.onnx", runtime="cpu_gpu", opencl_queue_window_size=16, **keys
    )
    result = place.convert(net).models[0]
    hints = read_model_file(ModelPlaces(result.graph_path, result.data_path)).hints
    assert hints["runtime"] == "cpu+gpu"
    assert hints["data_type"] == "fp16_fp32"
    assert hints["limit_opencl_kernel_time"] is True
    assert hints["opencl_queue_window_size"] == 16
    assert hints["cl_mem_type"] == "buffer"


def test_opencl_binaries_of_earlier_runs_become_code(
    place: _Place, caplog: pytest.LogCaptureFixture
) -> None:
    net = _model("net", "m.onnx", runtime="gpu")
    with caplog.at_level(logging.WARNING):
        place.convert(net, cl_binary_to_code=True)
    assert "there are no OpenCL binaries in" in caplog.text
    binary = place.build / "lib/opencl/arm64-v8a/lib_compiled_opencl_kernel.MI6.x.bin"
    binary.parent.mkdir(parents=True)
    binary.write_bytes(b"\x01\x02")
    place.convert(net, cl_binary_to_code=True)
    assert "0x01, 0x02," in binary.with_name(f"{binary.name}.cc").read_text()


def test_code_needs_no_compiler(place: _Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(place.root))
    monkeypatch.delenv("BAZEL", raising=False)
    result = place.convert(_model("net", "m.onnx"), graph_format="code")
    assert result.archives == (place.build / "lib/model/host/lib.a",)
    assert result.archives[0].read_bytes().startswith(b"!<arch>\n")


def test_an_archive_that_fails_keeps_the_earlier_outputs(
    place: _Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.convert(_model("net", "m.onnx"), graph_format="code")
    outputs = [
        "build/lib/code/BUILD.bazel",
        "build/lib/code/models.cc",
        "build/lib/code/net.h",
        "build/lib/code/net.pb",
        "build/lib/include/mace/public/mace_engine_factory.h",
        "build/lib/include/mace/public/net.h",
        "build/lib/model/host/lib.a",
        "build/lib/model/net.data",
        "build/lib/model/net.pb_txt",
        "build/lib/model/net_index.html",
    ]
    assert [name for name in place.files() if name.startswith("build")] == outputs
    before = {name: (place.root / name).read_bytes() for name in outputs}
    host = platform.machine()
    small = replace(linkable.MACHINES[host], most_bytes=100)
    monkeypatch.setitem(linkable.MACHINES, host, small)
    with pytest.raises(
        UnsupportedError, match="lib: too large.*model_data_format: file"
    ):
        place.convert(
            _model("net", "m.onnx", data_type="fp16_fp32"), graph_format="code"
        )
    assert before == {name: (place.root / name).read_bytes() for name in outputs}


def _hinted_model(folder: Path, length: Any, kind: str) -> Path:
    """Squeeze of open axes, or a grid of a length that the elements say."""
    info = onnx.helper.make_tensor_value_info
    inputs = [info("x", onnx.TensorProto.FLOAT, [2, length])]
    nodes = [onnx.helper.make_node("Hardmax", ["x"], ["y"])]
    if kind == "Range":
        nodes = [
            onnx.helper.make_node("ReduceMax", ["x"], ["most"], keepdims=0),
            onnx.helper.make_node("Range", ["zero", "most", "one"], ["y"]),
        ]
    numbers = {"zero": 0.0, "one": 1.0} if kind == "Range" else {}
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        inputs,
        [info("y", onnx.TensorProto.FLOAT, None)],
        [
            onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, [], [number])
            for name, number in numbers.items()
        ],
    )
    path = folder / "net.onnx"
    opsets = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


@pytest.mark.parametrize(
    ("given", "said", "unsaid"),
    [
        ({"length": "n", "kind": "Hardmax"}, "--dims, or dims of mace.load", "fixed"),
        ({"length": 3, "kind": "Range"}, "", "fixed input_shapes"),
    ],
    ids=["open", "fixed"],
)
def test_hints_for_those_without_a_deployment_file(
    given: Mapping[str, Any],
    said: str,
    unsaid: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = _hinted_model(tmp_path, **given)
    flags = [f"--build_dir={tmp_path / 'build'}", "--dims=n=-1"]
    assert main(["convert", str(path), *flags[: 2 if said else 1]]) != 0
    text = " ".join(capsys.readouterr().err.split())
    assert "cannot be converted" in text
    assert said in text
    assert unsaid not in text


def test_hints_for_those_with_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _hinted_model(tmp_path, "n", "Hardmax")
    config = tmp_path / "net.yml"
    config.write_text(f"""
library_name: l
target_abis: host
models:
  m:
    model_file_path: {path}
    runtime: cpu
    subgraphs:
      - input_tensors: x
        input_shapes: 2,-1
        input_data_formats: NONE
        output_tensors: y
        output_shapes: 2,-1
        output_data_formats: NONE
""")
    build = f"--build_dir={tmp_path / 'build'}"
    assert main(["convert", f"--config={config}", build]) != 0
    text = " ".join(capsys.readouterr().err.split())
    assert "give fixed input_shapes" in text
