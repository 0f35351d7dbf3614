# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The root folder of a board: a small Debian-like Linux."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import List, Tuple

from test.device_farm.container import Storage
from test.device_farm.profile import Profile
from test.device_farm.root_folder import make_root, write_files, write_program

LOGIN_USER = 1000

_LSHW = """#!/bin/sh
cat <<'TEXT'
{name}
    description: Computer
    product: {model}
    width: {width} bits
TEXT
"""
_DPKG = """#!/bin/sh
case $1 in
  --print-architecture) echo {first} ;;
  --print-foreign-architectures) for one in {others}; do echo $one; done ;;
  *) echo "dpkg: this board knows --print-architecture and" \\
       "--print-foreign-architectures only" >&2; exit 2 ;;
esac
"""
_REFUSAL = """#!/bin/sh
echo "sh: $1: cannot execute binary file: Exec format error" >&2
exit 126
"""
_OS_RELEASE = """PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
ID=debian
"""


def make_linux_root(root: Path, profile: Profile, name: str) -> None:
    """Makes the root folder of a board; `root` must not exist."""
    folders = ("etc", "home/" + profile.user, "tmp", "usr/bin", "usr/lib", "var", "run")
    make_root(root, profile, "bin", folders, _REFUSAL)
    os.symlink("/tmp", root / "var/tmp")
    user = profile.user
    write_files(
        root / "etc",
        {
            "hostname": name,
            "os-release": _OS_RELEASE.rstrip(),
            "passwd": f"root:x:0:0::/root:/bin/sh\n"
            f"{user}:x:{LOGIN_USER}:{LOGIN_USER}::/home/{user}:/bin/sh",
            "group": f"root:x:0:\n{user}:x:{LOGIN_USER}:",
        },
    )
    write_files(
        root / "farm/sys/firmware/devicetree/base",
        {"model": profile.model, "compatible": profile.soc.lower()},
    )
    width = 32 if profile.architecture == "armhf" else 64
    write_program(
        root / "usr/bin/lshw",
        _LSHW.format(name=name, model=profile.model, width=width),
    )
    first, others = profile.abis[0], " ".join(profile.abis[1:])
    write_program(root / "usr/bin/dpkg", _DPKG.format(first=first, others=others))
    if profile.rsync:
        _copy_program("rsync", root)
    # sshd refuses to lock people into a folder that others may write to.
    root.chmod(0o755)


def _libraries(program: str) -> List[str]:
    text = subprocess.run(
        ["ldd", program], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    return re.findall(r"(/\S+) \(0x", text)


def _copy_program(name: str, root: Path) -> None:
    """A program of this computer, with its libraries: it runs without emulator."""
    path = shutil.which(name)
    assert path is not None  # requirements.py has looked
    for source in (path, *_libraries(path)):
        target = root / source.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def linux_storage(profile: Profile) -> Tuple[Storage, ...]:
    """Where a board may write."""
    return (
        Storage(f"/home/{profile.user}", profile.storage_mb, owner=LOGIN_USER),
        Storage("/tmp", max(profile.storage_mb // 4, 16), mode=0o1777),
    )
