# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Kaldi's components beside NumPy models of Kaldi's definitions of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    import_proto,
    kaldi_model,
    normal,
    run_mace,
)
from mace.python.tools.importers.standard.node import HANDLERS
from mace.python.tools.ir.dtypes import Array

X = normal(2, 7, 12)


def _check(
    folder: Path,
    kind: str,
    wanted: Any,
    inputs: Mapping[str, Array] | None = None,
    constants: Mapping[str, Array] | None = None,
    **attributes: Any,
) -> None:
    given = {"x": X} if inputs is None else inputs
    domain, _, op_type = kind.partition(".")
    assert domain == "kaldi"
    model = kaldi_model(op_type, given, constants, **attributes)
    (found,) = run_mace(model, given, folder)
    assert_same([found], [np.asarray(wanted, np.float32)])


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


_PLAIN: dict[str, Callable[[Array], Array]] = {
    "kaldi.Identity": lambda x: x,
    "kaldi.NoOp": lambda x: x,
    "kaldi.Dropout": lambda x: x,
    "kaldi.ClipGradient": lambda x: x,
    "kaldi.Relu": lambda x: np.maximum(x, 0),
    "kaldi.Sigmoid": _sigmoid,
    "kaldi.Tanh": np.tanh,
    "kaldi.Softmax": _softmax,
    "kaldi.LogSoftmax": lambda x: np.log(_softmax(x)),
}


@pytest.mark.parametrize("kind", _PLAIN)
def test_functions(kind: str, tmp_path: Path) -> None:
    _check(tmp_path, kind, _PLAIN[kind](X), dim=12)


def test_several_inputs(tmp_path: Path) -> None:
    inputs = {"x": X, "z": normal(2, 7, 12, seed=1), "w": normal(2, 7, 12, seed=2)}
    for kind in ("kaldi.Append", "kaldi.Concat"):
        _check(tmp_path, kind, np.concatenate([*inputs.values()], -1), inputs)
    for kind in ("kaldi.Sum", "kaldi.Add"):
        _check(tmp_path, kind, sum(inputs.values()), inputs)


def test_factors_and_offsets(tmp_path: Path) -> None:
    _check(tmp_path, "kaldi.Scale", X * 0.25, scale=0.25)
    one, two = normal(12, seed=1), normal(12, seed=2)
    kinds = ("kaldi.Mul", "kaldi.Scales", "kaldi.FixedScale", "kaldi.PerEltScale")
    for kind in kinds:
        _check(tmp_path, kind, X * one, constants={"a": one[None]})
    for kind in ("kaldi.Bias", "kaldi.PerEltOffset"):
        _check(tmp_path, kind, X + one, constants={"a": one})
    both = {"a": one, "b": two}
    _check(tmp_path, "kaldi.ScaleOffset", X * one + two, constants=both)
    # Those of a block hold for all blocks.
    both = {"a": one[:4], "b": two[:4]}
    wanted = X * np.tile(one[:4], 3) + np.tile(two[:4], 3)
    _check(tmp_path, "kaldi.ScaleOffset", wanted, constants=both)


@pytest.mark.parametrize("kind", ["kaldi.Affine", "kaldi.Gemm", "kaldi.Linear"])
def test_products(kind: str, tmp_path: Path) -> None:
    weights, bias = normal(5, 12), normal(5)
    _check(tmp_path, kind, X @ weights.T, constants={"w": weights})
    both = {"w": weights, "b": bias}
    _check(tmp_path, kind, X @ weights.T + bias, constants=both, transB=1)


