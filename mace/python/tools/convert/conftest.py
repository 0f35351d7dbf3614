# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine opens every model that the tests here convert."""

from __future__ import annotations

from typing import Any

import pytest

from mace.python.runtime.library import library_path
from mace.python.runtime.model import Model
from mace.python.runtime.options import RunOptions
from mace.python.runtime.tensors import read_graph
from mace.python.tools.convert import convert
from mace.python.tools.errors import MaceError


@pytest.fixture(autouse=True)
def engine_opens_every_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes each conversion open the model that it wrote, on the CPU, so that a file
    which the engine refuses fails the test. Does nothing if no library is built.
    """
    try:
        library_path()
    except MaceError:
        return
    write = convert._convert

    def write_and_open(*arguments: Any) -> convert._Converted:
        converted = write(*arguments)
        linked = converted.linked
        graph = read_graph(linked.graph)
        options = RunOptions(runtimes="cpu")
        Model(graph, linked.graph, linked.data, options).close()
        return converted

    monkeypatch.setattr(convert, "_convert", write_and_open)
