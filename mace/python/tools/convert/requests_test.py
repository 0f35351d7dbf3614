# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a deployment file asks of an importer."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

from mace.python.tools.atomic import OutputError
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.subgraph import BorderTensor
from mace.python.tools.config.vocabulary import DataFormat as BorderFormat
from mace.python.tools.convert.requests import check_states, target_of
from mace.python.tools.convert.scaled_inputs import scale_inputs, scaled
from mace.python.tools.convert.staging import Staging
from mace.python.tools.data_type import DataType as BorderType
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.ir import DataFormat, DataType, Graph, GraphBuilder
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import Target
from mace.python.tools.passes import optimize
from mace.python.tools.passes.testing import types

_DEPLOYMENT = """
library_name: net
target_abis: host
models:
  net:
    platform: onnx
    model_file_path: {path}
    runtime: {runtime}
    data_type: {data_type}
    {more}
    subgraphs:
      - input_tensors: x
        input_shapes: 1,2
        output_tensors: y
        output_shapes: 1,2
"""


@pytest.mark.parametrize(
    ("runtime", "data_type", "more", "expected"),
    [
        ("cpu", "fp32_fp32", "", Target(("CPU",))),
        ("cpu", "fp16_fp32", "", Target(("CPU",))),
        ("cpu", "bf16_bf16", "", Target(("CPU",), DataType.BFLOAT16)),
        ("cpu+gpu", "fp32_fp32", "", Target(("CPU", "GPU"))),
        ("dsp", "fp32_fp32", "quantize: 1", Target(("HEXAGON",), integers=True)),
        ("cpu", "fp32_fp32", "quantize_dynamic: 1", Target(("CPU",), integers=True)),
    ],
)
def test_what_a_model_is_made_for(
    runtime: str, data_type: str, more: str, expected: Target, tmp_path: Path
) -> None:
    path = tmp_path / "net.onnx"
    path.touch()
    text = _DEPLOYMENT.format(
        path=path, runtime=runtime, data_type=data_type, more=more
    )
    deployment = load_deployment_text(text, tmp_path / "net.yml")
    (model,) = deployment.models.values()
    assert target_of(model) == expected


def test_states_are_told_in_the_users_order(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.touch()
    part = (
        'input_tensors: [z, x]\n        input_shapes: ["1", "1,2,3,4"]\n'
        "        input_data_formats: NCHW\n        output_data_formats: NCHW\n"
        "        states: {x: y}\n"
    )
    text = _DEPLOYMENT.format(path=path, runtime="cpu", data_type="fp32_fp32", more="")
    text = text.replace("input_tensors: x\n        input_shapes: 1,2\n", part)
    text = text.replace("output_shapes: 1,2\n", "output_shapes: 1,2,3,5\n")
    (model,) = load_deployment_text(text, tmp_path / "net.yml").models.values()
    builder = GraphBuilder("net", "onnx")
    builder.input("z", DataType.FLOAT32, (1,))
    # As the passes leave it.
    x = builder.input("x", DataType.FLOAT32, (1, 3, 4, 2), DataFormat.NHWC)
    sizes = {"pads": [0, 0, 0, 0, 0, 1, 0, 0]}
    builder.output(builder.one("Pad", [x], "y", sizes), "y", DataFormat.NHWC)
    says = r"that is of shape \[1, 2, 3, 5\], the state of shape \[1, 2, 3, 4\]$"
    with pytest.raises(ImportModelError, match=says):
        check_states(model, builder.graph)


_MEANS = (123.7, 116.8, 103.9)
_SCALES = (0.017, 0.0175, 0.0174)


def _network(data_format: DataFormat = DataFormat.NHWC) -> Graph:
    """A convolution with padding, which cannot take the normalisation over."""
    second = data_format is DataFormat.NCHW
    b = GraphBuilder("net", "test")
    shape = (1, 3, 6, 5) if second else (1, 6, 5, 3)
    x = b.input("x", DataType.FLOAT32, shape, data_format)
    weights = np.random.default_rng(0).standard_normal((4, 3, 3, 3))
    attrs = {"padding": "SAME", "data_format": data_format.value}
    filters = b.constant("w", weights.astype(np.float32))
    y = b.one("Conv2D", [x, filters], None, attrs, "y")
    b.output(y, "y", data_format)
    b.graph.prune()
    return b.graph


def _info(**changes: object) -> BorderTensor:
    values = {"data_type": BorderType.UINT8, "means": _MEANS, "scales": _SCALES}
    return BorderTensor("x", (1, 6, 5, 3), **{**values, **changes})  # type: ignore


def _pixels() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (1, 6, 5, 3)).astype(np.uint8)


