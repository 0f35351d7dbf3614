# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Element types and precisions have one vocabulary, whatever the language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mace.python.tools.data_type import DataType, Precision

_MACE = Path(__file__).resolve().parents[2]


def _read(name: str) -> str:
    return (_MACE / name).read_text("utf-8")


def test_the_model_file_and_the_core_have_the_same_element_types() -> None:
    types = [dtype for dtype in DataType if dtype.in_models]
    numbers = re.findall(r"^  (DT_\w+) = (\d+);", _read("proto/mace.proto"), re.M)
    assert [name for name, _ in numbers] == [
        "DT_UNKNOWN",
        *(dtype.proto_name for dtype in types),
    ]
    header = _read("core/base/data_type.h")
    (declared,) = re.findall(r"enum class DataType : uint8_t {(.*?)}", header, re.S)
    assert re.findall(r"k\w+ = (\d+)", declared) == [number for _, number in numbers]
    assert re.findall(r"(k\w+) =", declared)[1:] == [t.cpp_name for t in types]
    (names,) = re.findall(r"kNames\[kDataTypeCount\] = {(.*?)}", header, re.S)
    assert re.findall(r'"(\w+)"', names) == ["unknown", *(t.value for t in types)]


def test_applications_have_some_of_these_element_types() -> None:
    header = _read("public/mace_tensor.h")
    (declared,) = re.findall(r"enum class IDataType {(.*?)}", header, re.S)
    names = re.findall(r"IDT_(\w+) =", declared)
    assert names[:2] == ["NOT_SET", "FLOAT"]
    assert all(DataType[name].in_models for name in names[2:])


def test_the_core_reads_the_precisions_that_deployments_ask_for() -> None:
    parser = _read("core/base/precision.cc")
    spellings = re.findall(r'{"(\w+)", Precision::(k\w+)}', parser)
    assert dict(spellings) == {p.value: p.arithmetic.cpp_name for p in Precision}


@pytest.mark.parametrize("precision", Precision)
def test_a_precision_is_two_types(precision: Precision) -> None:
    bits = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
    parts = precision.weights.value, precision.arithmetic.value
    assert precision.value == "_".join(bits[part] for part in parts)


# A parser, what editors complete (compared by a test), and what tests or measures one
# word after the other.
_PARSERS = (
    "mace/python/tools/data_type.py",
    "mace/core/base/precision.cc",
    "mace/python/runtime/options.py",
)
_TRIALS = re.compile(
    r"_test\.(py|cc|sh)$|_test/|/testing|^test/|^benchmarks/|^docs/|README\.md$|/testdata/"
)


def test_nothing_else_knows_the_words() -> None:
    word = re.compile("|".join(rf"[\"'`]{p.value}[\"'`]" for p in Precision))
    root = _MACE.parent
    found = [
        place
        for folder in ("mace", "tools")
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in (".py", ".cc", ".h", ".sh", ".yaml", ".bzl", ".jinja2")
        and (place := path.relative_to(root).as_posix()) not in _PARSERS
        and not _TRIALS.search(place)
        and word.search(path.read_text("utf-8"))
    ]
    assert not found