def test_products_of_parts(tmp_path: Path) -> None:
    # RepeatedAffineComponent: the same weights for each part of the features.
    weights, bias = normal(2, 4), normal(2)
    parts = X.reshape(2, 7, 3, 4) @ weights.T + bias
    both = {"w": weights, "b": bias}
    wanted = parts.reshape(2, 7, 6)
    _check(tmp_path, "kaldi.Gemm", wanted, constants=both, num_repeats=3)
    # BlockAffineComponent: rows of the weights for each part.
    weights, bias = normal(6, 4), normal(6)
    parts = np.einsum("nfbk,bok->nfbo", X.reshape(2, 7, 3, 4), weights.reshape(3, 2, 4))
    both = {"w": weights, "b": bias}
    wanted = parts.reshape(2, 7, 6) + bias
    _check(tmp_path, "kaldi.Gemm", wanted, constants=both, num_blocks=3)


def test_features_are_chosen(tmp_path: Path) -> None:
    _check(tmp_path, "kaldi.DimRange", X[..., 3:8], offset=3, output_dim=5, dim=5)
    order = np.random.default_rng(1).permutation(12).astype(np.int32)
    _check(tmp_path, "kaldi.Permute", X[..., order], constants={"o": order})


@pytest.mark.parametrize(
    "kind", ["kaldi.Offset", "kaldi.ReplaceIndex", "kaldi.Round", "kaldi.Subsample"]
)
def test_frames_are_chosen(kind: str, tmp_path: Path) -> None:
    for indexes in ([1, 2, 3], [0, 0, 0, 6, 6], list(range(7))):
        _check(tmp_path, kind, X[:, indexes], forward_indexes=indexes)


def test_no_offset(tmp_path: Path) -> None:
    _check(tmp_path, "kaldi.Offset", X, offset=0)


def test_frames_that_may_be_missing(tmp_path: Path) -> None:
    zeros = np.zeros((2, 3, 12), np.float32)
    wanted = np.concatenate([zeros, X[:, :4]], 1)
    indexes = [-1, -1, -1, 0, 1, 2, 3]
    _check(tmp_path, "kaldi.IfDefined", wanted, forward_indexes=indexes, offset=-3)
    _check(tmp_path, "kaldi.IfDefined", wanted, offset=-3)
    _check(tmp_path, "kaldi.IfDefined", X, offset=0)
    last = normal(2, 7, 12, seed=5)
    wanted = np.concatenate([last[:, [4, 5, 6]], X[:, :4]], 1)
    _check(
        tmp_path,
        "kaldi.IfDefined",
        wanted,
        {"x": X, "last": last},
        forward_indexes=indexes,
        cache_forward_indexes=[4, 5, 6],
    )


def test_context(tmp_path: Path) -> None:
    wanted = np.pad(X, ((0, 0), (2, 3), (0, 0)), "edge")
    _check(tmp_path, "kaldi.PadContext", wanted, left_context=2, right_context=3)


def _spliced(x: Array, context: list[int], constant: int, frames: list[int]) -> Array:
    """SpliceComponent: out(t) = [in(t + c) for c in context], constant part once."""
    size = x.shape[-1] - constant
    result = []
    for t in frames:
        parts = [x[:, t + c, :size] for c in context]
        parts.append(x[:, t + context[0], size:])
        result.append(np.concatenate(parts, -1))
    return np.stack(result, 1)


@pytest.mark.parametrize("constant", [0, 4])
def test_splice(constant: int, tmp_path: Path) -> None:
    context = [-2, 0, 1]
    frames = [2, 3, 4, 5]
    wanted = _spliced(X, context, constant, frames)
    options: dict[str, Any] = {"context": context, "const_component_dim": constant}
    _check(tmp_path, "kaldi.Splice", wanted, **options)
    frames = [2, 5]
    indexes = [t + c for t in frames for c in context]
    options["forward_indexes"] = indexes
    if constant:
        options["forward_const_indexes"] = [t + context[0] for t in frames]
    wanted = _spliced(X, context, constant, frames)
    _check(tmp_path, "kaldi.Splice", wanted, **options)


