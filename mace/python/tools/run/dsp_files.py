# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The DSP's own code: which file a device needs, and how `mace_run` finds it there."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mace.python.tools.android_ndk import VARIABLE, find_ndk
from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.devices import Device
from mace.python.tools.dsp_facts import (
    SCRIPT,
    SIGNATURE_FOLDERS,
    SKEL_LIBRARY,
    SKEL_PROGRAM,
    DspFacts,
)
from mace.python.tools.errors import MissingToolError, UnsupportedError
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.program import find_dsp_program

_EMULATOR = "qemu-hexagon"
# The emulator has a model of this version; older DSPs execute older code alone.
_EMULATED_VERSION = 67
_OLDEST_VERSION = 66
_ROOM = "//mace/kernels/hexagon"

# The variables that the runtime reads (mace/runtimes/hexagon).
_SKEL_VARIABLE = "MACE_HEXAGON_SKEL"
_EMULATOR_VARIABLE = "MACE_HEXAGON_EMULATOR"
# That the system's FastRPC library reads: where it looks for the DSP's code.
_FOLDERS_VARIABLE = "ADSP_LIBRARY_PATH"


@dataclass(frozen=True)
class DspFiles:
    """The DSP's code on this computer.

    Attributes:
        program: for the emulator; None if no device needs it.
        library: for real DSPs, likewise.
    """

    program: Path | None = None
    library: Path | None = None

    @classmethod
    def of(cls, devices: Iterable[Device], options: RunOptions) -> DspFiles:
        """Those that the devices may need, built if they are missing.

        Raises:
            MissingToolError: they must be built and there is no Bazel.
            BuildError: building them failed.
        """
        library = None
        if any(not device.is_local for device in devices):
            target = f"{_ROOM}/fastrpc:{SKEL_LIBRARY}"
            library = find_dsp_program(target, _OLDEST_VERSION, options)
        target = f"{_ROOM}/executor:{SKEL_PROGRAM}"
        return cls(find_dsp_program(target, _EMULATED_VERSION, options), library)

    def begin(self, device: Device, abi: Abi) -> Mapping[str, str]:
        """Sends what a device that is prepared needs.

        Returns:
            The variables by which `mace_run` finds it.

        Raises:
            UnsupportedError: the device has no DSP that can be used, or the program
                for it cannot use it.
            MissingToolError: there is no emulator on this computer.
            DeviceError: the device does not answer.
        """
        emulator = _own_emulator() if device.is_local else ""
        if not emulator:
            facts = DspFacts.of(device.run(["sh", "-c", SCRIPT]).output)
            if facts.problem:
                raise UnsupportedError(
                    f"{device.label}: runtime: dsp cannot be used; {facts.problem}"
                )
            emulator = facts.emulator
        if emulator:
            assert self.program is not None
            device.push(self.program, PurePosixPath(SKEL_PROGRAM))
            return {
                _SKEL_VARIABLE: str(device.work_dir / SKEL_PROGRAM),
                _EMULATOR_VARIABLE: emulator,
            }
        if abi.is_android and find_ndk() is None:
            raise UnsupportedError(
                f"{device.label}: runtime: dsp needs a program built by an NDK: "
                f"without it, mace_run for {abi.value} is linked statically and cannot "
                f"load the FastRPC library; set {VARIABLE} to an Android NDK"
            )
        assert self.library is not None
        device.push(self.library, PurePosixPath(SKEL_LIBRARY))
        folders = (str(device.work_dir), *SIGNATURE_FOLDERS)
        return {_FOLDERS_VARIABLE: ";".join(dict.fromkeys(folders))}


def uses_dsp(runtimes: Iterable[Runtime]) -> bool:
    """Whether the DSP is among the devices of any."""
    return any(Runtime.DSP in runtime.devices for runtime in runtimes)


def _own_emulator() -> str:
    # The static build of QEMU has the same options.
    found = shutil.which(_EMULATOR) or shutil.which(f"{_EMULATOR}-static")
    if found is None:
        raise MissingToolError(
            _EMULATOR,
            "runtime: dsp on this computer, which emulates the DSP",
            "bash tools/setup.sh --for dsp",
        )
    return found
