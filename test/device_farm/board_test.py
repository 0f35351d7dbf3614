# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests boards with the OpenSSH client programs and rsync."""

from __future__ import annotations

import hashlib
import random
import subprocess
from pathlib import Path
from typing import Dict

import pytest
import yaml

from test.device_farm.conftest import LIMIT_S, Ssh, run
from test.device_farm.farm import Farm


def _random_file(path: Path, size: int) -> str:
    data = random.Random(size).randbytes(size)
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def test_status_and_both_outputs(nanopi: Ssh) -> None:
    done = nanopi("echo out; echo err >&2; exit 37")
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 37)


def test_what_a_board_is(nanopi: Ssh, raspberry: Ssh) -> None:
    assert nanopi.shell("uname -m; id -un; pwd") == "aarch64\npi\n/home/pi\n"
    assert raspberry.shell("uname -m; hostname") == "armv7l\nraspberry\n"
    boot_id = "cat /proc/sys/kernel/random/boot_id"
    assert nanopi.shell(boot_id) != raspberry.shell(boot_id)
    asked = "dpkg --print-architecture; dpkg --print-foreign-architectures"
    assert nanopi.shell(asked) == "arm64\narmhf\n"
    assert raspberry.shell(asked) == "armhf\n"
    assert "product: Raspberry Pi 3 Model B Plus Rev 1.3" in raspberry.shell("lshw")
    model = "cat /sys/firmware/devicetree/base/model"
    assert nanopi.shell(model) == "FriendlyElec Nanopi M4\n"


def test_devices_yml(farm: Farm, nanopi: Ssh) -> None:
    rows = yaml.safe_load(farm.devices_yml.read_text())["devices"]
    assert list(rows) == ["nanopi", "raspberry", "up_squared"]
    row = rows["nanopi"]
    assert row["target_abis"] == ["arm64", "armhf"]
    assert (row["target_socs"], row["username"]) == ("RK3399", "pi")
    assert f"{row['address']}:{row['port']}" == nanopi.board.address


@pytest.mark.parametrize("bits", [64, 32])
def test_64_bit_board_runs_both(
    nanopi: Ssh, probes: Dict[int, Path], bits: int
) -> None:
    assert nanopi.scp(probes[bits], f"HERE:probe{bits}").returncode == 0
    assert nanopi.shell(f"./probe{bits}") == f"{bits}-bit, 6 processors\n"
    assert nanopi(f"./probe{bits} crash; exit $?").returncode == 128 + 6
    # As with any sshd: a shell that replaced itself with its last program dies of the
    # program's signal, and the client cannot distinguish that from a lost connection.
    assert nanopi(f"./probe{bits} crash").returncode == 255


def test_32_bit_board_refuses_64_bit_programs(
    raspberry: Ssh, probes: Dict[int, Path]
) -> None:
    for bits, probe in probes.items():
        assert raspberry.scp(probe, f"HERE:probe{bits}").returncode == 0
    assert raspberry.shell("./probe32") == "32-bit, 4 processors\n"
    done = raspberry("./probe64")
    assert done.returncode == 126
    assert "Exec format error" in done.stderr


def test_x86_board(up_squared: Ssh, probes: Dict[int, Path], tmp_path: Path) -> None:
    assert up_squared.shell("uname -m; dpkg --print-architecture") == "x86_64\namd64\n"
    assert "N4200" in up_squared.shell("cat /proc/cpuinfo")
    source = Path(__file__).parent / "testdata" / "probe.c"
    for name, flags in (("fixed", ["-static"]), ("dynamic", [])):
        compiler = ["clang-19", "-O1", "-fuse-ld=lld-19", *flags]
        subprocess.run([*compiler, source, "-o", tmp_path / name], check=True)
        assert up_squared.scp(tmp_path / name, f"HERE:{name}").returncode == 0
    assert up_squared.shell("./fixed").startswith("64-bit, ")
    # The device has none of our libraries, like a system with another C library.
    assert up_squared("./dynamic").returncode == 127
    assert up_squared.scp(probes[64], "HERE:arm").returncode == 0
    done = up_squared("./arm")
    assert done.returncode == 126
    assert "Exec format error" in done.stderr


def test_scp_both_ways(raspberry: Ssh, tmp_path: Path) -> None:
    digest = _random_file(tmp_path / "a", 5_000_001)
    assert raspberry.scp(tmp_path / "a", "HERE:a").returncode == 0
    assert raspberry.shell("sha256sum a").split()[0] == digest
    assert raspberry.scp("HERE:a", tmp_path / "b").returncode == 0
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


def test_rsync(farm: Farm, nanopi: Ssh, raspberry: Ssh, tmp_path: Path) -> None:
    digest = _random_file(tmp_path / "a", 10_000_000)
    shell = f"--rsh=ssh -F '{farm.ssh_config}'"
    command = ["rsync", "-a", "--checksum", shell, tmp_path / "a"]
    assert run([*command, "nanopi:sub/"], farm).returncode == 0
    assert nanopi.shell("sha256sum sub/a").split()[0] == digest
    before = nanopi.board.status()["push"]
    assert run([*command, "nanopi:sub/"], farm).returncode == 0
    # The second transfer contains only the protocol, not the file.
    assert nanopi.board.status()["push"] - before < 20_000
    done = run([*command, "raspberry:"], farm)
    assert done.returncode != 0
    assert "rsync: not found" in done.stderr


def test_a_key_that_the_user_adds(farm: Farm, nanopi: Ssh, tmp_path: Path) -> None:
    key = tmp_path / "id"
    subprocess.run(["ssh-keygen", "-q", "-N", "", "-f", key], check=True)
    config = farm.ssh_config.read_text()
    path = tmp_path / "config"
    path.write_text(config.replace(str(farm.folder / "ssh/id_ed25519"), str(key)))
    own = ["ssh", "-F", path, "nanopi", "true"]
    done = run(own, farm)
    assert done.returncode == 255
    assert "Permission denied (publickey)" in done.stderr
    public = key.with_suffix(".pub").read_text().strip()
    nanopi.shell(f"mkdir -p .ssh && echo '{public}' >>~/.ssh/authorized_keys")
    assert run(own, farm).returncode == 0


def test_board_is_not_the_computer(nanopi: Ssh) -> None:
    assert nanopi.shell("ls /work /root /usr/share 2>/dev/null | wc -l") == "0\n"
    assert nanopi("touch /usr/bin/a").returncode == 1
    assert nanopi.shell("cat /proc/1/comm") == "init\n"


def test_two_boards_at_once(farm: Farm, nanopi: Ssh, raspberry: Ssh) -> None:
    running = [
        subprocess.Popen(
            ["ssh", "-F", farm.ssh_config, ssh.board.name, "sleep 0.3; uname -m"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        for ssh in (nanopi, raspberry)
    ]
    said = [one.communicate(timeout=LIMIT_S)[0] for one in running]
    assert said == ["aarch64\n", "armv7l\n"]
