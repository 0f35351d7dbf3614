# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The copy of the OpenCL driver for tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.quality import pocl

_HEADER = """
#ifndef _OPENCL_H_
#define _OPENCL_H_
typedef uint cl_mem_fence_flags;
float __ovld __cnfn acos(float);
float4 __ovld __cnfn acos(float4);
float __ovld __cnfn exp(float);
int4 __ovld __cnfn convert_int4(float4);
int4 __ovld __cnfn convert_int4_rtz(float4);
void __ovld __conv barrier(
    cl_mem_fence_flags flags);
void __ovld lost(
    int x);
#endif
"""


def test_only_functions_that_are_named_are_left() -> None:
    text = pocl.shortened(_HEADER, {"exp", "barrier", "float"})
    kept = re.findall(r"\b(\w+)\(", text)
    assert kept == ["exp", "convert_int4", "barrier"]
    # All but declarations is as it was.
    lines = [line for line in _HEADER.splitlines() if line[:1] in ("#", "t")]
    assert [line for line in text.splitlines() if line[:1] in ("#", "t")] == lines
    assert "    cl_mem_fence_flags flags);" in text.splitlines()
    assert "int x" not in text


def test_the_copy_is_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)
    pocl.make_driver()
    settings = pocl.variables()
    if "OCL_ICD_VENDORS" not in settings:
        pytest.skip("no PoCL with a header of its own here")
    library = Path(Path(settings["OCL_ICD_VENDORS"]).read_text().strip())
    header = library.parents[2] / "share" / "pocl" / "include" / "opencl-c.h"
    installed = Path("/usr/share/pocl/include/opencl-c.h")
    assert library.is_file()
    assert header.stat().st_size < installed.stat().st_size / 4
    # The rest is the installed one's.
    beside = header.with_name("_builtin_renames.h")
    assert beside.resolve() == installed.with_name(beside.name)


def test_who_names_a_driver_has_that_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/other.icd")
    assert "OCL_ICD_VENDORS" not in pocl.variables()
