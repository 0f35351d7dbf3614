# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Files that `mace.load` takes, and what it keeps of them."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
import types
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mace
from mace.python.runtime import conversion
from mace.python.runtime.options import PrecisionName

_ROOT = Path(__file__).resolve().parents[3]
_DIGITS = _ROOT / "mace" / "examples" / "digits" / "digits.onnx"
_TENSORFLOW = _ROOT / "test" / "docs" / "testdata" / "model.pb"


def _scale(path: Path, factor: float, external: bool = False) -> Path:
    """Writes y = x * factor."""
    info = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ("n", 300))
        for name in "xy"
    ]
    weights = numpy_helper.from_array(np.full(300, factor, np.float32), "w")
    node = helper.make_node("Mul", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "scale", info[:1], info[1:], [weights])
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    onnx.save(
        model,
        path,
        save_as_external_data=external,
        location="weights.bin",
        size_threshold=0,
    )
    return path


def _factor(model: mace.Model) -> float:
    result = model(np.ones((1, 300), np.float32))
    return float(np.asarray(result)[0, 0])


def test_a_conversion_is_kept_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _scale(tmp_path / "scale.onnx", 2)
    first = mace.load(path, dims={"n": 1})
    assert _factor(first) == 2
    _scale(path, 3)
    assert _factor(mace.load(path, dims={"n": 1})) == 3
    monkeypatch.setattr(conversion, "convert", None)
    assert _factor(mace.load(path, dims={"n": 1})) == 3
    # Of another size it is another conversion.
    with pytest.raises(TypeError):
        mace.load(path, dims={"n": 2})


def test_several_who_need_a_conversion_wait_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _scale(tmp_path / "scale.onnx", 7)
    convert, calls = conversion.convert, []

    def count(request: conversion.Request, folder: Path) -> tuple[Path, Path]:
        calls.append(request)
        return convert(request, folder)

    monkeypatch.setattr(conversion, "convert", count)
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda _: mace.load(path, dims={"n": 1}), range(4)))
    assert [_factor(model) for model in models] == [7] * 4
    assert len(calls) == 1


def test_a_cache_that_cannot_be_written_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _scale(tmp_path / "scale.onnx", 7)
    (tmp_path / "file").touch()
    monkeypatch.setenv("MACE_CACHE", str(tmp_path / "file"))
    with pytest.raises(mace.MaceError, match="file/models/scale-"):
        mace.load(path, dims={"n": 1})


def test_weights_in_another_file_count(tmp_path: Path) -> None:
    path = _scale(tmp_path / "scale.onnx", 2, external=True)
    kept = path.read_bytes()
    assert _factor(mace.load(path, dims={"n": 1})) == 2
    (tmp_path / "weights.bin").unlink()
    _scale(path, 5, external=True)
    assert path.read_bytes() == kept
    assert _factor(mace.load(path, dims={"n": 1})) == 5


def test_what_was_not_used_for_long_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MACE_CACHE", str(tmp_path / "cache"))
    shutil.copytree(_cache_of_messages(), tmp_path / "cache" / "proto")
    made = [
        mace.load(_scale(tmp_path / f"m{i}.onnx", i + 1)).path.parent for i in range(4)
    ]
    hour = 3600
    for ago, folder in zip((5, 4, 3, 0), made):
        os.utime(folder, (time.time() - ago * hour,) * 2)
    # Used now, though made before the others.
    assert mace.load(tmp_path / "m0.onnx").path.parent == made[0]
    size = sum(path.stat().st_size for path in made[0].iterdir())
    monkeypatch.setenv("MACE_CACHE_LIMIT", str(size * 2.5 / 1e6))
    last = mace.load(_scale(tmp_path / "m4.onnx", 5))
    assert [folder.is_dir() for folder in made] == [True, False, False, True]
    assert _factor(last) == 5
    monkeypatch.setenv("MACE_CACHE_LIMIT", "much")
    with pytest.raises(mace.MaceError, match="MACE_CACHE_LIMIT=much: accepted is"):
        mace.load(_scale(tmp_path / "m5.onnx", 6))


def test_without_the_cache_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MACE_CACHE", str(tmp_path / "cache"))
    shutil.copytree(_cache_of_messages(), tmp_path / "cache" / "proto")
    model = mace.load(_scale(tmp_path / "m.onnx", 4), dims={"n": 1}, cache=False)
    assert _factor(model) == 4
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["proto"]