def test_batch_norm(tmp_path: Path) -> None:
    mean, variance = normal(12), np.abs(normal(12, seed=1))
    variance[3] = -0.1  # counts as 0
    scale = 0.7 / np.sqrt(np.maximum(variance, 0) + 0.01)
    options: dict[str, Any] = {
        "epsilon": 0.01,
        "target_rms": 0.7,
        "test_mode": 1,
        "dim": 12,
    }
    both = {"m": mean, "v": variance}
    wanted = (X - mean) * scale
    _check(tmp_path, "kaldi.BatchNorm", wanted, constants=both, block_dim=12, **options)
    both = {"m": mean[:4], "v": variance[:4]}
    wanted = (X - np.tile(mean[:4], 3)) * np.tile(scale[:4], 3)
    _check(tmp_path, "kaldi.BatchNorm", wanted, constants=both, block_dim=4, **options)


@pytest.mark.parametrize("log", [0, 1])
@pytest.mark.parametrize("block", [0, 12, 4])
def test_normalize(block: int, log: int, tmp_path: Path) -> None:
    # NormalizeComponent: 1 / sqrt(max(x.x / (D * rms^2), 2^-66)), its logarithm behind.
    x = X.copy()
    x[0, 0] = 0
    parts = x.reshape(2, 7, -1, block or 12).astype(np.float64)
    target = 0.6
    mean = (parts**2).sum(-1, keepdims=True) / (parts.shape[-1] * target**2)
    norm = np.maximum(mean, 2.0**-66) ** -0.5
    wanted = parts * norm
    if log:
        wanted = np.concatenate([wanted, np.log(target) - np.log(norm)], -1)
    options: dict[str, Any] = {
        "target_rms": target,
        "add_log_stddev": log,
        "block_dim": block,
    }
    wanted = wanted.reshape(2, 7, -1)
    _check(tmp_path, "kaldi.TargetRMSNorm", wanted, {"x": x}, **options)


@pytest.mark.parametrize("p", [0, 1, 2])
def test_p_norm(p: int, tmp_path: Path) -> None:
    x = np.where(np.abs(X) < 0.3, 0, X).astype(np.float32)
    parts = np.abs(x.reshape(2, 7, 4, 3))
    wanted = (parts > 0).sum(-1) if p == 0 else (parts**p).sum(-1) ** (1 / p)
    _check(tmp_path, "kaldi.PNorm", wanted, {"x": x}, p=p, output_dim=4, input_dim=12)


@pytest.mark.parametrize("sizes", [[3, 3, 3, 3], [1, 5, 2, 4]])
def test_sum_group(sizes: list[int], tmp_path: Path) -> None:
    ends = np.cumsum(sizes)
    wanted = [X[..., e - n : e].sum(-1) for e, n in zip(ends, sizes)]
    constants = {"sizes": np.array(sizes, np.int32)}
    _check(tmp_path, "kaldi.SumGroup", np.stack(wanted, -1), constants=constants)


def test_another_version_of_the_domain(tmp_path: Path) -> None:
    model = kaldi_model("Scale", {"x": X}, scale=2.0)
    model.graph.node[0].domain = "ai.kaldi2onnx"
    model.opset_import[0].domain = "ai.kaldi2onnx"
    assert_same(run_mace(model, {"x": X}, tmp_path), [X * 2])


