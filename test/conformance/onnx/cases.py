# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The cases that the `onnx` package contains, and which operators they have once they
are imported. That is kept between runs, since importing all cases takes a minute: after
a change of one operator, only those that have it are of interest.
"""

from __future__ import annotations

import functools
import glob
import hashlib
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from mace.python.tools.atomic import atomic_write

Array = np.ndarray[Any, np.dtype[Any]]

# 'real' are the light models, which have their own test.
KINDS = ("node", "pytorch-converted", "pytorch-operator", "simple")


# Of which ONNX's reference divides positions by the length before it is rounded. The
# operator's text and ONNX Runtime divide by the length of the result.
_OF_ONNXRUNTIME = frozenset(
    {
        "test_resize_downsample_scales_cubic_align_corners",
        "test_resize_downsample_scales_linear_align_corners",
    }
)


@dataclass(frozen=True)
class Case:
    """A model with inputs and the outputs they must give.

    Attributes:
        name: as the package calls it.
        kind: one of `KINDS`.
        model: as the package has it.
        inputs, outputs: in the order of the model; None where the value is no
            array (a sequence, an absent optional).
        rtol, atol: what the package tolerates.
    """

    name: str
    kind: str
    model: onnx.ModelProto
    inputs: tuple[Array | None, ...]
    outputs: tuple[Array | None, ...]
    rtol: float
    atol: float

    @property
    def op_types(self) -> frozenset[str]:
        """Every operator of the graph."""
        return frozenset(node.op_type for node in self.model.graph.node)


@functools.cache
def load_cases(kind: str) -> tuple[Case, ...]:
    """All cases of a kind; those of kind 'node' take seconds to generate."""
    return tuple(_generated() if kind == "node" else _stored(kind))


def _generated() -> Iterator[Case]:
    from onnx.backend.test.case.node import collect_testcases

    # The generators draw from NumPy's global state.
    np.random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    for case in found:
        for inputs, outputs in case.data_sets:
            wanted = _arrays(outputs)
            if case.name in _OF_ONNXRUNTIME:
                wanted = _by_onnxruntime(case.model, _arrays(inputs))
            yield Case(
                case.name,
                "node",
                case.model,
                _arrays(inputs),
                wanted,
                case.rtol,
                case.atol,
            )


def _by_onnxruntime(
    model: onnx.ModelProto, inputs: Sequence[Array | None]
) -> tuple[Array | None, ...]:
    from mace.python.tools.importers.onnx.testing import run_onnxruntime

    names = [value.name for value in model.graph.input]
    given = {name: x for name, x in zip(names, inputs) if x is not None}
    return tuple(run_onnxruntime(model, given))


def _stored(kind: str) -> Iterator[Case]:
    from onnx.backend.test.loader import load_model_tests

    for case in load_model_tests(kind=kind):
        model = onnx.load(os.path.join(case.model_dir, "model.onnx"))
        for folder in sorted(glob.glob(os.path.join(case.model_dir, "test_data_*"))):
            yield Case(
                case.name,
                kind,
                model,
                _protos(folder, "input", model.graph.input),
                _protos(folder, "output", model.graph.output),
                case.rtol,
                case.atol,
            )


def _protos(
    folder: str, stem: str, values: Sequence[onnx.ValueInfoProto]
) -> tuple[Array | None, ...]:
    arrays = []
    for index, value in enumerate(values):
        path = os.path.join(folder, f"{stem}_{index}.pb")
        if not os.path.exists(path):
            break  # an initializer that is also listed as an input
        if value.type.WhichOneof("value") == "tensor_type":
            with open(path, "rb") as stream:
                tensor = onnx.TensorProto.FromString(stream.read())
            arrays.append(_array(tensor))
        else:
            arrays.append(None)
    return tuple(arrays)


def _arrays(values: Sequence[Any]) -> tuple[Array | None, ...]:
    return tuple(_array(value) for value in values)


def _array(value: Any) -> Array | None:
    if isinstance(value, onnx.TensorProto):
        return np.asarray(onnx.numpy_helper.to_array(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    return None


# The operators of cases -------------------------------------------------------------

_ROOT = Path(__file__).resolve().parents[3]
_KEPT = _ROOT / "build/test/onnx_operators.json"
# What decides into which operators a case is imported.
_SOURCES = ("mace/python/tools", "test/conformance/onnx", "mace/ops")
_SUFFIXES = (".py", ".yaml")


@functools.cache
def _key() -> str:
    digest = hashlib.sha256(onnx.__version__.encode())
    for folder in _SOURCES:
        for path in sorted((_ROOT / folder).rglob("*.*")):
            if path.suffix in _SUFFIXES:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def known_operators() -> dict[str, frozenset[str]]:
    """Types of operators by the name of a case, as far as they are known."""
    try:
        kept = json.loads(_KEPT.read_text(encoding="utf-8"))
        if kept["of"] != _key():
            return {}
        return {name: frozenset(types) for name, types in kept["cases"].items()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return {}


def keep_operators(found: Mapping[str, Iterable[str]]) -> None:
    """Adds what is known of more cases."""
    cases = {
        name: sorted(types) for name, types in {**known_operators(), **found}.items()
    }
    _KEPT.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(_KEPT, "w") as stream:
        json.dump({"of": _key(), "cases": cases}, stream)
