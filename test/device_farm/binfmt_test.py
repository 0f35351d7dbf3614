# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Devices whose programs the computer's own binfmt_misc starts, as before Linux 6.7.

A user namespace with a binfmt_misc of its own stands for the computer: to all
that runs in it, it is the global one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from test.device_farm import binfmt, busybox
from test.device_farm.binfmt import ARM32, ARM64
from test.device_farm.errors import FarmError
from test.device_farm.farm import Farm

ROOT = Path(__file__).resolve().parents[2]
PORT = 36555

# $1: shell commands to run as root of a new user and mount namespace.
OTHER_COMPUTER = """
import ctypes, os, sys
inside, told = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000 | 0x20000):
        os._exit(99)
    os.write(inside[1], b"x")
    os.read(told[0], 1)
    os.execvp("sh", ["sh", "-e", "-c", sys.argv[1]])
os.read(inside[0], 1)
for name in ("uid_map", "gid_map"):
    with open(f"/proc/{child}/{name}", "w") as stream:
        stream.write("0 0 65536")
os.write(told[1], b"x")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

FARM = f"""
import subprocess, sys
from pathlib import Path
from test.device_farm.farm import Farm

with Farm(Path(sys.argv[1]), ["mi6"], ["nanopi"], {PORT}, {PORT + 500}) as farm:
    phone, config = farm.phones[0].address, str(farm.ssh_config)
    ask = "uname -m; getconf LONG_BIT 2>/dev/null; exit 3"
    for words in (
        ["adb", "connect", phone],
        ["adb", "-s", phone, "push", "/etc/hostname", "/data/local/tmp/a"],
        ["adb", "-s", phone, "shell", ask],
        ["ssh", "-F", config, "nanopi", ask],
    ):
        done = subprocess.run(words, env=farm.env, stdin=subprocess.DEVNULL)
        print(words[0], done.returncode, flush=True)
"""


def _in_another_computer(
    folder: Path, machines: tuple[binfmt.Machine, ...], choice: str
) -> subprocess.CompletedProcess[str]:
    lines = [
        "mount --make-rprivate /",
        "mount -t binfmt_misc other /proc/sys/fs/binfmt_misc",
    ]
    for machine in machines:
        rule = binfmt.rule(machine, f"/usr/bin/{machine.emulator}", "PF")
        lines.append(f"printf %s '{rule}' >/proc/sys/fs/binfmt_misc/register")
    lines.append(f'exec "{sys.executable}" -c "$FARM" "{folder}/farm"')
    return subprocess.run(
        [sys.executable, "-c", OTHER_COMPUTER, "\n".join(lines)],
        cwd=ROOT,
        env={**os.environ, "FARM": FARM, binfmt.VARIABLE: choice},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture
def another_computer() -> None:
    """Skips where there cannot be one."""
    if os.geteuid() != 0:
        pytest.skip("writes the map of many users: needs root")
    major, minor = (int(word) for word in os.uname().release.split(".")[:2])
    if (major, minor) < (6, 7):
        pytest.skip("a namespace has no binfmt_misc of its own before Linux 6.7")
    for abi in ("arm64", "armhf"):
        busybox.find_busybox(abi)


@pytest.mark.usefixtures("another_computer")
def test_devices_by_the_computers_own(tmp_path: Path) -> None:
    done = _in_another_computer(tmp_path, (ARM64, ARM32), "computer")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("aarch64") == 2, done.stdout
    assert "adb 3" in done.stdout
    assert "ssh 3" in done.stdout


@pytest.mark.usefixtures("another_computer")
def test_a_computer_that_starts_only_some_of_them(tmp_path: Path) -> None:
    done = _in_another_computer(tmp_path, (ARM64,), "computer")
    assert done.returncode != 0
    assert "does not start programs for arm anywhere" in done.stdout
    assert "apt-get install qemu-user-static binfmt-support" in done.stdout
    assert not (tmp_path / "farm").exists()


def test_an_unknown_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(binfmt.VARIABLE, "theirs")
    with pytest.raises(FarmError, match="is 'theirs'; accepted: own, computer"):
        Farm(tmp_path / "farm", ["mi6"], adb_port=PORT).start()


def test_rules_of_the_computer_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binfmt, "_FOLDER", str(tmp_path))
    assert binfmt.not_started((ARM64, ARM32)) == ["aarch64", "arm"]
    good = "enabled\ninterpreter /usr/bin/qemu\nflags: OCPF\noffset 0\n"
    (tmp_path / "qemu-aarch64").write_text(good)
    (tmp_path / "qemu-arm").write_text(good.replace("enabled", "disabled"))
    assert binfmt.not_started((ARM64, ARM32)) == ["arm"]
    # The emulator would be looked for below the device's root.
    (tmp_path / "qemu-arm").write_text(good.replace("OCPF", "OC"))
    assert binfmt.not_started((ARM64, ARM32)) == ["arm"]
    assert binfmt.not_started((ARM64,)) == []