_WEIGHTS = {"w": normal(5, 11)}
_REFUSED: list[tuple[str, dict[str, Array], dict[str, Any], str]] = [
    ("Dct", {}, {}, "no such component of Kaldi"),
    ("Affine", _WEIGHTS, {}, r"weights of shape \[5, 11\] for 12 features"),
    ("Affine", {"w": normal(5, 4)}, {"num_blocks": 3}, "in 3 blocks"),
    ("Affine", {"w": normal(5, 4)}, {"num_repeats": 0}, "num_repeats 0"),
    ("BatchNorm", {}, {}, "statistics of its input.*prepare-for-test"),
    ("BatchNorm", {"m": normal(5), "v": normal(5)}, {}, "5 means and 5 variances"),
    ("DimRange", {}, {"offset": 9, "dim": 4}, "features 9 to 13 of 12"),
    ("IfDefined", {}, {"offset": 1}, "offset is 1"),
    ("IfDefined", {}, {"forward_indexes": [9]}, r"frames \[9\] of 7"),
    ("Offset", {}, {"offset": 1}, "forward_indexes is missing"),
    ("PNorm", {}, {"output_dim": 5}, "12 features in 5 groups"),
    ("PNorm", {}, {"output_dim": 4, "p": 3}, "p is 3"),
    ("PadContext", {}, {"left_context": -1}, "a context of -1"),
    ("Permute", {"o": np.zeros(12, np.int32)}, {}, "an order of 12"),
    ("Scales", {"a": normal(5)}, {}, "5 numbers for 12 features"),
    ("Splice", {}, {"context": [0, 9]}, "0 forward_indexes"),
    ("Splice", {}, {"context": [0, 1], "forward_indexes": [1]}, "1 forward_indexes"),
    ("Subsample", {}, {"forward_indexes": [0, 7]}, "frames 0 to 7 of 7"),
    ("SumGroup", {"s": np.array([5, 5], np.int32)}, {}, r"groups of \[5, 5\]"),
    ("TargetRMSNorm", {}, {"block_dim": 5}, "block_dim 5"),
    ("TargetRMSNorm", {}, {"target_rms": 0.0}, "target_rms 0.0"),
]


@pytest.mark.parametrize(("kind", "constants", "attributes", "message"), _REFUSED)
def test_what_is_refused(
    kind: str,
    constants: dict[str, Array],
    attributes: dict[str, Any],
    message: str,
    tmp_path: Path,
) -> None:
    model = kaldi_model(kind, {"x": X}, constants, **attributes)
    with pytest.raises(UnsupportedNodesError, match=message):
        import_proto(model, {"x": X}, ["y"], tmp_path)


def _mutated(rng: np.random.Generator, attributes: dict[str, Any]) -> dict[str, Any]:
    numbers = [-(2**31), -7, -1, 0, 1, 3, 2**20, 2**31 - 1]
    found = dict(attributes)
    for _ in range(rng.integers(1, 3)):
        name = str(rng.choice(_NAMES))
        kind = rng.integers(4)
        number = int(rng.choice(numbers))
        several = [int(n) for n in rng.choice(numbers, rng.integers(4))]
        values = [number, number / 3, several or [number], "no number"]
        found[name] = values[kind]
    return found


_NAMES = (
    *("context", "const_component_dim", "forward_indexes", "forward_const_indexes"),
    *("block_dim", "target_rms", "p", "output_dim", "offset", "dim", "num_repeats"),
    *("left_context", "right_context", "cache_forward_indexes", "counts"),
    *("num_log_count", "variance_floor", "prev_out_delay", "prev_out_dim", "scale"),
)


def test_wrong_numbers_never_crash(tmp_path: Path) -> None:
    kinds = [name for name in HANDLERS.types() if name.startswith("kaldi.")]
    refused, count = 0, 300
    for index in range(count):
        rng = np.random.default_rng([5, index])
        kind = str(rng.choice(kinds)).removeprefix("kaldi.")
        shapes = [(5, 12), (12,), (3, 12), (2, 7, 12)][: rng.integers(5)]
        constants = {f"c{i}": normal(*shape) for i, shape in enumerate(shapes)}
        attributes = _mutated(rng, {"forward_indexes": [0, 3], "output_dim": 4})
        model = kaldi_model(kind, {"x": X}, constants, **attributes)
        try:
            import_proto(model, {"x": X}, ["y"], tmp_path)
        except MaceError as error:
            assert str(error).strip()
            refused += 1
    assert 0 < refused < count