@pytest.mark.parametrize("data_format", [DataFormat.NHWC, DataFormat.NCHW])
@pytest.mark.parametrize(
    ("means", "scales", "between"),
    [
        (_MEANS, _SCALES, ["BatchNorm"]),
        ((127.5,), (1 / 127.5,), ["BatchNorm"]),
        (_MEANS, None, ["Eltwise"]),
        # The filter has it.
        (None, (0.5,), []),
    ],
)
def test_bytes_give_what_normalised_floats_give(
    data_format: DataFormat,
    means: tuple[float, ...] | None,
    scales: tuple[float, ...] | None,
    between: list[str],
) -> None:
    info = _info(means=means, scales=scales)
    wanted, found = _network(data_format), _network(data_format)
    scale_inputs(found, [info], "net")
    for graph in (wanted, found):
        optimize(graph)
    assert found.inputs[0].name == "x"
    assert found.inputs[0].dtype is DataType.UINT8
    assert [op.type for op in found.ops] == ["Cast", *between, "Conv2D"]
    pixels = _pixels()
    (want,) = run_graph(wanted, {"x": scaled(info, pixels)}).values()
    (have,) = run_graph(found, {"x": pixels}).values()
    np.testing.assert_allclose(have, want, rtol=0, atol=1e-5 * np.abs(want).max())


def test_floats_are_normalised_without_a_cast() -> None:
    graph = _network()
    scale_inputs(graph, [_info(data_type=BorderType.FLOAT16)], "net")
    assert graph.inputs[0].dtype is DataType.FLOAT32
    optimize(graph)
    assert types(graph) == {"BatchNorm": 1, "Conv2D": 1}


def test_bytes_alone() -> None:
    graph = _network()
    scale_inputs(graph, [_info(means=(0.0,), scales=None)], "net")
    optimize(graph)
    assert types(graph) == {"Cast": 1, "Conv2D": 1}


def test_without_numbers_nothing_changes() -> None:
    graph = _network()
    scale_inputs(graph, [_info(means=None, scales=None)], "net")
    assert types(graph) == {"Conv2D": 1}
    assert graph.inputs[0].dtype is DataType.FLOAT32


def test_what_is_no_float() -> None:
    b = GraphBuilder("net", "test")
    x = b.input("x", DataType.INT32, (4,))
    b.output(b.one("Eltwise", [x], None, {"mode": "NEG"}, "y"), "y")
    info = BorderTensor("x", (4,), BorderType.INT32, means=(1.0,))
    with pytest.raises(ImportModelError, match="takes 'x' as int32; give 0 and 1"):
        scale_inputs(b.graph, [info], "net")
    neutral = BorderTensor("x", (4,), BorderType.INT32, means=(0.0,), scales=(1.0,))
    scale_inputs(b.graph, [neutral], "net")
    assert types(b.graph) == {"Eltwise": 1}
    indices = np.arange(4, dtype=np.int32)
    assert scaled(neutral, indices) is indices


