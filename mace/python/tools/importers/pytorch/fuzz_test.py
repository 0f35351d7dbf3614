# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged files give one clear error, or a graph that can be optimised.

Bytes of archives are changed at random, at places that a seed decides, and so are
entries of recorded programs behind correct checksums, which bytes seldom hit. The
number of mutations grows with the environment variable MACE_FUZZ_ROUNDS.
"""

from __future__ import annotations

import io
import json
import logging
import os
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.frame.testing import request_for
from mace.python.tools.importers.pytorch import import_model
from mace.python.tools.importers.pytorch.model import read_model
from mace.python.tools.importers.pytorch.testing import (
    linear,
    new_entries,
    old_entries,
    saved_tensors,
    write_archive,
)
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize

_SEED = 17
_ROUNDS = int(os.environ.get("MACE_FUZZ_ROUNDS", "1"))
_RECORDED = Path(__file__).parents[5] / "test/conformance/pytorch/recorded.zip"
_FAMILIES = ("changed", "indexed", "open", "pools", "recurrent", "renamed")


def _import(asked: ImportRequest) -> str:
    """What is said of a file; '' if it is converted."""
    try:
        optimize(import_model(asked))
    except MaceError as error:
        assert str(error)
        return str(error).replace(str(asked.model_path), "net.pt2")
    return ""


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@pytest.mark.parametrize("entries", [new_entries, old_entries])
def test_damaged_archives(entries: Any, tmp_path: Path) -> None:
    path, spec = tmp_path / "net.pt2", linear()
    write_archive(path, entries(spec))
    good = path.read_bytes()
    generator = random.Random(_SEED)
    asked = request_for(path, spec.inputs, spec.outputs)
    said = set()
    for _ in range(60 * _ROUNDS):
        data = bytearray(good)
        kind = generator.randrange(3)
        if kind == 0:
            del data[generator.randrange(len(data)) :]
        for _ in range(generator.randint(1, 4)):
            if data:
                data[generator.randrange(len(data))] = generator.randrange(256)
        path.write_bytes(data)
        said.add(_import(asked))
    assert len(said) > 5


def test_damaged_pickles(tmp_path: Path) -> None:
    path, spec = tmp_path / "net.pt2", linear()
    saved = saved_tensors(spec.weights)
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    generator = random.Random(_SEED)
    asked = request_for(path, spec.inputs, spec.outputs)
    failed = 0
    for _ in range(60 * _ROUNDS):
        data = bytearray(parts["archive/data.pkl"])
        for _ in range(generator.randint(1, 3)):
            data[generator.randrange(len(data))] = generator.randrange(256)
        inner = tmp_path / "inner.zip"
        write_archive(inner, {**parts, "archive/data.pkl": bytes(data)})
        entries = {**old_entries(spec), "serialized_state_dict.pt": inner.read_bytes()}
        write_archive(path, entries)
        failed += bool(_import(asked))
    assert failed > 20


def _places(item: Any) -> Iterator[tuple[Any, Any]]:
    """Every entry of a JSON tree, as its container and key."""
    pairs = item.items() if isinstance(item, dict) else enumerate(item)
    for key, value in list(pairs):
        yield item, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


_STRANGE: tuple[Any, ...] = (
    *(None, -1, 0, 1, 7, 2**31, 2**40, -(2**63), 0.5, "", "x", "NaN", True, [], {}),
    *([1, 2], {"as_none": True}, {"as_int": 3}, {"as_tensor": {"name": "x"}}),
)


@pytest.mark.parametrize("family", _FAMILIES)
def test_programs_with_strange_entries(family: str, tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    with zipfile.ZipFile(_RECORDED) as recorded:
        path.write_bytes(recorded.read(f"{family}_training.pt2"))
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    program = read_model(path).program
    shapes = {
        n: tuple(d if isinstance(d, int) else 8 for d in program.graph.tensors[n].sizes)
        for n in program.inputs
    }
    asked = ImportRequest(
        "net",
        path,
        tuple(InputSpec(n, s, data_format=DataFormat.NONE) for n, s in shapes.items()),
        tuple(OutputSpec(n, DataFormat.NONE) for n in dict.fromkeys(program.outputs)),
    )
    assert _import(asked) == "" or family == "open"
    name = next(n for n in entries if n.endswith("models/model.json"))
    generator = random.Random(_SEED)
    failed = 0
    for _ in range(8 * _ROUNDS):
        tree = json.loads(entries[name])
        nodes = tree["graph_module"]["graph"]["nodes"]
        for _ in range(2):
            part = generator.choice([nodes, nodes, tree["graph_module"], tree])
            container, key = generator.choice(list(_places(part)))
            container[key] = generator.choice(_STRANGE)
        write_archive(path, {**entries, name: json.dumps(tree).encode()})
        failed += bool(_import(asked))
    assert failed > 2
