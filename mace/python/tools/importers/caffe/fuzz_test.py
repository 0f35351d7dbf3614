# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged networks and weights give one clear error, or a usable graph.

Tokens of the prototxt, and bytes and fields of the caffemodel, are changed at places
that a seed decides. The number of mutations grows with the environment variable
MACE_FUZZ_ROUNDS.
"""

from __future__ import annotations

import logging
import os
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.caffe import HANDLERS, import_model
from mace.python.tools.importers.caffe.testing import write_net
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize
from test.conformance.models.caffe_networks import NETWORKS, Network

_LOG = logging.getLogger(__name__)

_SEED = 21
_ROUNDS = int(os.environ.get("MACE_FUZZ_ROUNDS", "1"))
_COUNT = 30 * _ROUNDS
# Of processor time: other work of the computer does not count.
_SLOWEST_S = 20.0
_TOKEN = re.compile(r'"[^"]*"|[-\w.]+|\S')
_WORDS = [
    *("0", "1", "-1", "2", "3", "7", "1e38", "inf", "nan", "4294967295", "2147483648"),
    *("1099511627776", "{", "}", "[", "]", ":", '"', "true", "TEST", "TRAIN", "SUM"),
    *("layer", "name", "bottom", "pad", "kernel_size", "axis", "shape", "dim", "-"),
]


def _requests(paths: tuple[Path, Path], net: Network) -> list[ImportRequest]:
    n, c, h, w = net.shape
    return [
        ImportRequest(
            "fuzzed",
            paths[0],
            (InputSpec("data", shape, data_format=DataFormat.NCHW),),
            tuple(OutputSpec(name, DataFormat.NCHW) for name in net.outputs),
            paths[1],
        )
        for shape in ((n, c, h, w), (-1, c, h, w))
    ]


def _mutated_text(rng: np.random.Generator, text: str) -> str:
    tokens = _TOKEN.findall(text)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(tokens)))
        kind = rng.integers(8)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, _WORDS[rng.integers(len(_WORDS))])
        elif kind == 2:
            tokens[at] = tokens[rng.integers(len(tokens))]
        elif kind == 3:
            types = [i for i, t in enumerate(tokens) if t == "type"]
            if types:
                place = types[rng.integers(len(types))] + 2
                name = HANDLERS.types()[rng.integers(len(HANDLERS.types()))]
                tokens[min(place, len(tokens) - 1)] = f'"{name}"'
        else:
            numbers = [i for i, t in enumerate(tokens) if t[0].isdigit()]
            if numbers:
                place = numbers[rng.integers(len(numbers))]
                tokens[place] = _WORDS[rng.integers(12)]
    return " ".join(tokens)


def _mutated_weights(rng: np.random.Generator, net: Any) -> bytes:
    changed = type(net)()
    changed.CopyFrom(net)
    holders = [*changed.layer, *(old.layer for old in changed.layers)]
    holders += list(changed.layers)
    holders = [h for h in holders if h.blobs]
    holder = holders[rng.integers(len(holders))]
    blob = holder.blobs[rng.integers(len(holder.blobs))]
    kind = rng.integers(6)
    if kind == 0:
        del holder.blobs[rng.integers(len(holder.blobs))]
    elif kind == 1:
        holder.name = "other"
    elif kind == 2:
        del blob.data[rng.integers(len(blob.data)) :]
    elif kind == 3:
        blob.data[rng.integers(len(blob.data))] = (np.nan, np.inf, 1e38)[
            rng.integers(3)
        ]
    elif kind == 4:
        dims = [2**62, -1, 0, 1, 7][rng.integers(5)]
        blob.shape.dim.append(dims)
    data = bytearray(changed.SerializeToString())
    if kind == 5:
        for _ in range(rng.integers(1, 8)):
            data[rng.integers(len(data))] = int(rng.integers(256))
        if rng.integers(2):
            del data[rng.integers(len(data)) :]
    return bytes(data)


def _try(requests: list[ImportRequest], what: object) -> int:
    """How many requests are refused."""
    refused = 0
    for request in requests:
        begin = time.process_time()
        try:
            optimize(import_model(request))
        except MaceError as error:
            assert str(error).strip()
            refused += 1
        except BaseException:
            _LOG.error("%s", what)
            raise
        assert time.process_time() - begin < _SLOWEST_S, what
    return refused


@pytest.mark.parametrize("name", NETWORKS)
def test_damaged_networks(name: str, tmp_path: Path) -> None:
    net = NETWORKS[name]()
    paths = write_net(tmp_path, net.text, net.weights())
    requests = _requests(paths, net)
    assert _try(requests[:1], name) == 0
    refused = 0
    for index in range(_COUNT):
        rng = np.random.default_rng([_SEED, index])
        paths[0].write_text(_mutated_text(rng, net.text), encoding="utf-8")
        refused += _try(requests, (name, index))
    # Mutations that nobody notices, or none that pass, would test nothing.
    assert 0 < refused < 2 * _COUNT


@pytest.mark.parametrize("name", ["resnet", "v0", "v1"])
def test_damaged_weights(name: str, tmp_path: Path) -> None:
    net = NETWORKS[name]()
    weights = net.weights()
    paths = write_net(tmp_path, net.text, weights)
    refused = 0
    for index in range(_COUNT):
        rng = np.random.default_rng([_SEED, 1, index])
        paths[1].write_bytes(_mutated_weights(rng, weights))
        refused += _try(_requests(paths, net)[:1], (name, index))
    assert 0 < refused < _COUNT


@pytest.mark.parametrize(
    "text",
    [
        "layer {" * 100_000,
        "x { " * 100_000,
        "x: [" * 100_000,
        "input_dim: 1 " * 30_000,
        "layer { } " * 30_000,
        'name: "' + "\\" * 1_000_000,
        "input_dim: " + "1" * 1_000_000,
        " " * 1_000_000 + "$",
        "#" * 1_000_000,
    ],
)
def test_files_that_would_take_long(text: str, tmp_path: Path) -> None:
    path = tmp_path / "net.prototxt"
    path.write_text(text, encoding="utf-8")
    begin = time.process_time()
    with pytest.raises(ImportModelError, match="model_file_path: "):
        import_model(ImportRequest("m", path, (), (), path))
    assert time.process_time() - begin < _SLOWEST_S


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "net.prototxt"
    with path.open("wb") as file:
        file.truncate(1 << 36)
    with pytest.raises(ImportModelError, match="more than 4 MB"):
        import_model(ImportRequest("m", path, (), (), path))