def test_the_reference_takes_the_channels_where_they_are() -> None:
    pixels = _pixels()
    last = scaled(_info(), pixels)
    second = scaled(_info(data_format=BorderFormat.NCHW), pixels.transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(second.transpose(0, 2, 3, 1), last)
    assert last.dtype == np.float32
    np.testing.assert_allclose(last[0, 0, 0], (pixels[0, 0, 0] - _MEANS) * _SCALES)


_NAMES = ("a/net.pb", "a/net.data", "b/net.txt")


def _contents(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text() if path.is_file() else "folder"
        for path in root.rglob("*")
    }


def _write(root: Path, text: str, staging: Staging) -> None:
    for name in _NAMES:
        staging.path(root / name).write_text(text)


def _no_space(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _strike(monkeypatch: pytest.MonkeyPatch, number: int, strike: Any) -> None:
    """Replaces the call of os.replace of that number, from 0."""
    real = os.replace
    calls: list[Path] = []

    def replace(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == number + 1:
            strike(source, target)
        else:
            real(source, target)

    monkeypatch.setattr(os, "replace", replace)


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("earlier", [True, False])
@pytest.mark.parametrize(
    ("strike", "raised"), [(_no_space, OutputError), (_interrupt, KeyboardInterrupt)]
)
@pytest.mark.parametrize("number", range(len(_NAMES)))
def test_a_rename_that_fails_undoes_the_others(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    strike: Callable[..., None],
    raised: type[BaseException],
    earlier: bool,
    links: bool,
) -> None:
    if earlier:
        with Staging() as staging:
            _write(tmp_path, "old", staging)
    before = _contents(tmp_path)
    if not links:
        monkeypatch.setattr(os, "link", _no_space)
    _strike(monkeypatch, number, strike)
    with pytest.raises(raised):
        with Staging() as staging:
            _write(tmp_path, "new", staging)
    assert _contents(tmp_path) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("step", range(len(_NAMES)))
def test_a_signal_waits_until_all_are_renamed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: int,
    number: signal.Signals,
) -> None:
    came: list[int] = []

    def handler(signal_number: int, _: object) -> None:
        came.append(signal_number)
        raise KeyboardInterrupt

    real = os.replace

    def strike(source: Path, target: Path) -> None:
        signal.raise_signal(number)
        real(source, target)

    with Staging() as staging:
        _write(tmp_path, "old", staging)
    _strike(monkeypatch, step, strike)
    previous = signal.signal(number, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            with Staging() as staging:
                _write(tmp_path, "new", staging)
    finally:
        signal.signal(number, previous)
    assert came == [number]
    assert set(_contents(tmp_path).values()) == {"new", "folder"}
    assert len(_contents(tmp_path)) == len(_NAMES) + 2


@pytest.mark.parametrize("earlier", [True, False])
def test_what_was_published_is_undone_with_the_rest(
    tmp_path: Path, earlier: bool
) -> None:
    if earlier:
        with Staging() as staging:
            _write(tmp_path, "old", staging)
    before = _contents(tmp_path)
    with pytest.raises(ValueError, match="later"):
        with Staging() as staging:
            _write(tmp_path, "new", staging)
            staging.publish(tmp_path / "a")
            assert (tmp_path / "a" / "net.pb").read_text() == "new"
            assert (tmp_path / "b" / "net.txt").exists() is earlier
            raise ValueError("later")
    assert _contents(tmp_path) == before


def test_an_abandoned_one_leaves_nothing(tmp_path: Path) -> None:
    """An interruption before `with` has begun, or as it ends."""
    staging = Staging()
    _write(tmp_path, "new", staging)
    del staging
    assert _contents(tmp_path) == {}


def test_nothing_but_the_outputs_is_left(tmp_path: Path) -> None:
    for text in ("first", "second"):
        with Staging() as staging:
            _write(tmp_path, text, staging)
        found = _contents(tmp_path)
        assert {name for name, text in found.items() if text != "folder"} == set(_NAMES)
        assert found["a/net.pb"] == text
