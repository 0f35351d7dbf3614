# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The vendors' libraries that adapters open: their names, and what a phone has of them.

Only the standard library: the doctor uses it, too.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Dict, FrozenSet, List, Mapping, Optional, Tuple

# What a device has of a DSP: read by one shell script, and judged here.
#
# Only the standard library: the doctor uses it, too.


# The oldest version of Hexagon whose vectors of 128 bytes MACE's code uses.
OLDEST_VERSION = 66

# The DSP's code, in the folder that `run` uses on a device.
SKEL_LIBRARY = "libmace_hexagon_skel.so"
SKEL_PROGRAM = "mace_hexagon_skel"
# The work folder of phones; debuggers and profilers use it, too.
PHONE_WORK_DIR = "/data/local/tmp/mace_run"

# Devices through which a program reaches the DSP. Those of the first group take
# unsigned code, those of the second only code with a signature that the phone knows.
_NODES = ("/dev/fastrpc-cdsp", "/dev/adsprpc-smd")
_SECURE_NODES = ("/dev/fastrpc-cdsp-secure", "/dev/adsprpc-smd-secure")
_LIBRARY_FOLDERS = (
    *("/vendor/lib64", "/vendor/lib", "/system/vendor/lib64", "/system/vendor/lib"),
    *("/usr/lib", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"),
)
_LIBRARIES = ("libcdsprpc.so", "libadsprpc.so", "libcdsprpc.so.1")
# Where DSPs look for libraries and signatures.
SIGNATURE_FOLDERS = (
    *("/vendor/lib/rfsa/adsp", "/vendor/dsp/cdsp", "/vendor/dsp", "/odm/lib/rfsa/adsp"),
    *("/usr/lib/rfsa/adsp", "/dsp/cdsp", PHONE_WORK_DIR),
)
# A phone of the device farm has an emulator in place of a DSP.
FARM_EMULATOR = "/vendor/bin/qemu-hexagon"
_PROPERTIES = (
    *("ro.soc.manufacturer", "ro.soc.model", "ro.board.platform", "ro.hardware"),
    *("ro.boot.verifiedbootstate",),
)

# The DSP of SoCs, by their names and those of their platforms.
_VERSIONS: Mapping[str, int] = {
    **dict.fromkeys(("msm8996", "apq8096"), 60),
    "msm8998": 62,
    **dict.fromkeys(("sdm845", "sdm670", "sdm710"), 65),
    **dict.fromkeys(("sm8150", "msmnile", "sm8250", "kona"), 66),
    **dict.fromkeys(("sm8350", "lahaina"), 68),
    **dict.fromkeys(("sm8450", "taro"), 69),
    **dict.fromkeys(("sm8550", "kalama"), 73),
    **dict.fromkeys(("sm8650", "pineapple"), 75),
    **dict.fromkeys(("sm8750", "sun"), 79),
}
_QUALCOMM = re.compile(
    r"^(msm|apq|sdm|sm|qcs|qcm|sc)\d{3,}|^qcom$|^qti$|qualcomm|snapdragon"
)

# Prints a line for each fact. `test -r` and `-w` also see what SELinux forbids.
SCRIPT = f"""
for key in {" ".join(_PROPERTIES)}; do
  value=$(getprop $key 2>/dev/null)
  [ -n "$value" ] && echo "dsp-property $key $value"
done
for name in family machine; do
  value=$(cat /sys/devices/soc0/$name 2>/dev/null)
  [ -n "$value" ] && echo "dsp-property soc0.$name $value"
done
for path in {" ".join((*_NODES, *_SECURE_NODES))}; do
  if [ -r $path ] && [ -w $path ]; then echo "dsp-node $path open"
  elif [ -e $path ]; then echo "dsp-node $path closed"; fi
done
for folder in {" ".join(_LIBRARY_FOLDERS)}; do
  for name in {" ".join(_LIBRARIES)}; do
    [ -e $folder/$name ] && echo "dsp-library $folder/$name"
  done
done
for folder in {" ".join(SIGNATURE_FOLDERS)}; do
  for path in $folder/testsig-0x*.so; do
    [ -e $path ] && echo "dsp-signature $path"
  done
done
[ -x {FARM_EMULATOR} ] && echo "dsp-emulator {FARM_EMULATOR}"
[ -e {PHONE_WORK_DIR}/{SKEL_LIBRARY} ] && echo "dsp-skel {SKEL_LIBRARY}"
true
"""
_FACT = re.compile(r"^dsp-(\w+) (\S+)(?: (.*?))?\r?$", re.MULTILINE)


@dataclass(frozen=True)
class Check:
    """One condition of the DSP's use.

    Attributes:
        found: what there is; empty: nothing.
        mend: what to do if it is not good.
    """

    name: str
    good: bool
    found: str
    needed: str
    mend: str


@dataclass(frozen=True)
class DspFacts:
    """What `SCRIPT` has printed.

    Attributes:
        properties: of Android, and what Linux says of the SoC.
        nodes: whether each device file that is there may be used.
        emulator: a program that stands for the DSP; empty for real ones.
    """

    properties: Mapping[str, str]
    nodes: Mapping[str, bool]
    libraries: Tuple[str, ...]
    signatures: Tuple[str, ...]
    emulator: str = ""
    has_skel: bool = False

    @classmethod
    def of(cls, output: str) -> DspFacts:
        """Reads the script's output, among whatever else there is."""
        found: Dict[str, List[Tuple[str, str]]] = {}
        for kind, name, value in _FACT.findall(output):
            found.setdefault(kind, []).append((name, value.strip()))
        return cls(
            dict(found.get("property", ())),
            {path: state == "open" for path, state in found.get("node", ())},
            tuple(path for path, _ in found.get("library", ())),
            tuple(path for path, _ in found.get("signature", ())),
            "".join(path for path, _ in found.get("emulator", ())[:1]),
            "skel" in found,
        )

    @property
    def soc(self) -> str:
        """The name by which its DSP is known, or the first that it has."""
        names = self._socs()
        known = [name for name in names if name in _VERSIONS]
        return (known or names or [""])[0]

    @property
    def version(self) -> Optional[int]:
        """Of Hexagon: 66; None if it is not known."""
        return _VERSIONS.get(self.soc)

    def _socs(self) -> List[str]:
        keys = ("ro.soc.model", "soc0.machine", "ro.board.platform", "ro.hardware")
        values = (self.properties.get(key, "").lower() for key in keys)
        return [value for value in values if value]

    @property
    def checks(self) -> Tuple[Check, ...]:
        """What must be there, in the order in which it is looked for."""
        return (
            self._processor(),
            self._node(),
            self._library(),
            self._signature(),
            self._skel(),
        )

    @property
    def problem(self) -> str:
        """Why the DSP cannot be used; empty if nothing is missing."""
        for check in self.checks:
            if not check.good:
                found = f"found {check.found}" if check.found else "there is none"
                return f"{check.name}: {found}; needed: {check.needed}"
        return ""

    def _processor(self) -> Check:
        keys = ("ro.soc.manufacturer", "soc0.family")
        makers = [self.properties.get(key, "").lower() for key in keys]
        is_theirs = any(_QUALCOMM.search(name) for name in (*self._socs(), *makers))
        version = self.version
        good = bool(self.emulator) or (
            is_theirs and (version is None or version >= OLDEST_VERSION)
        )
        if self.emulator:
            found = f"emulated by {self.emulator}"
        elif not is_theirs:
            found = f"{self.soc or 'the processor'} is not one of Qualcomm's"
        elif version is None:
            found = f"{self.soc}, of which only the DSP itself tells its version"
        else:
            found = f"Hexagon v{version} of {self.soc}"
        return Check(
            "DSP",
            good,
            found,
            f"Qualcomm's Hexagon, v{OLDEST_VERSION} or later, with HVX",
            "use another phone, or runtime: cpu or gpu",
        )

    def _node(self) -> Check:
        usable = [path for path, is_open in self.nodes.items() if is_open]
        found = ", ".join(usable)
        if not usable and self.nodes:
            found = f"{next(iter(self.nodes))} may not be used by programs of adb shell"
        return Check(
            "device file",
            bool(usable),
            found,
            f"{' or '.join(_NODES)}, open to programs",
            "use a phone whose system gives programs access to the DSP (adb shell ls "
            "-lZ /dev/*rpc* shows what it allows)",
        )

    def _library(self) -> Check:
        # An emulated DSP is reached without it.
        return Check(
            "FastRPC library",
            bool(self.libraries or self.emulator),
            self.libraries[0] if self.libraries else "",
            " or ".join(_LIBRARIES[:2]),
            "use a phone whose system has the library (adb shell ls /vendor/lib64)",
        )

    def _signature(self) -> Check:
        needed = f"{_NODES[0]} for unsigned code, or a testsig"
        takes_unsigned = any(self.nodes.get(path, False) for path in _NODES)
        state = self.properties.get("ro.boot.verifiedbootstate", "")
        locked = "; secure boot is on" if state == "green" else ""
        if self.emulator:
            found = "the emulator asks for none"
        elif self.signatures:
            found = self.signatures[0]
        elif takes_unsigned:
            found = f"none: MACE asks for a process for unsigned code{locked}"
        else:
            found = f"no testsig, and no place for unsigned code{locked}"
        return Check(
            "signature",
            bool(self.emulator or self.signatures or takes_unsigned),
            found,
            needed,
            "push a testsig for this phone's serial number, made by Qualcomm's "
            f"Hexagon SDK, to {PHONE_WORK_DIR} (needs secure boot to be off)",
        )

    def _skel(self) -> Check:
        # It is no problem that it is not there yet.
        found = SKEL_LIBRARY if self.has_skel else "converter.py run sends it"
        return Check("code of the DSP", True, found, "any", "")


# Where the loader of Android looks for a library that is named without a folder.
_PARTITIONS = ("/vendor", "/odm", "/system", "/system_ext")
_FOLDERS = tuple(f"{p}/{lib}" for lib in ("lib64", "lib") for p in _PARTITIONS)
# They name the libraries that applications may open.
_PUBLIC = "/vendor/etc/public.libraries*.txt /system/etc/public.libraries*.txt"


@dataclass(frozen=True)
class Adapter:
    """One of mace/runtimes, with its library.

    Attributes:
        runtime: of deployment files.
        accelerator: for people.
        variable: names another library, by its path on the device.
        libraries: in the order in which they are tried.
        needs_64_bits: only programs of 64 bits can open it.
        source: where a phone gets the library from; empty: with its system.
    """

    runtime: str
    accelerator: str
    variable: str
    libraries: Tuple[str, ...]
    needs_64_bits: bool = False
    source: str = ""


ADAPTERS = (
    Adapter(
        "htp",
        "HTP",
        "MACE_QNN_LIBRARY",
        ("libQnnHtp.so",),
        needs_64_bits=True,
        source="adb push libQnnHtp.so and the libraries that it needs (stub and "
        "skeleton of the phone's Hexagon version, from Qualcomm's SDK) to "
        f"{PHONE_WORK_DIR}; then export "
        f"MACE_QNN_LIBRARY={PHONE_WORK_DIR}/libQnnHtp.so",
    ),
    Adapter(
        "hta",
        "HTA",
        "MACE_HTA_LIBRARY",
        ("libhta_hexagon_runtime.so", "libhta_controller.so"),
    ),
    Adapter(
        "apu",
        "APU",
        "MACE_NEURON_LIBRARY",
        (
            "libneuronusdk_adapter.mtk.so",
            "libneuron_adapter_mgvi.so",
            "libneuron_adapter.so",
        ),
    ),
)


def device_environment(variables: Mapping[str, str]) -> Dict[str, str]:
    """What `mace_run` on a phone or board needs to find the libraries that are named.

    A library that is not the system's has others beside it, which the loader (stubs)
    and the DSP (skeletons) have to find.

    Args:
        variables: of this computer.
    """
    named = {
        adapter.variable: variables[adapter.variable]
        for adapter in ADAPTERS
        if variables.get(adapter.variable)
    }
    folders = [str(PurePosixPath(path).parent) for path in named.values()]
    # In the order in which they are named, each once; none for a name alone.
    searched = [folder for folder in dict.fromkeys(folders) if folder != "."]
    if not searched:
        return named
    return {
        "LD_LIBRARY_PATH": ":".join(searched),
        "ADSP_LIBRARY_PATH": ";".join(searched),
        **named,
    }


def script(variables: Mapping[str, str]) -> str:
    """A shell script that prints a line for each library that a phone has.

    `test -r` also sees what SELinux forbids.

    Args:
        variables: of this computer; as `run`, they name libraries of the phone.
    """
    lines = []
    for adapter in ADAPTERS:
        for path in _candidates(adapter, variables):
            quoted = shlex.quote(path)
            line = f"accelerator-library {adapter.runtime}"
            lines.append(
                f"if [ -r {quoted} ]; then echo {line} open {quoted}; "
                f"elif [ -e {quoted} ]; then echo {line} closed {quoted}; fi"
            )
        lines += (
            f"grep -qs '^{name}' {_PUBLIC} && echo accelerator-public {name}"
            for name in adapter.libraries
        )
    return "\n".join((*lines, "true"))


def _candidates(adapter: Adapter, variables: Mapping[str, str]) -> List[str]:
    named = variables.get(adapter.variable)
    if named and "/" in named:
        return [named]
    names = (named,) if named else adapter.libraries
    return [f"{folder}/{name}" for name in names for folder in _FOLDERS]


_LIBRARY = re.compile(r"^accelerator-library (\w+) (\w+) (.+?)\r?$", re.MULTILINE)
_IS_PUBLIC = re.compile(r"^accelerator-public (\S+?)\r?$", re.MULTILINE)


def checks(output: str, variables: Mapping[str, str]) -> Tuple[Check, ...]:
    """One for each adapter, by what `script` has printed for these variables."""
    public = frozenset(_IS_PUBLIC.findall(output))
    found: Dict[str, Dict[str, bool]] = {}
    for runtime, state, path in _LIBRARY.findall(output):
        found.setdefault(runtime, {})[path] = state == "open"
    return tuple(
        _check(adapter, found.get(adapter.runtime, {}), variables, public)
        for adapter in ADAPTERS
    )


def _check(
    adapter: Adapter,
    found: Mapping[str, bool],
    variables: Mapping[str, str],
    public: FrozenSet[str],
) -> Check:
    usable = [
        path
        for path, is_open in found.items()
        if is_open and not (adapter.needs_64_bits and "/lib/" in path)
    ]
    named = variables.get(adapter.variable)
    if usable:
        text = usable[0]
        if PurePosixPath(text).name in public:
            text += ", also for applications"
    elif found:
        path, is_open = next(iter(found.items()))
        problem = (
            "is of 32 bits" if is_open else "may not be read by programs of adb shell"
        )
        text = f"{path} {problem}"
    else:
        text = f"no {named}, which {adapter.variable} names" if named else ""
    folders = "lib64" if adapter.needs_64_bits else "lib64 or lib"
    return Check(
        adapter.accelerator,
        bool(usable),
        text,
        f"{' or '.join(adapter.libraries)} in {folders} of {', '.join(_PARTITIONS)}; "
        f"or {adapter.variable}, the path on the phone",
        _mend(adapter, named),
    )


def _mend(adapter: Adapter, named: Optional[str]) -> str:
    if named:
        return (
            f"set {adapter.variable} to the path on the phone of a library that "
            "programs of adb shell may read, or unset it"
        )
    return adapter.source or (
        f"for runtime: {adapter.runtime}, use a phone whose system has the library, or "
        f"export {adapter.variable}=<its path on the phone>"
    )
