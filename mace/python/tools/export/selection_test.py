# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Choosing the operators of a library."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from mace.python.tools.catalogue.loader import OPS_DIR
from mace.python.tools.export.selection import (
    PARTS,
    QUANTIZED_KERNELS,
    SelectionError,
    main,
    model_types,
    select_rooms,
)
from mace.python.tools.proto import load_proto


def _model(path: Path, *types: str) -> Path:
    message = load_proto("mace/proto/mace.proto").Model()
    for kind in types:
        message.operators.add(name=kind.lower(), type=kind)
    path.write_bytes(message.SerializeToString())
    return path


def test_rooms_of_several_models_and_operators(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = _model(tmp_path / "a.pb", "Conv2D", "Softmax", "Conv2D")
    second = _model(tmp_path / "b.pb", "Softmax", "LocalResponseNorm")
    assert model_types(first) == {"Conv2D", "Softmax"}
    assert main([f"--models={first},{second}", "--ops=MatMul, Conv2D"]) == 0
    assert capsys.readouterr().out == "conv2d,local_response_norm,matmul,softmax\n"


def test_models_with_weights_of_eight_bits_need_their_kernels(tmp_path: Path) -> None:
    path = _model(tmp_path / "a.pb", "Conv2D")
    proto = load_proto("mace/proto/mace.proto")
    message = proto.Model.FromString(path.read_bytes())
    message.constants.add(name="w", layout=proto.CL_PACKED_O16_SCALED)
    path.write_bytes(message.SerializeToString())
    assert model_types(path) == {"Conv2D", "Int8Weights"}
    assert select_rooms(model_types(path)) == ("conv2d", "int8_weights")


@pytest.mark.parametrize(
    ("winograd", "kernel", "strides", "needed"),
    [
        (4, 3, [1, 1], True),
        (2, 3, [], True),
        (0, 3, [1, 1], False),
        (4, 5, [1, 1], False),
        (4, 3, [2, 2], False),
    ],
)
def test_models_with_winograd_convolutions_need_its_transforms(
    tmp_path: Path, winograd: int, kernel: int, strides: list[int], needed: bool
) -> None:
    message = load_proto("mace/proto/mace.proto").Model()
    message.hints.winograd = winograd
    message.constants.add(name="w", dims=[16, kernel, kernel, 8])
    operator = message.operators.add(name="c", type="Conv2D", inputs=["x", "w"])
    if strides:
        operator.attributes.add(name="strides").ints.values.extend(strides)
    path = tmp_path / "a.pb"
    path.write_bytes(message.SerializeToString())
    assert ("Winograd" in model_types(path)) == needed
    assert ("winograd_transforms" in select_rooms(model_types(path))) == needed


@pytest.mark.parametrize(
    ("dims", "needed"),
    [([1, 9, 9, 1], True), ([1, 9, 9, 8], False), ([-1, 9, 9, -1], True), ([], True)],
)
def test_models_that_pool_few_channels_need_their_kernels(
    tmp_path: Path, dims: list[int], needed: bool
) -> None:
    assert _pools_few_channels(tmp_path / "a.pb", dims) == needed


def test_few_channels_are_as_many_as_for_the_engine(tmp_path: Path) -> None:
    source = (OPS_DIR / "pooling/line_pooling.cc").read_text(encoding="utf-8")
    (few,) = map(int, re.findall(r"kFewChannels = (\d+);", source))
    assert _pools_few_channels(tmp_path / "a.pb", [1, 9, 9, few - 1])
    assert not _pools_few_channels(tmp_path / "a.pb", [1, 9, 9, few])


def _pools_few_channels(path: Path, dims: list[int]) -> bool:
    """Whether a model that pools such an image needs the kernels for few channels."""
    message = load_proto("mace/proto/mace.proto").Model()
    operator = message.operators.add(name="p", type="Pooling", inputs=["x"])
    if dims:
        operator.output_shapes.add(dims=dims)
    path.write_bytes(message.SerializeToString())
    return "few_channels" in select_rooms(model_types(path))


@pytest.mark.parametrize(
    ("kind", "filters", "attrs", "needed"),
    [
        ("DepthwiseConv2d", [5, 5, 8, 1], {}, True),
        ("DepthwiseConv2d", [3, 5, 8, 1], {"strides": [1, 2]}, True),
        ("DepthwiseConv2d", [3, 3, 8, 1], {}, False),
        ("DepthwiseConv2d", [5, 3, 8, 1], {}, False),
        ("DepthwiseConv2d", [5, 5, 8, 1], {"dilations": [1, 2]}, False),
        ("DepthwiseConv2d", [5, 5, 8, 1], {"strides": [3, 3]}, False),
        ("Conv2D", [8, 5, 5, 1], {"groups": 8}, True),
        ("Conv2D", [8, 1, 1, 5], {"groups": 4}, True),
        ("Conv2D", [8, 5, 5, 8], {}, False),
        ("DepthwiseDeconv2d", [4, 9, 8, 1], {"strides": [2, 2]}, True),
        ("DepthwiseDeconv2d", [4, 4, 8, 1], {"strides": [2, 2]}, False),
    ],
)
def test_models_with_filters_5_wide_need_their_kernels(
    tmp_path: Path, kind: str, filters: list[int], attrs: dict[str, Any], needed: bool
) -> None:
    message = load_proto("mace/proto/mace.proto").Model()
    message.constants.add(name="w", dims=filters)
    operator = message.operators.add(name="c", type=kind, inputs=["x", "w"])
    for name, value in attrs.items():
        attribute = operator.attributes.add(name=name)
        if isinstance(value, int):
            attribute.i = value
        else:
            attribute.ints.values.extend(value)
    path = tmp_path / "a.pb"
    path.write_bytes(message.SerializeToString())
    assert ("FiveWide" in model_types(path)) == needed
    assert ("five_wide" in select_rooms(model_types(path))) == needed


def test_parts_are_those_of_the_build() -> None:
    build = (OPS_DIR / "BUILD.bazel").read_text(encoding="utf-8")
    (parts,) = re.findall(r"parts = \{([^}]*)\}", build)
    # Those that belong to nothing are named.
    named = sorted([*PARTS.values(), QUANTIZED_KERNELS])
    assert sorted(re.findall(r':(\w+)": \[\]', parts)) == named


def test_quantized_operators_have_rooms_of_their_own(tmp_path: Path) -> None:
    message = load_proto("mace/proto/mace.proto").Model()
    operator = message.operators.add(name="c", type="Conv2D")
    operator.output_quantization.add(scales=[0.5])
    path = tmp_path / "a.pb"
    path.write_bytes(message.SerializeToString())
    assert model_types(path) == {"QuantizedConv2D"}
    rooms = select_rooms(model_types(path))
    assert rooms == ("conv2d_quantized", "quantized")
    operator.output_quantization[0].data_type = 8  # DT_INT16
    path.write_bytes(message.SerializeToString())
    assert select_rooms(model_types(path)) == ("conv2d_quantized", "int16", "quantized")
    with pytest.raises(SelectionError, match="QuantizedSoftmac"):
        select_rooms({"QuantizedSoftmac"})


def test_named_operators_in_integers_as_well(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--ops=Conv2D,Cast,FiveWide", "--quantize"]) == 0
    rooms = capsys.readouterr().out.strip().split(",")
    assert rooms == [
        *("cast", "conv2d", "conv2d_quantized", "dequantize", "five_wide"),
        *("int16", "quantize", "quantized"),
    ]
    assert main(["--ops=Cast", "--quantize"]) == 0
    assert capsys.readouterr().out == "cast\n"


def test_arithmetic_in_16_bits_needs_conversions(tmp_path: Path) -> None:
    message = load_proto("mace/proto/mace.proto").Model()
    message.operators.add(name="c", type="Conv2D")
    path = tmp_path / "a.pb"
    for data_type, types in [
        ("fp16_fp32", {"Conv2D"}),
        ("fp16_fp16", {"Conv2D", "Cast"}),
        ("bf16_bf16", {"Conv2D", "Cast"}),
    ]:
        message.hints.data_type = data_type
        path.write_bytes(message.SerializeToString())
        assert model_types(path) == types


def test_a_data_type_of_another_release_is_refused(tmp_path: Path) -> None:
    message = load_proto("mace/proto/mace.proto").Model()
    message.operators.add(name="c", type="Softmax")
    message.hints.data_type = "fp8_fp8"
    path = tmp_path / "a.pb"
    path.write_bytes(message.SerializeToString())
    with pytest.raises(SelectionError, match=r"a\.pb asks for data_type 'fp8_fp8'"):
        model_types(path)


def test_every_unknown_operator_is_named() -> None:
    with pytest.raises(SelectionError) as caught:
        select_rooms(["Softmx", "Conv2D", "Nothing"])
    assert "Softmx (did you mean Softmax?)" in str(caught.value)
    assert "Nothing" in str(caught.value)
    assert "\n  Conv2D" not in str(caught.value)


def test_declared_but_not_computed(tmp_path: Path) -> None:
    room = tmp_path / "later"
    room.mkdir()
    declaration = {
        "op": "Later",
        "summary": "To come.",
        "inputs": [{"name": "x", "types": ["float32"]}],
        "outputs": [{"name": "y", "types": ["float32"]}],
        "attributes": {},
    }
    (room / "later.op.yaml").write_text(yaml.safe_dump(declaration))
    (room / "later_test.cc").write_text("")
    with pytest.raises(SelectionError, match="Later"):
        select_rooms(["Later"], tmp_path)
    (room / "later.cc").write_text("")
    assert select_rooms(["Later"], tmp_path) == ("later",)


def test_all_files_that_are_no_models_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "damaged.pb"
    damaged.write_bytes(b"\xff" * 9)
    empty = _model(tmp_path / "empty.pb")
    missing = tmp_path / "missing.pb"
    assert main([f"--models={damaged},{empty},{missing}"]) == 2
    text = capsys.readouterr().err
    assert "damaged.pb can't be read as a converted model" in text
    assert "empty.pb has no operators" in text
    assert "missing.pb can't be read as a converted model (.pb): No such file" in text


def test_nothing_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--ops=,"]) == 2
    assert "no model and no operator" in capsys.readouterr().err
