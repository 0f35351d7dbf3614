# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Each cell of the operator table has a test that proves it, and the test is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mace.python.tools.catalogue import default_catalogue, proofs
from mace.python.tools.catalogue.proofs import (
    frameworks,
    handlers_of,
    proofs_of,
    shared_test,
)
from mace.python.tools.catalogue.table import operator_table
from mace.python.tools.custom_ops import rare_modules

_ROOT = Path(__file__).resolve().parents[4]
_CATALOGUE = default_catalogue()
_A_TEST = re.compile(r"^def test_|^TEST(_[PF])?\(|^TYPED_TEST\(", re.MULTILINE)


@pytest.mark.parametrize("op_type", sorted(_CATALOGUE.ops))
def test_each_cell_is_proved(op_type: str) -> None:
    found = proofs_of(_CATALOGUE[op_type], _CATALOGUE)
    without = [f"{proof.where} {proof.what}" for proof in found if not proof.tests]
    assert not without
    assert {"CPU"} < {proof.where for proof in found}
    for proof in found:
        for test in proof.tests:
            place, _, name = test.partition(" ")
            if place.startswith("//"):
                package, target = place[2:].split(":")
                build = (_ROOT / package / "BUILD.bazel").read_text(encoding="utf-8")
                assert f'name = "{target}"' in build
                continue
            text = (_ROOT / place).read_text(encoding="utf-8")
            assert re.search(
                r"^def test_|^TEST(_[PF])?\(|TYPED_TEST", text, re.MULTILINE
            )
            if place.endswith("all_ops_test.cc"):
                assert f"AllOpsTest, {name.strip('()')})" in text


def test_instruction_sets_are_those_that_kernels_are_compiled_for() -> None:
    """As Bazel's list, and the order is that of isa.h."""
    found = proofs.instruction_sets()
    assert found["x86-64"][:2] == ("sse41", "avx2")
    assert found["ARM 64"] == ("neon", "neon_fp16", "neon_dotprod")
    assert found["ARM 32"] == ("neon",)
    listed = (_ROOT / "mace/kernels/cpu/isa.bzl").read_text(encoding="utf-8")
    for names in found.values():
        assert all(f'"{name}"' in listed for name in names)
    assert {"avx2_vnni", "avx512_bf16", "amx_bf16"} <= set(found["x86-64"])


def test_operators_are_proved_on_each_instruction_set_and_the_dsp() -> None:
    page = operator_table(_CATALOGUE)
    (row,) = [line for line in page.splitlines() if line.startswith("| [Conv2D]")]
    cells = [cell.strip() for cell in row.split("|")]
    assert cells[5:10] == ["yes", "yes", "all", "all", "all"]
    (row,) = [line for line in page.splitlines() if line.startswith("| [NonZero]")]
    cells = [cell.strip() for cell in row.split("|")]
    assert cells[5:10] == ["", "", "all", "all", "all"]
    assert "| DSP | integers | `//test/hexagon:ops_test (" in page
    assert "| x86-64 | sse41, avx2, avx2_vnni, avx512," in page


@pytest.mark.parametrize("framework", frameworks())
def test_handlers_are_compared_with_their_framework(framework: str) -> None:
    """Each file has a test beside it, which must end with a look at what was compared,
    unless a test of the framework does this for all handlers.
    """
    if shared_test(framework):
        return
    folder = _ROOT / handlers_of(framework)
    files = [path for path in folder.glob("*.py") if not path.stem.endswith("_test")]
    files += [path for _, path in rare_modules(framework)]
    assert len(files) > 5
    for path in files:
        test = path.with_name(f"{path.stem}_test.py")
        assert "assert_all_tried()" in test.read_text(encoding="utf-8"), test


def _forget() -> None:
    proofs._makers.cache_clear()
    proofs._converter_tests.cache_clear()
    frameworks.cache_clear()
    shared_test.cache_clear()


def test_an_operator_without_tests_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "_ROOT", tmp_path)
    _forget()
    try:
        found = proofs_of(_CATALOGUE["Conv2D"], _CATALOGUE)
    finally:
        monkeypatch.undo()
        _forget()
    empty = {f"{proof.where} {proof.what}" for proof in found if not proof.tests}
    assert {"CPU float32", "CPU quantized, int8", "made by the converter "} <= empty
