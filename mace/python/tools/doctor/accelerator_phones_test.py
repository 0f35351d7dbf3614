# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What `doctor --for accelerators` says of phones, by the answers of an adb."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Mapping

import pytest

from mace.python.tools.doctor.computer import Computer
from mace.python.tools.doctor.phones import ACCELERATORS as TASK
from mace.python.tools.doctor.phones import accelerator_phones
from mace.python.tools.doctor.testing import computer_with, told

_NDK = "Accelerators: NDK for mace_run: none"
_HTP = "accelerator-library htp open /vendor/lib64/libQnnHtp.so\n"
_APU = "accelerator-library apu open /vendor/lib64/libneuronusdk_adapter.mtk.so\n"
_PUBLIC = "accelerator-public libneuronusdk_adapter.mtk.so\n"
_NOTHING = "\n\n"
_QNN = {"MACE_QNN_LIBRARY": "/data/local/tmp/q/libQnnHtp.so"}


def _told(
    folder: Path, phones: Dict[str, str], variables: Mapping[str, str]
) -> List[str]:
    """Apart from the NDK, which no computer here has."""
    computer = computer_with(folder, phones, variables)
    first, *others = told(computer, TASK, accelerator_phones)
    assert first.startswith("Accelerators: NDK for mace_run: ")
    return others


def test_without_adb_there_is_no_phone_to_connect(tmp_path: Path) -> None:
    computer = Computer(tmp_path, {"PATH": str(tmp_path)})
    assert [piece.name for piece in accelerator_phones(computer)] == [
        "NDK for mace_run"
    ]


def test_a_phone_is_needed(tmp_path: Path) -> None:
    assert _told(tmp_path, {}, {}) == ["Accelerators: phone: "]


def test_what_is_looked_for_and_where(tmp_path: Path) -> None:
    computer = computer_with(tmp_path, {"Xiaomi_13": _NOTHING})
    rows = {piece.name: piece for piece in accelerator_phones(computer)}
    assert rows["HTP"].group == "Accelerators of Xiaomi 13 (s0)"
    assert rows["HTP"].needed == (
        "libQnnHtp.so in lib64 of /vendor, /odm, /system, /system_ext; or "
        "MACE_QNN_LIBRARY, the path on the phone"
    )
    assert "adb push libQnnHtp.so" in rows["HTP"].mend
    assert "libhta_hexagon_runtime.so or libhta_controller.so in " in rows["HTA"].needed
    assert " in lib64 or lib of /vendor, " in rows["APU"].needed
    assert "export MACE_NEURON_LIBRARY=<its path" in rows["APU"].mend


@pytest.mark.parametrize(
    ("answer", "name", "found"),
    [
        (_HTP, "HTP", "/vendor/lib64/libQnnHtp.so"),
        (_APU, "APU", "/vendor/lib64/libneuronusdk_adapter.mtk.so"),
        (
            _PUBLIC + _APU.replace("\n", "\r\n"),
            "APU",
            "/vendor/lib64/libneuronusdk_adapter.mtk.so, also for applications",
        ),
    ],
)
def test_a_phone_with_one_accelerator_will_do(
    tmp_path: Path, answer: str, name: str, found: str
) -> None:
    phones = {"Xiaomi_13": answer + "\n"}
    assert not _told(tmp_path, phones, {})
    computer = computer_with(tmp_path, phones)
    rows = {p.name: p.probe(computer) for p in accelerator_phones(computer)}
    assert [key for key, row in rows.items() if row.good] == [name]
    assert rows[name].text == found


@pytest.mark.parametrize(
    ("answer", "variables", "problems"),
    [
        (_NOTHING, {}, ["HTP: ", "HTA: ", "APU: "]),
        (
            _HTP.replace("lib64", "lib") + "\n",
            {},
            ["HTP: /vendor/lib/libQnnHtp.so is of 32 bits", "HTA: ", "APU: "],
        ),
        (
            _APU.replace("open", "closed") + "\n",
            {},
            [
                *("HTP: ", "HTA: "),
                "APU: /vendor/lib64/libneuronusdk_adapter.mtk.so may not be read by "
                "programs of adb shell",
            ],
        ),
        (
            _NOTHING,
            _QNN,
            [
                "HTP: no /data/local/tmp/q/libQnnHtp.so, which MACE_QNN_LIBRARY names",
                *("HTA: ", "APU: "),
            ],
        ),
        ("unauthorized", {}, ["phone: unauthorized"]),
    ],
)
def test_what_a_phone_lacks(
    tmp_path: Path, answer: str, variables: Mapping[str, str], problems: List[str]
) -> None:
    expected = [f"Accelerators of Phone (s0): {line}" for line in problems]
    assert _told(tmp_path, {"Phone": answer}, variables) == expected
    # Another phone will do.
    assert not _told(tmp_path, {"Phone": answer, "Xiaomi_13": _HTP + "\n"}, variables)