# Statistics of frames.
FRAMES = normal(2, 8, 5)
FRAMES[:, :, 1] = 3  # without variance
RANGES = [(0, 3), (1, 8), (4, 5)]
INDEXES = [end for pair in RANGES for end in pair]
COUNTS = [float(b - a) for a, b in RANGES]


def _extracted(x: Array, squares: bool) -> Array:
    """StatisticsExtractionComponent: number, sum and sum of squares."""
    result = []
    for begin, end in RANGES:
        part = x[:, begin:end].astype(np.float64)
        numbers = [np.full((2, 1), end - begin), part.sum(1)]
        result.append(np.concatenate([*numbers, *([(part**2).sum(1)] * squares)], 1))
    return np.stack(result, 1)


def _pooled(total: Array, logs: int, deviations: bool, floor: float) -> Array:
    """StatisticsPoolingComponent, of sums."""
    count, means = total[..., :1], total[..., 1:] / total[..., :1]
    if deviations:
        mean, square = np.split(means, 2, -1)
        deviation = np.sqrt(np.maximum(square - mean**2, floor))
        means = np.concatenate([mean, deviation], -1)
    return np.concatenate([*[np.log(count)] * logs, means], -1)


def _check_statistics(
    folder: Path, kind: str, wanted: Array, x: Array, **options: Any
) -> None:
    model = kaldi_model(kind.removeprefix("kaldi."), {"x": x}, **options)
    found = run_mace(model, {"x": x}, folder)
    assert_same(found, [wanted.astype(np.float32)], 1e-4)


@pytest.mark.parametrize("squares", [False, True])
def test_extraction(squares: bool, tmp_path: Path) -> None:
    _check_statistics(
        tmp_path,
        "kaldi.StatisticsExtraction",
        _extracted(FRAMES, squares),
        FRAMES,
        forward_indexes=INDEXES,
        counts=COUNTS,
        include_variance=int(squares),
    )


@pytest.mark.parametrize("deviations", [False, True])
@pytest.mark.parametrize("logs", [0, 2])
def test_pooling(logs: int, deviations: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    x = np.abs(normal(2, 8, 7)) + 1
    x[..., 0] = rng.integers(1, 5, (2, 8))
    x[..., 4:] += 9
    total = np.stack([x[:, a:b].astype(np.float64).sum(1) for a, b in RANGES], 1)
    _check_statistics(
        tmp_path,
        "kaldi.StatisticsPooling",
        _pooled(total, logs, deviations, 0.01),
        x,
        forward_indexes=INDEXES,
        num_log_count_features=logs,
        output_stddevs=int(deviations),
        variance_floor=0.01,
    )


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("logs", [0, 2])
def test_both_in_one(logs: int, squares: bool, tmp_path: Path) -> None:
    wanted = _pooled(_extracted(FRAMES, squares), logs, squares, 1e-3)
    _check_statistics(
        tmp_path,
        "kaldi.ExtractPooling",
        wanted,
        FRAMES,
        forward_indexes=INDEXES,
        counts=COUNTS,
        include_variance=int(squares),
        num_log_count=logs,
        variance_floor=1e-3,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "forward_indexes is missing"),
        ({"forward_indexes": [0, 9]}, "frame 8 of 8"),
        ({"forward_indexes": [3, 3]}, "no ranges"),
        ({"forward_indexes": [-1, 3]}, "no ranges"),
        ({"forward_indexes": [0, 3, 4]}, "no ranges"),
        ({"forward_indexes": [0, 3], "counts": [2.0]}, "contradict"),
        ({"forward_indexes": [0, 3], "num_log_count": -1}, "num_log_count is -1"),
        (
            {"forward_indexes": [0, 3], "output_time_range": [0, 1]},
            "early version of kaldi-onnx",
        ),
    ],
)
def test_statistics_that_are_refused(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    model = kaldi_model("ExtractPooling", {"x": FRAMES}, **options)
    with pytest.raises(UnsupportedNodesError, match=message):
        import_proto(model, {"x": FRAMES}, ["y"], tmp_path)
