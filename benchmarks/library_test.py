# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import ctypes
import re

import pytest

from benchmarks import library

_HEADER = (library.ROOT / "mace/public/mace_c.h").read_text()


@pytest.mark.parametrize(
    ("name", "structure"),
    [("mace_model", library._Model), ("mace_tensor", library._Tensor)],
)
def test_structures_are_those_of_the_header(
    name: str, structure: type[ctypes.Structure]
) -> None:
    found = re.search(rf"struct {name} {{(.*?)}}", _HEADER, re.DOTALL)
    assert found
    members = re.findall(r"(\w+)(?:\[\w+\])?;", found[1])
    assert members == [field[0] for field in structure._fields_]