def _cache_of_messages() -> Path:
    from mace.python.installation import DEFAULT_CACHE

    return DEFAULT_CACHE.expanduser() / "proto"


def test_a_converted_model_is_loaded_as_it_is(tmp_path: Path) -> None:
    made = mace.load(_scale(tmp_path / "scale.onnx", 2), dims={"n": 1}).path
    graph = tmp_path / "scale.pb"
    shutil.copy(made, graph)
    with pytest.raises(mace.MaceError, match=r"its weights .*scale.data are missing"):
        mace.load(graph)
    weights = made.with_suffix(".data")
    assert _factor(mace.load(graph, weights=weights)) == 2
    shutil.copy(weights, tmp_path)
    shutil.move(tmp_path / "model.data", tmp_path / "scale.data")
    assert _factor(mace.load(str(graph))) == 2
    with pytest.raises(mace.MaceError, match="whose dims cannot be changed"):
        mace.load(graph, dims={"n": 2})
    with pytest.raises(mace.MaceError, match="whose precision cannot be changed"):
        mace.load(graph, options=mace.RunOptions(precision="fp16_fp32"))
    graph.write_bytes(graph.read_bytes()[:-7])
    with pytest.raises(mace.MaceError, match="scale.pb is no MACE model"):
        mace.load(graph)


def test_a_graph_of_tensorflow_is_no_converted_model() -> None:
    model = mace.load(_TENSORFLOW)
    (image,) = model.inputs
    assert image.format == "NHWC" and image.is_static
    assert np.isfinite(model(np.ones(image.shape, np.float32))).all()


def test_a_deployment_file_has_the_say(tmp_path: Path) -> None:
    text = f"""
library_name: digits
target_abis: host
models:
  channels_last:
    model_file_path: {_DIGITS}
    runtime: cpu
    data_type: fp32_fp32
    subgraphs:
      - input_shapes: 1,8,8,1
        input_data_formats: NHWC
"""
    deployment = tmp_path / "digits.yml"
    deployment.write_text(text)
    model = mace.load(deployment)
    assert model.inputs[0].format == "NHWC"
    image = np.random.default_rng(1).random((1, 8, 8, 1), np.float32)
    other = mace.load(_DIGITS, dims={"N": 1})
    np.testing.assert_array_equal(model(image), other(image.transpose(0, 3, 1, 2)))
    with pytest.raises(mace.MaceError, match="has no model 'x'; it has channels_last"):
        mace.load(deployment, model="x")
    with pytest.raises(mace.MaceError, match="precision: leave it out"):
        mace.load(deployment, options=mace.RunOptions(precision="fp32_fp32"))


def test_precision_is_that_of_the_weights(tmp_path: Path) -> None:
    def size(precision: PrecisionName) -> int:
        options = mace.RunOptions(precision=precision)
        model = mace.load(_DIGITS, dims={"N": 1}, options=options)
        return model.path.with_suffix(".data").stat().st_size

    assert size("fp16_fp32") < 0.6 * size("fp32_fp32")


@pytest.mark.parametrize(
    "name, message",
    [
        ("absent.onnx", "absent.onnx: no such file"),
        ("txt.onnx", "txt.onnx: no such file; did you mean .*text.onnx"),
        ("text.onnx", "text.onnx"),
        ("picture.jpg", "nor its contents tell the framework; known are .onnx"),
    ],
)
def test_wrong_files_are_errors(tmp_path: Path, name: str, message: str) -> None:
    for there in ("text.onnx", "picture.jpg"):
        (tmp_path / there).write_text("no model")
    with pytest.raises(mace.MaceError, match=message):
        mace.load(tmp_path / name)


def test_each_run_decides_open_dimensions() -> None:
    model = mace.load(_DIGITS)
    assert model.inputs[0].shape[0] == -1
    images = np.random.default_rng(0).random((3, 1, 8, 8), np.float32)
    together = model(images)
    assert together.shape == (3, 10)
    single = mace.load(_DIGITS, dims={"N": 1})
    each = np.concatenate([single(image[None]) for image in images])
    np.testing.assert_allclose(together, each, rtol=1e-5, atol=1e-6)


