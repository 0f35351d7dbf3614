# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of all frameworks share: requests, comparisons, and which handlers ran."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.handlers import HandlerTable
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import DataFormat


def request_for(
    path: Path,
    inputs: Mapping[str, Array] | Sequence[str],
    outputs: Iterable[str],
    data_format: DataFormat = DataFormat.NONE,
    weight_path: Path | None = None,
) -> ImportRequest:
    """A request for whole tensors, by default in the framework's order.

    Args:
        inputs: like them; or their names, to take the shapes that the file has.
    """
    if isinstance(inputs, Mapping):
        specs = [
            InputSpec(name, array.shape, DataType.of(array.dtype), data_format)
            for name, array in inputs.items()
        ]
    else:
        specs = [InputSpec(name, data_format=data_format) for name in inputs]
    wanted = tuple(OutputSpec(name, data_format) for name in outputs)
    return ImportRequest("net", path, tuple(specs), wanted, weight_path)


def assert_close(found: Array, wanted: Array, tolerance: float, name: str = "") -> None:
    """Checks that results differ by rounding only."""
    assert found.shape == wanted.shape, name
    np.testing.assert_allclose(found, wanted, tolerance, tolerance, err_msg=name)


class Tried:
    """One file of `handlers/`, and the types that its tests have compared with the
    framework.

    Args:
        table: of the framework.
        name: of the file, without its ending.
        not_made: types that nothing makes to compare with.
    """

    def __init__(
        self, table: HandlerTable[Any], name: str, not_made: Collection[str] = ()
    ) -> None:
        self._table = table
        self._name = name
        self._tried = set(not_made)

    def note(self, *types: str) -> None:
        """The test itself compares these."""
        self._tried.update(types)

    def assert_all_tried(self) -> None:
        """Checks, after the tests, that every handler was compared."""
        files = self._table.modules()
        own = {kind for kind in files if files[kind].rpartition(".")[2] == self._name}
        assert own
        assert not own - self._tried, own - self._tried
