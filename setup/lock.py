# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pins the Python packages of images and releases, each with its checksum.

    python setup/lock.py            asks pip and writes setup/locked.txt
    python setup/lock.py --check    whether this environment has these packages

The requirement lists have lower bounds, so that MACE works beside other packages.
What a release or image is made with must not depend on the day: `setup.sh --locked`
installs exactly what locked.txt says, whose files have these checksums. It is for
Python 3.11 on x86_64, which the images have; run this script there.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Mapping

_SETUP = Path(__file__).resolve().parent
LOCKED = _SETUP / "locked.txt"
# Those of the tasks `validate` and `wheel`: the image's and a release's.
LISTS = ("convert", "validate", "wheel")
_FILES = ("requirements.txt", "optionals.txt", "pip.txt")
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+) --hash=sha256:([0-9a-f]{64})$")
_HEAD = """\
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# What `setup.sh --locked` installs of the lists {lists}.
# Written by setup/lock.py.

"""


def packages() -> List[str]:
    """The lines of LISTS."""
    text = "".join((_SETUP / name).read_text(encoding="utf-8") for name in _FILES)
    sections = re.split(r"^# \[(.+)\]$", text, flags=re.MULTILINE)
    found = dict(zip(sections[1::2], sections[2::2]))
    return [line for name in LISTS for line in found[name].splitlines()]


def lines_of(report: Mapping[str, Any]) -> List[str]:
    """A line for each package of pip's report on an installation."""
    lines = []
    for item in report["install"]:
        name = re.sub(r"[-_.]+", "-", item["metadata"]["name"]).lower()
        checksum = item["download_info"]["archive_info"]["hashes"]["sha256"]
        lines.append(f"{name}=={item['metadata']['version']} --hash=sha256:{checksum}")
    return sorted(lines)


def pinned(text: str) -> Dict[str, str]:
    """The versions in the text of locked.txt, by name."""
    found = (_PINNED.match(line) for line in text.splitlines())
    return {match[1]: match[2] for match in found if match}


def differences(wanted: Mapping[str, str]) -> List[str]:
    """What this environment has instead of these versions."""
    lines = []
    for name, version in wanted.items():
        try:
            here = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            here = "missing"
        if here != version:
            lines.append(f"{name} is {here}, not {version}")
    return lines


def _report() -> Mapping[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet"]
        command += ["--ignore-installed", "--only-binary", ":all:"]
        command += ["--disable-pip-version-check", "--report", str(target)]
        wanted = Path(folder) / "requirements.txt"
        wanted.write_text("\n".join(packages()), encoding="utf-8")
        subprocess.run([*command, "-r", str(wanted)], check=True)
        found: Mapping[str, Any] = json.loads(target.read_text(encoding="utf-8"))
        return found


def main(arguments: List[str]) -> int:
    """Writes locked.txt, or compares it with this environment."""
    if arguments == ["--check"]:
        wrong = differences(pinned(LOCKED.read_text(encoding="utf-8")))
        for line in wrong:
            sys.stderr.write(f"lock.py: {line}\n")
        if wrong:
            sys.stderr.write(
                "lock.py: this environment is not that of a release: "
                "run 'bash tools/setup.sh --for validate,wheel --locked'\n"
            )
        return 1 if wrong else 0
    if arguments:
        sys.stderr.write(
            f"lock.py: unknown argument {arguments[0]!r}; known: --check\n"
        )
        return 2
    text = "".join(f"{line}\n" for line in lines_of(_report()))
    head = _HEAD.format(lists=", ".join(LISTS))
    LOCKED.write_text(head + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