def test_what_needs_numbers_says_which(tmp_path: Path) -> None:
    info = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ("words", 4)),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
    ]
    node = helper.make_node("NoSuchOperator", ["x"], ["y"], domain="of.mine")
    graph = helper.make_graph([node], "own", info[:1], info[1:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("of.mine", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets), tmp_path / "own.onnx")
    with pytest.raises(mace.MaceError) as caught:
        mace.load(tmp_path / "own.onnx")
    assert "NoSuchOperator" in str(caught.value)
    assert "dims={'words': 1}" in str(caught.value)
    with pytest.raises(mace.MaceError) as caught:
        mace.load(tmp_path / "own.onnx", dims={"words": 2})
    assert "mace.load(" not in str(caught.value)


def test_what_a_program_has_in_memory_is_loaded(tmp_path: Path) -> None:
    path = _scale(tmp_path / "scale.onnx", 6)
    proto = onnx.load(path)
    for given in (path.read_bytes(), bytearray(path.read_bytes()), proto):
        assert _factor(mace.load(given)) == 6
    converted = mace.load(path).path
    weights = converted.with_suffix(".data")
    assert _factor(mace.load(converted.read_bytes(), weights=weights)) == 6


def test_objects_of_pytorch_are_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = _ROOT / "test" / "conformance" / "pytorch" / "recorded.zip"
    with zipfile.ZipFile(recorded) as archive:
        names = (name for name in archive.namelist() if name.endswith(".pt2"))
        program = Path(archive.extract(next(names), tmp_path))
    calls: list[Any] = []
    torch = _torch(program, calls)
    monkeypatch.setitem(sys.modules, "torch", torch)
    module = torch.Module()
    with pytest.raises(mace.MaceError, match="example_inputs=.tensor"):
        mace.load(module)
    model = mace.load(module, example_inputs=(1, 2), dynamic_shapes={"x": {0: "n"}})
    assert model.inputs
    assert calls == [(module, (1, 2), {"x": {0: "n"}}, [False, False])]
    assert [part.training for part in module.modules()] == [True, False]
    assert mace.load(torch.ExportedProgram()).name == "model"


def _torch(program: Path, calls: list[Any]) -> Any:
    """What `mace.load` needs of PyTorch, which is not installed everywhere."""

    class Module:
        def __init__(self, training: bool = True) -> None:
            self.training = training
            self.parts = [Module(False)] if training else []

        def modules(self) -> list[Module]:
            return [self, *self.parts]

        def eval(self) -> None:
            self.training = False

    class ExportedProgram:
        pass

    for kind in (Module, ExportedProgram):
        kind.__module__ = "torch.nn"

    def export(module: Any, arguments: Any, dynamic_shapes: Any) -> Any:
        modes = [part.training for part in module.modules()]
        calls.append((module, arguments, dynamic_shapes, modes))
        return ExportedProgram()

    return types.SimpleNamespace(
        Module=Module,
        ExportedProgram=ExportedProgram,
        Tensor=np.ndarray,
        no_grad=contextlib.nullcontext,
        export=types.SimpleNamespace(
            export=export, save=lambda _, path: shutil.copy(program, path)
        ),
    )


@pytest.mark.parametrize(
    "given, message",
    [
        (None, "found builtins.NoneType, accepted: the path of a file, its bytes"),
        (b"<html>", "the 6 bytes are a web page: download the file"),
        (b"", "the 0 bytes are empty"),
        (b"no model", "the 8 bytes are no known model"),
    ],
)
def test_what_is_no_model_is_an_error(given: Any, message: str) -> None:
    with pytest.raises(mace.MaceError, match=message):
        mace.load(given)


def test_a_moved_model_is_not_converted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "before").mkdir()
    path = _scale(tmp_path / "before" / "moved.onnx", 9, external=True)
    assert _factor(mace.load(path)) == 9
    (tmp_path / "before").rename(tmp_path / "after")
    with monkeypatch.context() as patch:
        patch.setattr(conversion, "convert", None)
        assert _factor(mace.load(tmp_path / "after" / "moved.onnx")) == 9
    # Its weights are beside it, not where they were.
    (tmp_path / "after" / "weights.bin").unlink()
    _scale(tmp_path / "after" / "moved.onnx", 10, external=True)
    assert _factor(mace.load(tmp_path / "after" / "moved.onnx")) == 10


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"dims": {"N": 0}}, "dims: found 0 for 'N', accepted: 1, 2, ...; -1"),
        ({"dims": {"N": "1"}}, "dims: found '1' for 'N'"),
        ({"dims": [1]}, r"dims: found \[1\], accepted: names and numbers"),
        ({"options": {"threads": 2}}, "accepted: mace.RunOptions"),
    ],
)
def test_wrong_arguments_are_errors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(mace.MaceError, match=message):
        mace.load(_DIGITS, **arguments)


