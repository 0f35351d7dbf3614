# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The pinned packages are those of the requirement lists."""

from __future__ import annotations

import importlib.metadata
import re

import pytest

from setup import lock

_SUM = "0" * 64


def test_every_required_package_is_pinned_with_its_checksum() -> None:
    text = lock.LOCKED.read_text(encoding="utf-8")
    versions = lock.pinned(text)
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) == len(versions) > 0
    wanted = [re.match(r"([A-Za-z0-9._-]+)>=(\S+)", one) for one in lock.packages()]
    assert {"numpy", "onnxruntime", "hatchling"} <= {one[1] for one in wanted if one}
    for match in filter(None, wanted):
        version = versions[re.sub(r"[-_.]+", "-", match[1]).lower()]
        numbers = [
            [int(part) for part in re.findall(r"\d+", one)[:2]]
            for one in (version, match[2])
        ]
        assert numbers[0] >= numbers[1], match[0]


def test_the_report_of_pip_becomes_lines() -> None:
    def item(name: str, version: str) -> dict[str, object]:
        return {
            "metadata": {"name": name, "version": version},
            "download_info": {"archive_info": {"hashes": {"sha256": _SUM}}},
        }

    report = {"install": [item("PyYAML", "6.0"), item("ml_dtypes", "0.2")]}
    assert lock.lines_of(report) == [
        f"ml-dtypes==0.2 --hash=sha256:{_SUM}",
        f"pyyaml==6.0 --hash=sha256:{_SUM}",
    ]


def test_another_environment_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    have = {"numpy": "1.0"}

    def version(name: str) -> str:
        if name not in have:
            raise importlib.metadata.PackageNotFoundError(name)
        return have[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    wanted = {"numpy": "1.0", "onnx": "1.2"}
    assert lock.differences(wanted) == ["onnx is missing, not 1.2"]
    assert lock.main(["--check"]) == 1
    assert "setup.sh --for validate,wheel --locked" in capsys.readouterr().err
