# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What Python says of the C interface is what the header says."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest

import mace
from mace.python.runtime import library

_ROOT = Path(__file__).resolve().parents[3]
_HEADER = "".join(
    (_ROOT / "mace/public" / name).read_text(encoding="utf-8")
    for name in ("mace_c.h", "mace_accelerator_c.h")
)


@pytest.mark.parametrize(
    ("name", "structure"),
    [
        ("mace_model", library.CModel),
        ("mace_tensor", library.CTensor),
        ("mace_gpu", library.CGpu),
    ],
)
def test_structures_are_those_of_the_header(
    name: str, structure: type[ctypes.Structure]
) -> None:
    found = re.search(rf"struct {name} {{(.*?)}}", _HEADER, re.DOTALL)
    assert found
    text = re.sub(r"/\*.*?\*/", "", found[1], flags=re.DOTALL)
    members = re.findall(r"(\w+)(?:\[\w+\])?;", text)
    assert members == [field[0] for field in structure._fields_]


@pytest.mark.parametrize(
    ("prefix", "numbers", "left_out"),
    [
        ("MACE_TYPE_", library.TYPES, {}),
        ("MACE_FORMAT_", library.FORMATS, {}),
        ("MACE_AFFINITY_", library.AFFINITIES, {}),
        # NPU: only an application in C++ registers a delegate.
        ("MACE_DEVICE_", library.DEVICES, {"NPU"}),
    ],
)
def test_enumerations_are_those_of_the_header(
    prefix: str, numbers: dict[str, int], left_out: set[str]
) -> None:
    named = re.findall(rf"{prefix}(\w+) = (\d+)", _HEADER)
    expected = {name: int(text) for name, text in named if name not in left_out}
    # The header says FLOAT for float32, and HEXAGON for the DSP.
    words = {"FLOAT32": "FLOAT", "DSP": "HEXAGON"}
    ours = {words.get(name.upper(), name.upper()): n for name, n in numbers.items()}
    assert ours == expected


def test_a_library_that_cannot_be_loaded_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.library.cache_clear()
    for path, content in (("absent.so", None), ("text.so", "no library")):
        if content:
            (tmp_path / path).write_text(content)
        monkeypatch.setenv(library.LIBRARY_VARIABLE, str(tmp_path / path))
        with pytest.raises(mace.MaceError, match=f"{path} cannot be loaded"):
            library.library()
    library.library.cache_clear()