def test_a_renamed_model_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "renamed.pb"
    shutil.copy(_DIGITS, path)
    with pytest.raises(mace.MaceError, match="is an ONNX model, .*: rename it"):
        mace.load(path, dims={"N": 1})


def test_importing_loads_nothing_until_it_is_needed() -> None:
    code = """
import sys
import mace
assert mace.__version__ and "load" in dir(mace)
heavy = {"numpy", "onnx", "google.protobuf", "pydantic", "yaml", "ctypes"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
mace.load, mace.RunOptions
heavy -= {"numpy", "ctypes"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], cwd=_ROOT, check=True)


def _by_rate(path: Path) -> Path:
    """Writes y = x * 2 for a rate of 16000, else x * 3."""
    info = helper.make_tensor_value_info
    branches = {}
    for name, factor in (("then_branch", 2.0), ("else_branch", 3.0)):
        weights = numpy_helper.from_array(np.float32(factor), f"{name}_w")
        branches[name] = helper.make_graph(
            [helper.make_node("Mul", ["x", f"{name}_w"], [f"{name}_y"])],
            name,
            [],
            [info(f"{name}_y", TensorProto.FLOAT, None)],
            [weights],
        )
    graph = helper.make_graph(
        [
            helper.make_node("Equal", ["sr", "rate"], ["is_rate"]),
            helper.make_node("If", ["is_rate"], ["y"], **branches),
        ],
        "by_rate",
        [
            info("x", TensorProto.FLOAT, (1, 300)),
            info("sr", TensorProto.INT64, ()),
        ],
        [info("y", TensorProto.FLOAT, (1, 300))],
        [numpy_helper.from_array(np.array(16000), "rate")],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path


def test_inputs_that_are_the_same_in_every_run(tmp_path: Path) -> None:
    path = _by_rate(tmp_path / "net.onnx")
    model = mace.load(path, constants={"sr": 16000})
    assert [tensor.name for tensor in model.inputs] == ["x"]
    assert _factor(model) == 2
    assert _factor(mace.load(path, constants={"sr": 8000})) == 3
    again = mace.load(path, constants={"sr": np.int32(16000)})
    assert _factor(again) == 2
    np.save(tmp_path / "sr.npy", np.array(8000))
    assert _factor(mace.load(path, constants={"sr": tmp_path / "sr.npy"})) == 3
    np.save(tmp_path / "sr.npy", np.array(16000))
    assert _factor(mace.load(path, constants={"sr": tmp_path / "sr.npy"})) == 2


def test_constants_in_a_file_of_a_deployment_file(tmp_path: Path) -> None:
    _by_rate(tmp_path / "net.onnx")
    config = tmp_path / "net.yml"
    config.write_text(
        "library_name: net\ntarget_abis: [host]\nmodels:\n  m:\n"
        "    model_file_path: net.onnx\n    runtime: cpu\n"
        "    constants: {sr: sr.npy}\n"
    )
    np.save(tmp_path / "sr.npy", np.array(16000))
    assert _factor(mace.load(config)) == 2
    np.save(tmp_path / "sr.npy", np.array(8000))
    assert _factor(mace.load(config)) == 3
    assert _factor(mace.load(config, constants={"sr": 16000})) == 2


@pytest.mark.parametrize(
    ("constants", "problem"),
    [
        ({"rate": 1}, r"constants: 'rate' is no input of .*; its inputs: x, sr"),
        ({"sr": 0.5}, r"constants: 'sr' is 0\.5, and the input is int64 \[\]"),
        ({"sr": "sr.npy"}, r"constants: 'sr\.npy' for 'sr' cannot be read: .*No such"),
        ({"sr": [[1], [1, 2]]}, "constants: .* for 'sr'"),
        ({"sr": "fast"}, "constants: 'fast' for 'sr' cannot be read"),
        ({"sr": None}, "constants: found None for 'sr', accepted: names of inputs"),
        ({"sr": 1 << 80}, "constants: found 1208925819614629174706176 for 'sr'"),
        (16000, "constants: found 16000, accepted"),
    ],
)
def test_constants_that_cannot_be(constants: Any, problem: str, tmp_path: Path) -> None:
    path = _by_rate(tmp_path / "net.onnx")
    with pytest.raises(mace.MaceError, match=problem):
        mace.load(path, constants=constants)
