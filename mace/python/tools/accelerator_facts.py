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

from mace.python.tools.dsp_facts import PHONE_WORK_DIR, Check

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
