# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What `doctor --for dsp` says of phones, by the answers of an adb."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List

import pytest

from mace.python.tools.doctor.computer import Computer
from mace.python.tools.doctor.phones import DSP as TASK
from mace.python.tools.doctor.phones import dsp_phones
from mace.python.tools.doctor.testing import computer_with, told

_GOOD = """dsp-property ro.soc.manufacturer QTI
dsp-property ro.soc.model SM8550
dsp-property ro.boot.verifiedbootstate green
dsp-node /dev/fastrpc-cdsp open
dsp-node /dev/fastrpc-cdsp-secure closed
dsp-library /vendor/lib64/libcdsprpc.so
dsp-skel libmace_hexagon_skel.so
"""
_OLD = """dsp-property ro.board.platform msm8998
dsp-property ro.hardware qcom
dsp-node /dev/adsprpc-smd open
dsp-library /vendor/lib64/libcdsprpc.so
"""
_OTHER_MAKER = "dsp-property ro.board.platform gs101\ndsp-property ro.hardware oriole\n"
_SIGNED_ONLY = """dsp-property ro.board.platform kona
dsp-property ro.hardware qcom
dsp-node /dev/fastrpc-cdsp closed
dsp-node /dev/fastrpc-cdsp-secure open
dsp-library /vendor/lib64/libcdsprpc.so
dsp-property ro.boot.verifiedbootstate green
"""
_SIGNATURE = "dsp-signature /vendor/lib/rfsa/adsp/testsig-0x1234.so\n"


_UNSIGNED = "signature: no testsig, and no place for unsigned code; secure boot is on"


def _told(folder: Path, phones: Dict[str, str]) -> List[str]:
    return told(computer_with(folder, phones), TASK, dsp_phones)


def test_no_phone_has_nothing_to_check(tmp_path: Path) -> None:
    assert not dsp_phones(Computer(tmp_path, {"PATH": str(tmp_path)}))
    assert not dsp_phones(computer_with(tmp_path, {}))


def test_a_phone_that_has_all(tmp_path: Path) -> None:
    computer = computer_with(tmp_path, {"Xiaomi_13": _GOOD})
    rows = {p.name: p.probe(computer) for p in dsp_phones(computer)}
    assert all(found.good for found in rows.values())
    assert rows["DSP"].text == "Hexagon v73 of sm8550"
    assert rows["signature"].text == (
        "none: MACE asks for a process for unsigned code; secure boot is on"
    )
    assert rows["code of the DSP"].text == "libmace_hexagon_skel.so"
    (group,) = {piece.group for piece in dsp_phones(computer)}
    assert group == "DSP of Xiaomi 13 (s0)"


@pytest.mark.parametrize(
    ("answer", "problems"),
    [
        (_OLD, ["DSP: Hexagon v62 of msm8998"]),
        (
            _OTHER_MAKER,
            [
                "DSP: gs101 is not one of Qualcomm's",
                "device file: ",
                "FastRPC library: ",
                "signature: no testsig, and no place for unsigned code",
            ],
        ),
        (
            _SIGNED_ONLY,
            [_UNSIGNED],
        ),
        (_SIGNED_ONLY + _SIGNATURE, []),
        (
            _GOOD.replace("cdsp open", "cdsp closed"),
            [
                "device file: /dev/fastrpc-cdsp may not be used by programs of adb "
                "shell",
                _UNSIGNED,
            ],
        ),
        (_GOOD.replace("SM8550", "SM7999"), []),
        ("unauthorized", ["phone: unauthorized"]),
        ("offline", ["phone: offline"]),
    ],
)
def test_what_a_phone_lacks(tmp_path: Path, answer: str, problems: List[str]) -> None:
    expected = [f"DSP of Phone (s0): {line}" for line in problems]
    assert _told(tmp_path, {"Phone": answer}) == expected
    # Another phone will do.
    assert not _told(tmp_path, {"Phone": answer, "Xiaomi_13": _GOOD})
