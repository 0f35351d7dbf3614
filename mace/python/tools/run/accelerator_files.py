# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the OpenCL runtime keeps on a device, and copies of it for applications."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mace.python.tools.accelerator_facts import (
    SCRIPT,
    SIGNATURE_FOLDERS,
    SKEL_LIBRARY,
    SKEL_PROGRAM,
    DspFacts,
)
from mace.python.tools.build_tools import NDK_VARIABLE, find_ndk
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.devices import ALL_SOCS, Device, DeviceError, DeviceProperties
from mace.python.tools.errors import MissingToolError, UnsupportedError
from mace.python.tools.export.sources import write_binary_code
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.program import find_dsp_program

_LOG = logging.getLogger(__name__)

# The runtime's files in its folder (mace/runtimes/opencl_options/opencl_options.h).
_KERNELS = "mace_cl_compiled_program.bin"
_PARAMETERS = "mace_cl_tuned_parameter.bin"
_FILES = {_KERNELS: "compiled OpenCL kernel", _PARAMETERS: "tuned OpenCL parameter"}


@dataclass(frozen=True)
class OpenclStore:
    """The folder in which `mace_run` keeps compiled kernels on a device.

    Attributes:
        folder: relative to the device's work folder.
        tuning: try parameters of kernels, and keep the best.
    """

    folder: PurePosixPath
    tuning: bool = False

    @property
    def environment(self) -> dict[str, str]:
        """The variables that `mace_run` reads."""
        return {
            "MACE_INTERNAL_STORAGE_PATH": str(self.folder),
            "MACE_TUNING": str(int(self.tuning)),
        }


@dataclass(frozen=True)
class OpenclFiles:
    """The files of a deployment, for each device and ABI.

    Attributes:
        target: gets a folder for each ABI.
        collects: whether they are copied to `target`. The folder on the device is
            then empty at first, so that the copy has nothing of earlier models.
        tuning: as in `OpenclStore`.
        as_code: whether a copy becomes C++ code, too.
        forgets: whether parameters of earlier runs on the device are removed.
    """

    library_name: str
    target: Path
    collects: bool
    tuning: bool
    as_code: bool
    forgets: bool = False

    @classmethod
    def of(
        cls, deployment: Deployment, options: RunOptions, tunes: bool
    ) -> OpenclFiles:
        """Those of a run. A deployment that names SoCs is for just these.

        Args:
            tunes: whether the run may collect and tune at all.
        """
        named = bool(deployment.target_socs) and ALL_SOCS not in deployment.target_socs
        collects = tunes and (named or options.tuning)
        return cls(
            deployment.library_name,
            options.build_dir / deployment.library_name / "opencl",
            collects,
            collects and not options.disable_tuning,
            options.cl_binary_to_code,
            options.disable_tuning,
        )

    def store(self, abi: Abi) -> OpenclStore:
        """The place on a device. Programs of two ABIs have different drivers."""
        folder = PurePosixPath("opencl") / self.library_name / abi.value
        return OpenclStore(folder, self.tuning)

    def begin(self, device: Device, abi: Abi) -> None:
        """Before the first model of an ABI runs on a device that is prepared."""
        if self.collects:
            device.remove(self.store(abi).folder)
        elif self.forgets:
            device.remove(self.store(abi).folder / _PARAMETERS)

    def collect(self, device: Device, properties: DeviceProperties, abi: Abi) -> None:
        """Copies what the models of an ABI have left on a device.

        The files are <library>_compiled_opencl_kernel.<device>.<soc>.bin and
        <library>_tuned_opencl_parameter.<device>.<soc>.bin; <soc> is absent for a
        device without one.
        """
        if not self.collects:
            return
        try:
            self._copy(device, properties, abi)
        except DeviceError as error:
            _LOG.warning("the files of OpenCL could not be copied: %s", error)

    def _copy(self, device: Device, properties: DeviceProperties, abi: Abi) -> None:
        folder = self.store(abi).folder
        names = [_plain(name) for name in (properties.name, properties.soc) if name]
        missing = []
        for remote, what in _FILES.items():
            if not device.has_file(folder / remote):
                if remote == _KERNELS or self.tuning:
                    missing.append(what)
                continue
            stem = f"{self.library_name}_{what.lower().replace(' ', '_')}"
            path = self.target / abi.value / ".".join((stem, *names, "bin"))
            device.pull(folder / remote, path)
            _LOG.info("%s: %s", what, path)
            if self.as_code:
                _LOG.info("as code: %s", write_binary_code(path))
        if missing:
            _LOG.warning(
                "%s (%s): mace_run has written no %s",
                properties.name,
                abi.value,
                " and no ".join(missing),
            )


def uses_gpu(runtimes: Iterable[Runtime]) -> bool:
    """Whether the GPU is among the devices of any."""
    return any(Runtime.GPU in runtime.devices for runtime in runtimes)


def _plain(name: str) -> str:
    """A device's name as part of a file name: "Mi Note 3" is MiNote3."""
    return re.sub(r"[^0-9A-Za-z+-]", "_", "".join(name.split()))


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
                f"load the FastRPC library; set {NDK_VARIABLE} to an Android NDK"
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
