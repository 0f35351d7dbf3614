# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What is sent to a device with a DSP, and what is said of one without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import pytest

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices import CommandResult
from mace.python.tools.devices.host import HostDevice
from mace.python.tools.errors import MissingToolError, UnsupportedError
from mace.python.tools.run import dsp_files
from mace.python.tools.run.dsp_files import DspFiles

_PHONE = """dsp-property ro.soc.model SM8550
dsp-property ro.soc.manufacturer QTI
dsp-node /dev/fastrpc-cdsp open
dsp-library /vendor/lib64/libcdsprpc.so
"""
_BOARD = "dsp-property soc0.machine QRB5165\ndsp-property soc0.family Snapdragon\n"
_FILES = DspFiles(Path("program"), Path("library"))


class _Device(HostDevice):
    """One that answers, and notes what is sent."""

    def __init__(self, folder: Path, answer: str) -> None:
        super().__init__(folder)
        self.answer = answer
        self.sent: dict[str, str] = {}

    @property
    def is_local(self) -> bool:
        return not self.answer

    def push(self, local: Path, remote: PurePosixPath) -> None:
        self.sent[str(remote)] = str(local)

    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        time_limit_s: float | None = None,
        watch_memory_s: int = 0,
    ) -> CommandResult:
        return CommandResult(0, self.answer)


def test_this_computer_emulates_a_dsp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = _Device(tmp_path, "")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="qemu-hexagon is missing") as caught:
        _FILES.begin(device, Abi.HOST)
    assert "bash tools/setup.sh --for dsp" in str(caught.value)
    emulator = tmp_path / "qemu-hexagon-static"
    emulator.write_text("")
    emulator.chmod(0o755)
    assert _FILES.begin(device, Abi.HOST) == {
        "MACE_HEXAGON_SKEL": str(tmp_path / "mace_hexagon_skel"),
        "MACE_HEXAGON_EMULATOR": str(emulator),
    }
    assert device.sent == {"mace_hexagon_skel": "program"}


def test_a_phone_gets_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = _Device(tmp_path, _PHONE)
    monkeypatch.setattr(dsp_files, "find_ndk", lambda: None)
    with pytest.raises(UnsupportedError, match="set ANDROID_NDK_HOME to an Android"):
        _FILES.begin(device, Abi.ARM64_V8A)
    assert not device.sent
    monkeypatch.setattr(dsp_files, "find_ndk", lambda: "an NDK")
    (variables,) = _FILES.begin(device, Abi.ARM64_V8A).items()
    assert device.sent == {"libmace_hexagon_skel.so": "library"}
    name, folders = variables
    assert name == "ADSP_LIBRARY_PATH"
    assert folders.startswith(f"{tmp_path};/vendor/")


def test_a_phone_of_the_farm_gets_the_program(tmp_path: Path) -> None:
    device = _Device(tmp_path, f"{_PHONE}dsp-emulator /vendor/bin/qemu-hexagon\n")
    variables = _FILES.begin(device, Abi.ARM64_V8A)
    assert variables["MACE_HEXAGON_EMULATOR"] == "/vendor/bin/qemu-hexagon"
    assert device.sent == {"mace_hexagon_skel": "program"}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("\n", "DSP: found the processor is not one of Qualcomm's; needed: Qualcomm's"),
        (_BOARD, "device file: there is none; needed: /dev/fastrpc-cdsp or"),
        (_PHONE.replace("SM8550", "MSM8998"), "DSP: found Hexagon v62 of msm8998"),
        (_PHONE.replace("open", "closed"), "device file: found /dev/fastrpc-cdsp may"),
        (_PHONE.replace("dsp-lib", "-"), "FastRPC library: there is none; needed: lib"),
    ],
)
def test_what_a_device_lacks_is_told(tmp_path: Path, answer: str, problem: str) -> None:
    device = _Device(tmp_path, answer)
    with pytest.raises(UnsupportedError) as caught:
        _FILES.begin(device, Abi.ARM64)
    assert f"host: runtime: dsp cannot be used; {problem}" in str(caught.value)
    assert not device.sent
