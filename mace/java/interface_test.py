# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""That Java has the settings and the enumerations of the C++ interface."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_HEADERS = sorted((_ROOT / "mace" / "public").glob("*.h"))
_HEADER = "".join(path.read_text("utf-8") for path in _HEADERS)
_CLASSES = _ROOT / "mace" / "java" / "com" / "xiaomi" / "mace"

# Settings with another name in Java, or none.
_OTHERS = {
    "SetRuntimeType": "setRuntimeTypes",
    "SetQnnPerformance": "setHtpPerformance",
    "SetStoragePath": "setGpuStoragePath",
    "SetOpenCLCacheReusePolicy": "setOpenCLCacheReuse",
    # Its builder's settings are Java's.
    "SetGPUContext": "",
    # Java has no OpenCL whose queue it could give.
    "SetOpenCLQueue": "",
}
# What is an argument in C++.
_OF_JAVA = {"setFakeWarmup", "setTutor", "setSubgraphRuntimeTypes"}

_ENUMERATIONS = {
    "RuntimeType": ("DeviceType",),
    "CpuAffinity": ("CPUAffinityPolicy",),
    "GpuHint": ("GPUPerfHint", "GPUPriorityHint"),
    "HexagonCorner": ("HexagonNNCornerType",),
    "AcceleratorCache": ("AcceleratorCachePolicy",),
    "ApuPreference": ("APUPreferenceHint",),
    "HtpPerformance": ("HexagonPerformanceType",),
    "DataFormat": ("DataFormat",),
    "DataType": ("IDataType",),
}


def _settings_of_the_header() -> set[str]:
    builder = re.findall(r"GPUContextBuilder &(Set\w+)\(", _HEADER)
    config = re.findall(r"^  MaceStatus (Set\w+)\(", _HEADER, re.MULTILINE)
    assert builder and config
    return {*builder, *config} - {"SetHexagon"}


def test_java_has_every_setting() -> None:
    text = (_CLASSES / "MaceEngineConfig.java").read_text("utf-8")
    found = set(re.findall(r"public MaceEngineConfig (set\w+)\(", text))
    wanted = {_OTHERS.get(name, name) for name in _settings_of_the_header()} - {""}
    assert {name.lower() for name in found - _OF_JAVA} == {n.lower() for n in wanted}
    assert set(_OTHERS) <= _settings_of_the_header()


def _numbers_of_header(name: str) -> dict[str, int]:
    found = re.search(rf"enum (?:class )?{name}\b[^{{]*{{(.*?)}};", _HEADER, re.DOTALL)
    assert found, name
    numbers: dict[str, int] = {}
    for constant in re.sub(r"//.*", "", found[1]).split(","):
        if constant.strip():
            key, _, number = constant.partition("=")
            following = max(numbers.values(), default=-1) + 1
            numbers[key.strip()] = int(number) if number else following
    return numbers


def _numbers_of_java(name: str) -> dict[str, int]:
    text = (_CLASSES / f"{name}.java").read_text("utf-8")
    body = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    (listed,) = re.findall(rf"enum {name} \{{(.*?)[;}}]", body, re.DOTALL)
    constants = re.findall(r"(\w+)\s*(?:\((\d+)[^)]*\))?\s*(?:,|$)", listed.strip())
    return {key: int(number or at) for at, (key, number) in enumerate(constants)}


@pytest.mark.parametrize("name", list(_ENUMERATIONS))
def test_enumerations_have_the_same_numbers(name: str) -> None:
    java = _numbers_of_java(name)
    for theirs in _ENUMERATIONS[name]:
        native = {
            number: key
            for key, number in _numbers_of_header(theirs).items()
            if key != "IDT_NOT_SET"
        }
        assert sorted(native) == sorted(java.values())
        for key, number in java.items():
            short = key.replace("FLOAT32", "FLOAT")
            assert native[number].endswith(short), (key, native[number])
