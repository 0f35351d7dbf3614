# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What `doctor --for accelerators` says of phones, by the answers of an adb."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Dict, List, Mapping, Optional, Tuple

import pytest

from mace.python.tools.doctor.computer import Computer
from mace.python.tools.doctor.diagnosis import (
    ACCELERATORS,
    DSP,
    State,
    _judge,
    accelerator_phones,
    dsp_phones,
)
from mace.python.tools.doctor.requirements import Requirement

_NDK = "Accelerators: NDK for mace_run: none"
_HTP = "accelerator-library htp open /vendor/lib64/libQnnHtp.so\n"
_APU = "accelerator-library apu open /vendor/lib64/libneuronusdk_adapter.mtk.so\n"
_PUBLIC = "accelerator-public libneuronusdk_adapter.mtk.so\n"
_NOTHING = "\n\n"
_QNN = {"MACE_QNN_LIBRARY": "/data/local/tmp/q/libQnnHtp.so"}


def _computer_with(
    folder: Path, phones: Dict[str, str], variables: Optional[Mapping[str, str]] = None
) -> Computer:
    """A computer whose adb lists these phones, with the answer or state of each.

    Args:
        phones: by model; one line is a state, several are what the phone answers.
        variables: besides PATH.
    """
    listed, answers = "", ""
    for number, (model, answer) in enumerate(phones.items()):
        state = answer if "\n" not in answer else "device"
        listed += f"s{number}    {state} usb:1-{number} product:p model:{model}\n"
        if state == "device":
            answers += f"  's{number}') cat <<'END'\n{answer}END\n;;\n"
    adb = folder / "adb"
    adb.write_text(
        "#!/bin/sh\nPATH=/bin:/usr/bin\ncase $2 in\n"
        f"  -l) cat <<'END'\nList of devices attached\n{listed}END\n;;\n"
        f"{answers}esac\n"
    )
    adb.chmod(0o755)
    return Computer(folder, {"PATH": str(folder), **(variables or {})})


def _told(
    computer: Computer, task: str, look: Callable[[Computer], Tuple[Requirement, ...]]
) -> List[str]:
    """What prevents a task, as "group: check: found"."""
    lines = []
    for piece in look(computer):
        found = piece.probe(computer)
        if _judge(piece, found, {task}, computer) in (State.MISSING, State.UNFIT):
            assert piece.mend
            lines.append(f"{piece.group}: {piece.name}: {found.text}")
    return lines


def _told_of_libraries(
    folder: Path, phones: Dict[str, str], variables: Mapping[str, str]
) -> List[str]:
    """Apart from the NDK, which no computer here has."""
    computer = _computer_with(folder, phones, variables)
    first, *others = _told(computer, ACCELERATORS, accelerator_phones)
    assert first.startswith("Accelerators: NDK for mace_run: ")
    return others


def test_without_adb_there_is_no_phone_to_connect(tmp_path: Path) -> None:
    computer = Computer(tmp_path, {"PATH": str(tmp_path)})
    assert [piece.name for piece in accelerator_phones(computer)] == [
        "NDK for mace_run"
    ]


def test_a_phone_is_needed(tmp_path: Path) -> None:
    assert _told_of_libraries(tmp_path, {}, {}) == ["Accelerators: phone: "]


def test_what_is_looked_for_and_where(tmp_path: Path) -> None:
    computer = _computer_with(tmp_path, {"Xiaomi_13": _NOTHING})
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
    assert not _told_of_libraries(tmp_path, phones, {})
    computer = _computer_with(tmp_path, phones)
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
    assert _told_of_libraries(tmp_path, {"Phone": answer}, variables) == expected
    # Another phone will do.
    assert not _told_of_libraries(
        tmp_path, {"Phone": answer, "Xiaomi_13": _HTP + "\n"}, variables
    )


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


def _told_of_dsp(folder: Path, phones: Dict[str, str]) -> List[str]:
    return _told(_computer_with(folder, phones), DSP, dsp_phones)


def test_no_phone_has_nothing_to_check(tmp_path: Path) -> None:
    assert not dsp_phones(Computer(tmp_path, {"PATH": str(tmp_path)}))
    assert not dsp_phones(_computer_with(tmp_path, {}))


def test_a_phone_that_has_all(tmp_path: Path) -> None:
    computer = _computer_with(tmp_path, {"Xiaomi_13": _GOOD})
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
def test_what_the_dsp_of_a_phone_lacks(
    tmp_path: Path, answer: str, problems: List[str]
) -> None:
    expected = [f"DSP of Phone (s0): {line}" for line in problems]
    assert _told_of_dsp(tmp_path, {"Phone": answer}) == expected
    # Another phone will do.
    assert not _told_of_dsp(tmp_path, {"Phone": answer, "Xiaomi_13": _GOOD})
