# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a device has of a DSP: read by one shell script, and judged here.

Only the standard library: the doctor uses it, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Tuple

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
