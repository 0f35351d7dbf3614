# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of models, compared with ONNX Runtime and NumPy."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import re
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import mace
from mace.python.runtime import accelerators, library, options

_ROOT = Path(__file__).resolve().parents[3]
_DIGITS = _ROOT / "mace" / "examples" / "digits" / "digits.onnx"

_FLOAT, _INT64 = TensorProto.FLOAT, TensorProto.INT64


def _random(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(5).random(shape, dtype=np.float32)


def _save(path: Path, nodes: list[Any], inputs: Any, outputs: Any) -> Path:
    def info(name: str, dtype: int, *shape: Any) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, dtype, shape)

    graph = helper.make_graph(
        nodes, path.stem, [info(*i) for i in inputs], [info(*o) for o in outputs]
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two inputs, one of indices, and two outputs, of any number of rows."""
    nodes = [
        helper.make_node("Gather", ["a", "rows"], ["taken"], axis=0),
        helper.make_node("Add", ["taken", "taken"], ["twice"]),
        helper.make_node("ReduceSum", ["a"], ["sum"], keepdims=1),
    ]
    return _save(
        tmp_path_factory.mktemp("models") / "several.onnx",
        nodes,
        [("a", _FLOAT, "n", 4), ("rows", _INT64, "m")],
        [("twice", _FLOAT, "m", 4), ("sum", _FLOAT, 1, 1)],
    )


@pytest.fixture(scope="module")
def digits() -> mace.Model:
    return mace.load(_DIGITS, dims={"N": 1})


@pytest.fixture(scope="module")
def open_several(several: Path) -> mace.Model:
    return mace.load(several, dims={"n": -1, "m": -1})


def _expected(path: Path, **inputs: Any) -> list[Any]:
    return list(onnxruntime.InferenceSession(path).run(None, inputs))


def test_a_model_gives_what_onnx_runtime_gives(digits: mace.Model) -> None:
    image = _random(1, 1, 8, 8)
    (expected,) = _expected(_DIGITS, image=image)
    found = digits(image)
    assert isinstance(found, np.ndarray) and found.shape == (1, 10)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_a_model_says_what_it_takes_and_returns(digits: mace.Model) -> None:
    (image,) = digits.inputs
    (probability,) = digits.outputs
    assert (image.name, image.shape, image.dtype) == (
        "image",
        (1, 1, 8, 8),
        np.dtype("float32"),
    )
    assert (image.format, probability.format) == ("NCHW", "NONE")
    assert (probability.name, probability.shape) == ("probability", (1, 10))
    assert repr(digits) == (
        "<mace.Model digits: image float32[1, 1, 8, 8] -> probability float32[1, 10]>"
    )


def test_inputs_and_outputs_go_by_name_or_by_order(open_several: mace.Model) -> None:
    a, rows = _random(5, 4), np.array([1, 4, 1])
    expected = {"twice": 2 * a[rows], "sum": a.sum()}
    for found in (
        open_several(a, rows),
        open_several(a, rows=rows),
        open_several(a=a, rows=rows),
        open_several({"a": a, "rows": rows}),
        open_several.run({"rows": rows, "a": a}),
    ):
        assert isinstance(found, dict) and list(found) == ["twice", "sum"]
        np.testing.assert_allclose(found["twice"], expected["twice"])
        np.testing.assert_allclose(found["sum"], expected["sum"], rtol=1e-6)


def test_a_dictionary_gives_a_dictionary(digits: mace.Model) -> None:
    image = _random(1, 1, 8, 8)
    found = digits({"image": image})
    assert isinstance(found, dict)
    np.testing.assert_array_equal(found["probability"], digits(image))


def test_every_run_may_have_other_shapes(open_several: mace.Model) -> None:
    for size in (1, 3, 2, 3, 0):
        a, rows = _random(size + 1, 4), np.arange(size)
        found = open_several.run({"a": a, "rows": rows})
        np.testing.assert_array_equal(found["twice"], 2 * a[:size])


def test_arrays_need_not_be_dense_or_of_the_models_type(digits: mace.Model) -> None:
    wide = _random(1, 8, 8, 2).transpose(0, 3, 1, 2)
    image = wide[:, 1:]
    expected = digits(image.copy())
    for given in (image, image.astype(">f4"), image.astype(np.float64), image.tolist()):
        np.testing.assert_array_equal(digits(given), expected)
    half = digits(image.astype(np.float16))
    np.testing.assert_allclose(half, expected, atol=1e-3)


class _Tensor:
    """As other libraries have them: its numbers are had without gradients only."""

    dtype = "torch.bfloat16"

    def __init__(self, array: Any, requires_grad: bool) -> None:
        self._array, self.requires_grad = array, requires_grad

    def detach(self) -> _Tensor:
        return _Tensor(self._array, False)

    def __array__(self, *_: Any, **__: Any) -> Any:
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        if self._array is None:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self._array


def test_tensors_of_other_libraries(digits: mace.Model) -> None:
    image = _random(1, 1, 8, 8)
    np.testing.assert_array_equal(digits(_Tensor(image, True)), digits(image))
    with pytest.raises(mace.MaceError, match=r"of torch.bfloat16 .* tensor.float\(\)"):
        digits(_Tensor(None, False))
    for nothing in (None, "cat.png", object()):
        with pytest.raises(mace.MaceError, match="holds no real numbers"):
            digits(nothing)


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_arrays_of_runs_are_not_copied(copied: Any, digits: mace.Model) -> None:
    for what in (digits.bind(), mace.Pipeline()):
        name = type(what).__name__
        with pytest.raises(mace.MaceError, match=f"a {name} cannot be pickled or"):
            copied(what)


def test_a_pickled_model_is_loaded_from_its_files(
    tmp_path: Path, digits: mace.Model
) -> None:
    image = _random(1, 1, 8, 8)
    for copied in (pickle.loads(pickle.dumps(digits)), copy.deepcopy(digits)):
        assert copied.options == digits.options
        np.testing.assert_array_equal(copied(image), digits(image))
    saved = mace.load(digits.save(tmp_path / "saved.pb"))
    np.testing.assert_array_equal(saved(image), digits(image))
    data = pickle.dumps(saved)
    (tmp_path / "saved.pb").unlink()
    with pytest.raises(mace.MaceError, match="saved.pb is not here: a pickled model"):
        pickle.loads(data)
    with pytest.raises(mace.MaceError, match="its files do not last"):
        pickle.dumps(saved)
    with pytest.raises(mace.MaceError, match="is gone, from which"):
        saved.save(tmp_path / "again.pb")
    with pytest.raises(mace.MaceError, match="converted model ends in .pb"):
        digits.save(tmp_path / "model.onnx")
    lasting = mace.load(_DIGITS, dims={"N": 1}, cache=False)
    np.testing.assert_array_equal(
        mace.load(lasting.save(tmp_path / "kept.pb"))(image), digits(image)
    )


def test_some_outputs_alone(open_several: mace.Model) -> None:
    inputs = {"a": _random(5, 4), "rows": np.array([1, 4, 1])}
    whole = open_several.run(inputs)
    for names in (["sum"], ["twice", "sum"], ["sum", "twice"], ["sum:0"], "twice"):
        found = open_several.run(inputs, outputs=names)
        assert list(found) == ([names] if isinstance(names, str) else names)
        for name, array in found.items():
            np.testing.assert_array_equal(array, whole[name.removesuffix(":0")])
    for wrong, message in (
        (["smu"], "no output 'smu'; did you mean 'sum'"),
        (["sum", "sum:0"], "each output once"),
        ([], "outputs: found none"),
    ):
        with pytest.raises(mace.UsageError, match=message):
            open_several.run(inputs, outputs=wrong)


def test_a_model_says_where_its_time_goes(digits: mace.Model) -> None:
    image = _random(1, 1, 8, 8)
    expected = digits(image)
    profile = digits.profile({"image": image}, runs=3)
    operators = digits.operators()
    assert [item.operator for item in profile.operators] == list(operators)
    assert {op.device for op in operators} == {"cpu"}
    assert all(0 <= item.min_us <= item.median_us for item in profile.operators)
    assert sum(item.min_us for item in profile.operators) <= profile.median_us * 1.5
    assert sum(profile.by_type().values()) == pytest.approx(
        sum(item.median_us for item in profile.operators)
    )
    for text in (str(profile), profile._repr_html_(), digits.explain()):
        assert all(op.type in text for op in operators)
    assert "(3 runs)" in str(profile)
    memory = digits.memory()
    assert memory["weights"] > 10000 and memory["states"] == 0
    np.testing.assert_array_equal(digits(image), expected)
    with pytest.raises(mace.UsageError, match="runs: found 0, accepted: 1, 2"):
        digits.profile({"image": image}, runs=0)


def test_an_event_loop_goes_on(digits: mace.Model) -> None:
    images = [_random(1, 1, 8, 8) for _ in range(4)]

    async def together() -> list[dict[str, Any]]:
        runs = (digits.run_async({"image": image}) for image in images)
        return list(await asyncio.gather(*runs))

    for image, found in zip(images, asyncio.run(together())):
        (array,) = found.values()
        np.testing.assert_array_equal(array, digits(image))


def test_a_notebook_shows_inputs_and_outputs(open_several: mace.Model) -> None:
    page = open_several._repr_html_()
    for info in (*open_several.inputs, *open_several.outputs):
        assert f"<td>{info.name}</td>" in page
    assert "<td>[?, 4]</td>" in page


def test_editors_complete_what_is_accepted() -> None:
    assert set(get_args(options.Runtime)) == set(library.DEVICES)
    assert set(get_args(options.Affinity)) == set(library.AFFINITIES)
    assert set(get_args(options.PrecisionName)) == set(options.PRECISIONS)
    for kind, accepted in (
        (accelerators.Corner, accelerators.CORNERS),
        (accelerators.Preference, accelerators.PREFERENCES),
        (accelerators.Performance, accelerators.PERFORMANCES),
    ):
        assert set(get_args(kind)) == set(accepted)


def test_integers_of_16_bits(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Cast", ["pcm"], ["x"], to=_FLOAT),
        helper.make_node("Neg", ["x"], ["y"]),
        helper.make_node("Cast", ["y"], ["out"], to=TensorProto.INT16),
    ]
    sides = [[(name, TensorProto.INT16, 1, 4)] for name in ("pcm", "out")]
    model = mace.load(_save(tmp_path / "pcm.onnx", nodes, *sides), cache=False)
    assert {info.dtype.name for info in (*model.inputs, *model.outputs)} == {"int16"}
    pcm = np.array([[-32767, -1, 0, 32767]], np.int16)
    found = model(pcm)
    assert found.dtype == np.int16
    np.testing.assert_array_equal(found, -pcm)
    np.testing.assert_array_equal(model(pcm.tolist()), -pcm)
    with pytest.raises(mace.MaceError, match="input 'pcm' is int16: the array has"):
        model(np.array([[0, 0, 0, 40000]]))


def test_integers_that_do_not_fit_are_refused(open_several: mace.Model) -> None:
    with pytest.raises(mace.MaceError, match="input 'rows' is int32: the array has"):
        open_several(_random(2, 4), np.array([2**40]))
    with pytest.raises(mace.MaceError, match="convert it first"):
        open_several(_random(2, 4), np.array([0.5]))


@pytest.mark.parametrize(
    "run, message",
    [
        (lambda model, x: model(imgae=x), "'imgae' is not an input; did you mean"),
        (lambda model, x: model(), "which takes 'image': 'image' is missing"),
        (lambda model, x: model(x, image=x), "'image' is given twice"),
        (lambda model, x: model(x, x), "2 arrays were given"),
        (lambda model, x: model(x[0]), "has 4 dimensions in the model"),
        (
            lambda model, x: model(x.transpose(0, 2, 3, 1)),
            r"'image' has the shape \[1, 8, 8, 1\]: dimension 1 is 8, but the model "
            r"was converted for 1 \(\[1, 1, 8, 8\]\); .*give -1",
        ),
        (lambda model, x: model(x[..., 1:].reshape((1,) * 5 + (8, 7))), "dimensions"),
        (lambda model, x: model(x.reshape((1,) * 9 + x.shape)), "at most 8"),
        (lambda model, x: model(np.array(["8"])), "the array is str"),
        (lambda model, x: model.bind({"image": x[..., ::-1]}), "must be a dense"),
        (lambda model, x: model.bind({"images": x}), "no input 'images'; it has 'ima"),
    ],
)
def test_errors_say_what_to_change(
    digits: mace.Model, run: Callable[..., Any], message: str
) -> None:
    with pytest.raises(mace.MaceError, match=message):
        run(digits, _random(1, 1, 8, 8))


def test_a_run_after_an_error_is_right(digits: mace.Model) -> None:
    image = _random(1, 1, 8, 8)
    expected = digits(image)
    with pytest.raises(mace.EngineError) as caught:
        digits(image[0])
    assert caught.value.code == "MACE_INVALID_ARGS"
    np.testing.assert_array_equal(digits(image), expected)


def test_a_bound_model_reads_and_writes_the_same_arrays(digits: mace.Model) -> None:
    images = _random(2, 1, 1, 8, 8)
    result = np.empty((1, 10), np.float32)
    bound = digits.bind(outputs={"probability": result})
    for image in images:
        bound.inputs["image"][...] = image
        assert bound() is result
        np.testing.assert_array_equal(result, digits(image))


def test_setting_a_bound_input_copies(digits: mace.Model) -> None:
    images = _random(2, 1, 1, 8, 8)
    bound = digits.bind()
    array = bound.inputs["image"]
    # Of another type, and not dense.
    bound.inputs["image"] = images[0].astype(np.float64)
    np.testing.assert_array_equal(bound(), digits(images[0]))
    bound.inputs["image"] = images[1].transpose(0, 1, 3, 2)
    np.testing.assert_array_equal(bound(), digits(images[1].transpose(0, 1, 3, 2)))
    assert bound.inputs["image"] is array
    assert dict(bound.inputs) == {"image": array} and len(bound.inputs) == 1
    with pytest.raises(mace.MaceError, match="no input 'imgae'; did you mean 'image'"):
        bound.inputs["imgae"] = images[0]
    with pytest.raises(mace.MaceError, match=r"of the shape \[1, 1, 8, 8\].*\[8, 8\]"):
        bound.inputs["image"] = images[0, 0, 0]
    with pytest.raises(mace.MaceError, match="holds no real numbers"):
        bound.inputs["image"] = np.full((1, 1, 8, 8), "x")
    with pytest.raises(TypeError):
        bound.outputs["probability"] = np.zeros((1, 10))  # type: ignore[index]
    fixed = images[0].copy()
    fixed.flags.writeable = False
    with pytest.raises(mace.MaceError, match="cannot be written"):
        digits.bind({"image": fixed}).inputs["image"] = images[1]


def test_a_run_keeps_to_fixed_dimensions(tmp_path: Path) -> None:
    # Of which the model has made constants, here a grid.
    path = tmp_path / "scale.onnx"
    node = helper.make_node("Mul", ["x", "x"], ["y"])
    _save(path, [node], [("x", _FLOAT, 2, 3)], [("y", _FLOAT, 2, 3)])
    model = mace.load(path)
    with pytest.raises(
        mace.MaceError,
        match=r"'x' has the shape \[2, 4\]: dimension 1 is 4, but .* for 3 ",
    ):
        model(_random(2, 4))
    x = _random(2, 3)
    np.testing.assert_array_equal(model(x), x * x)


def test_a_bound_run_allocates_nothing(digits: mace.Model) -> None:
    bound = digits.bind()
    bound()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.take_snapshot()
        for _ in range(100):
            bound()
        after = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    own = [tracemalloc.Filter(True, "*/mace/python/runtime/*")]
    grown = after.filter_traces(own).compare_to(before.filter_traces(own), "filename")
    assert sum(max(0, item.size_diff) for item in grown) < 1000


def test_only_known_shapes_are_bound_without_arrays(open_several: mace.Model) -> None:
    with pytest.raises(mace.MaceError, match="'a' has the shape"):
        open_several.bind()
    arrays = {"a": _random(3, 4), "rows": np.array([2], np.int32)}
    results = {
        "twice": np.empty((2, 4), np.float32),
        "sum": np.empty((1, 1), np.float32),
    }
    found = open_several.bind(arrays, results)()
    assert isinstance(found, dict)
    # Of a larger array, the part that was written.
    np.testing.assert_array_equal(found["twice"], 2 * arrays["a"][2:])
    assert np.shares_memory(found["twice"], results["twice"])


def test_threads_share_a_model(digits: mace.Model) -> None:
    images = _random(16, 1, 1, 8, 8)
    expected = [digits(image) for image in images]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            found = list(pool.map(digits, images))
            np.testing.assert_array_equal(found, expected)


def test_python_goes_on_while_the_library_computes(tmp_path: Path) -> None:
    path = tmp_path / "product.onnx"
    ports = [("x", _FLOAT, 500, 1000), ("w", _FLOAT, 1000, 1000)]
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    _save(path, [node], ports, [("y", _FLOAT, 500, 1000)])
    bound = mace.load(path, options=mace.RunOptions(threads=1)).bind()
    count, done = 0, threading.Event()

    def go_on() -> None:
        nonlocal count
        while not done.is_set():
            count += 1

    other = threading.Thread(target=go_on)
    other.start()
    counted: list[int] = []
    try:
        # A busy computer may not let the other thread run at once.
        while len(counted) < 50 and max(counted, default=0) < 1000:
            before = count
            bound()
            counted.append(count - before)
    finally:
        done.set()
        other.join()
    assert max(counted) >= 1000


def test_a_closed_model_refuses_to_run() -> None:
    with mace.load(_DIGITS, dims={"N": 1}) as model:
        bound = model.bind()
    for run in (bound, model.reset_states, lambda: model(_random(1, 1, 8, 8))):
        with pytest.raises(mace.MaceError, match="'digits' was closed"):
            run()
    model.close()


def test_states_advance_once_for_each_run(tmp_path: Path) -> None:
    nodes = [helper.make_node("Add", ["x", "before"], ["now"])]
    ports = [("x", _FLOAT, 1, 4), ("before", _FLOAT, 1, 4)]
    model = _save(tmp_path / "sums.onnx", nodes, ports, [("now", _FLOAT, 1, 4)])
    deployment = tmp_path / "sums.yml"
    deployment.write_text(
        f"""
library_name: sums
target_abis: host
models:
  sums:
    model_file_path: {model.name}
    runtime: cpu
    subgraphs:
      - states: {{before: now}}
"""
    )
    sums = mace.load(deployment)
    assert [info.name for info in sums.inputs] == ["x"]
    one = np.ones((1, 4), np.float32)
    assert [float(np.asarray(sums(one)).max()) for _ in range(3)] == [1, 2, 3]
    sums.reset_states()
    sums.release_memory()
    assert float(np.asarray(sums(one)).max()) == 1


@pytest.mark.parametrize(
    "options, message",
    [
        ({"threads": 0}, "threads: found 0, accepted: 1, 2, ..."),
        ({"memory_limit": -1}, "memory_limit: found -1, accepted: 1, 2, ..."),
        ({"runtimes": "npu"}, "runtimes: found 'npu', accepted: cpu, gpu, dsp"),
        ({"runtimes": ()}, "runtimes: found none"),
        ({"affinity": "big"}, "affinity: found 'big', accepted: none, big_only"),
        ({"precision": "fp16"}, "precision: found 'fp16', accepted: fp16_fp32"),
    ],
)
def test_options_say_what_is_accepted(options: dict[str, Any], message: str) -> None:
    with pytest.raises(mace.MaceError, match=message):
        mace.RunOptions(**options)


def test_scalars_have_no_dimensions(tmp_path: Path) -> None:
    path = tmp_path / "scalars.onnx"
    nodes = [
        helper.make_node("Mul", ["x", "scale"], ["scaled"]),
        helper.make_node("ReduceSum", ["scaled"], ["sum"], keepdims=0),
    ]
    _save(path, nodes, [("x", _FLOAT, 2, 3), ("scale", _FLOAT)], [("sum", _FLOAT)])
    model = mace.load(path)
    assert [info.shape for info in (*model.inputs, *model.outputs)] == [(2, 3), (), ()]
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    result = model(x, 2)
    assert result.shape == () and result == 30
    bound = model.bind({"x": x, "scale": np.array(3, np.float32)})
    assert bound() == 45 and bound.outputs["sum"].shape == ()


def test_a_limit_of_memory_is_kept() -> None:
    image = np.zeros((1, 1, 8, 8), np.float32)

    def load(limit: int) -> mace.Model:
        options = mace.RunOptions(threads=1, memory_limit=limit)
        return mace.load(_DIGITS, dims={"N": 1}, options=options)

    told = r"no memory for the (.*) of model 'digits' \((\d+) bytes, over the limit\)"
    with pytest.raises(mace.EngineError, match=told) as failure:
        load(1)
    assert failure.value.code == "MACE_OUT_OF_RESOURCES"
    weights = int(re.search(told, str(failure.value))[2])  # type: ignore[index]
    model = load(weights)
    with pytest.raises(mace.EngineError, match=told) as failure:
        model(image)
    found = re.search(told, str(failure.value))
    assert found and found[1] == "intermediate tensors"
    load(weights + int(found[2]))(image)


def test_options_reach_the_library() -> None:
    image = np.full((1, 1, 8, 8), np.nan, np.float32)
    options = mace.RunOptions(
        runtimes=["cpu"], threads=1, affinity="power_save", check_range=True
    )
    model = mace.load(_DIGITS, dims={"N": 1}, options=options)
    with pytest.raises(mace.EngineError, match="NaN"):
        model(image)


def test_the_first_result_of_a_node_may_be_called_with_or_without_its_number(
    several: Path,
) -> None:
    a, rows = _random(3, 4), np.array([2, 0], np.int64)
    with mace.load(several, dims={"n": 3, "m": 2}) as model:
        twice = model.run({"a:0": a, "rows": rows})["twice"]
        np.testing.assert_array_equal(twice, 2 * a[rows])
        with pytest.raises(mace.MaceError, match="'a:1' is not an input"):
            model.run({"a:1": a, "rows": rows})
