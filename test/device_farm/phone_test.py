# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests phones with the unmodified adb client."""

from __future__ import annotations

import hashlib
import os
import random
import socket
import subprocess
import time
from pathlib import Path
from typing import Dict

import pytest

from test.device_farm.conftest import LIMIT_S, Adb, run
from test.device_farm.farm import Farm

WORK = "/data/local/tmp"


def _random_file(path: Path, size: int) -> str:
    data = random.Random(size).randbytes(size)
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def test_devices_are_listed_with_what_they_are(
    farm: Farm, mi6: Adb, redmi: Adb
) -> None:
    lines = run(["adb", "devices", "-l"], farm).stdout.splitlines()
    found = {line.split()[0]: line.split()[1:] for line in lines if ":" in line}
    assert found[mi6.phone.address][:2] == ["device", "product:sagit"]
    assert "model:MI_6" in found[mi6.phone.address]
    assert "model:Redmi_Go" in found[redmi.phone.address]


def test_properties(mi6: Adb, redmi: Adb) -> None:
    assert mi6.shell("getprop ro.board.platform") == "msm8998\n"
    assert "[ro.board.platform]: [msm8998]" in mi6.shell("getprop | grep platform")
    abis = mi6.shell("getprop ro.product.cpu.abilist").strip()
    assert abis == "arm64-v8a,armeabi-v7a,armeabi"
    abis = redmi.shell("getprop ro.product.cpu.abilist").strip()
    assert abis == "armeabi-v7a,armeabi"
    assert redmi.shell("getprop no.such 'a default'") == "a default\n"
    assert redmi.shell("getprop no.such") == "\n"
    redmi.shell("setprop debug.mace 1")
    assert redmi.shell("getprop debug.mace") == "1\n"


def test_machine(mi6: Adb, redmi: Adb) -> None:
    assert mi6.shell("uname -m") == "aarch64\n"
    assert redmi.shell("uname -m") == "armv7l\n"
    fastest = "cat /sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_max_freq"
    clocks = list(map(int, mi6.shell(fastest).split()))
    assert clocks == [1900800] * 4 + [2457600] * 4
    assert mi6.shell("cat /sys/devices/system/cpu/possible") == "0-7\n"
    assert "MemTotal:         940032 kB" in redmi.shell("cat /proc/meminfo")
    parts = redmi.shell("grep 'CPU part' /proc/cpuinfo").split("\n")
    assert parts == ["CPU part\t: 0xd03"] * 4 + [""]


def test_status_and_both_outputs(mi6: Adb) -> None:
    done = mi6("shell", "echo out; echo err >&2; exit 37")
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 37)
    assert mi6("shell", "no_such_program").returncode == 127


def test_old_phone(nexus5: Adb, tmp_path: Path) -> None:
    """Before Android 7, a shell always has a terminal and does not return its
    status.
    """
    assert nexus5("features").stdout == ""
    done = nexus5("shell", "echo out; echo err >&2; [ -t 1 ]; echo $?; exit 37")
    assert (done.stdout, done.stderr) == ("out\nerr\n0\n", "")
    assert done.returncode == 0
    binary = ["adb", "-s", nexus5.phone.address, "shell", "printf 'a\nb'"]
    raw = subprocess.run(
        binary,
        env=nexus5.farm.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_S,
        check=True,
    )
    assert raw.stdout == b"a\r\nb"
    digest = _random_file(tmp_path / "a", 1_000_001)
    assert nexus5("push", tmp_path / "a", f"{WORK}/new/a").returncode == 0
    assert nexus5.shell(f"sha256sum {WORK}/new/a").split()[0] == digest
    assert nexus5("pull", f"{WORK}/new/a", tmp_path / "b").returncode == 0
    assert hashlib.sha256((tmp_path / "b").read_bytes()).hexdigest() == digest


def test_input_reaches_a_program(farm: Farm, mi6: Adb) -> None:
    data = random.Random(7).randbytes(300_000)
    done = subprocess.run(
        ["adb", "-s", mi6.phone.address, "shell", "sha256sum"],
        env=farm.env,
        input=data,
        capture_output=True,
        timeout=LIMIT_S,
        check=True,
    )
    assert done.stdout.split()[0].decode() == hashlib.sha256(data).hexdigest()


def test_exec_out_is_binary(farm: Farm, mi6: Adb) -> None:
    done = subprocess.run(
        [
            "adb",
            "-s",
            mi6.phone.address,
            "exec-out",
            r"printf '\r\n\0\377'; echo x >&2",
        ],
        env=farm.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_S,
        check=True,
    )
    assert done.stdout == b"\r\n\0\xff"


def test_terminal(mi6: Adb) -> None:
    assert mi6("shell", "-tt", "[ -t 0 ] && [ -t 1 ] && echo yes").stdout == "yes\n"
    assert mi6("shell", "-T", "[ -t 0 ] || echo no").stdout == "no\n"


@pytest.mark.parametrize("bits", [64, 32])
def test_64_bit_phone_runs_both(mi6: Adb, probes: Dict[int, Path], bits: int) -> None:
    target = f"{WORK}/probe{bits}"
    assert mi6("push", probes[bits], target).returncode == 0
    assert mi6.shell(target) == f"{bits}-bit, 8 processors\n"
    done = mi6("shell", f"{target} crash")
    assert done.returncode == 128 + 6
    assert "SIGABRT" in mi6("logcat", "-d").stdout
    assert mi6.shell(f"ls {WORK} | grep -c core || true") == "0\n"


def test_32_bit_phone_refuses_64_bit_programs(
    redmi: Adb, probes: Dict[int, Path]
) -> None:
    for probe in probes.values():
        assert redmi("push", probe, f"{WORK}/").returncode == 0
    assert redmi.shell(f"{WORK}/probe32") == "32-bit, 4 processors\n"
    done = redmi("shell", f"{WORK}/probe64")
    assert done.returncode == 126
    assert done.stderr.strip().endswith("probe64: not executable: 64-bit ELF file")


def test_push_and_pull(mi6: Adb, tmp_path: Path) -> None:
    digest = _random_file(tmp_path / "a", 20_000_001)
    (tmp_path / "a").chmod(0o640)
    os.utime(tmp_path / "a", (1_500_000_000, 1_500_000_000))
    assert mi6("push", tmp_path / "a", f"{WORK}/new/folder/a").returncode == 0
    assert mi6.shell(f"sha256sum {WORK}/new/folder/a").split()[0] == digest
    # All is root's on a phone that root does not run.
    owner = "shell" if os.geteuid() == 0 else "root"
    assert mi6.shell(f"stat -c '%a %Y %U' {WORK}/new/folder/a") == (
        f"640 1500000000 {owner}\n"
    )
    assert mi6("pull", "-a", f"{WORK}/new/folder/a", tmp_path / "b").returncode == 0
    assert hashlib.sha256((tmp_path / "b").read_bytes()).hexdigest() == digest
    assert int((tmp_path / "b").stat().st_mtime) == 1_500_000_000


def test_folders_and_links(mi6: Adb, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "sub").mkdir(parents=True)
    (source / "sub" / "ä b").write_text("one")
    (source / "empty").touch()
    assert mi6("push", source, f"{WORK}/tree").returncode == 0
    assert mi6.shell(f"cat '{WORK}/tree/sub/ä b'") == "one"
    mi6.shell(f"ln -s sub/'ä b' {WORK}/tree/link; ln -s {WORK} /data/local/tmp/tmp")
    assert mi6("pull", f"{WORK}/tmp/tree/link", tmp_path / "file").returncode == 0
    assert (tmp_path / "file").read_text() == "one"
    assert mi6("pull", f"{WORK}/tree/sub", tmp_path / "back").returncode == 0
    assert (tmp_path / "back" / "ä b").read_text() == "one"
    assert "empty" in mi6("ls", f"{WORK}/tree").stdout
    mi6.shell(f"ln -s circle {WORK}/circle")
    done = mi6("pull", f"{WORK}/circle", tmp_path / "no")
    assert done.returncode == 1
    # A link of the phone never leads out of it.
    mi6.shell(f"ln -s /etc/hostname {WORK}/outside")
    assert mi6("pull", f"{WORK}/outside", tmp_path / "no").returncode == 1


@pytest.mark.parametrize(
    ("target", "reason"),
    [("/system/a", "Read-only file system"), ("/data/a", "Permission denied")],
)
def test_push_is_refused(mi6: Adb, tmp_path: Path, target: str, reason: str) -> None:
    if target == "/data/a" and os.geteuid() != 0:
        pytest.skip("all is root's on a phone that root does not run")
    (tmp_path / "a").write_text("a")
    done = mi6("push", tmp_path / "a", target)
    assert done.returncode == 1
    assert reason in done.stdout + done.stderr
    assert mi6("pull", "/data/local/tmp/none", tmp_path / "b").returncode == 1


def test_push_sync_skips_what_is_there(mi6: Adb, tmp_path: Path) -> None:
    _random_file(tmp_path / "a", 1_000_000)
    assert mi6("push", "--sync", tmp_path / "a", f"{WORK}/sync").returncode == 0
    before = mi6.phone.status()["push"]
    done = mi6("push", "--sync", tmp_path / "a", f"{WORK}/sync")
    assert "0 files pushed, 1 skipped" in done.stdout + done.stderr
    assert mi6.phone.status()["push"] == before


def test_same_port_on_two_phones(farm: Farm, mi6: Adb, redmi: Adb) -> None:
    serving = []
    for adb in (mi6, redmi):
        serving.append(
            subprocess.Popen(
                [
                    *("adb", "-s", adb.phone.address, "shell"),
                    "uname -m | nc -l -p 6000 127.0.0.1",
                ],
                env=farm.env,
                stdin=subprocess.DEVNULL,
            )
        )
    try:
        for adb, machine in ((mi6, b"aarch64\n"), (redmi, b"armv7l\n")):
            port = int(adb("forward", "tcp:0", "tcp:6000").stdout)
            assert _read_from(port) == machine
            assert adb("forward", "--remove", f"tcp:{port}").returncode == 0
    finally:
        for one in serving:
            one.kill()
            one.wait()


def _read_from(port: int) -> bytes:
    """The data that a port of a phone sends, once a program listens there."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        with socket.create_connection(("127.0.0.1", port), LIMIT_S) as one:
            data = one.recv(100)
        if data:
            return data
        time.sleep(0.1)
    return b""


def test_log(mi6: Adb) -> None:
    mi6.shell("log -t mace -p W hello there")
    assert "W mace: hello there" in mi6("logcat", "-d").stdout
    assert mi6("logcat", "-c").returncode == 0
    assert "hello" not in mi6("logcat", "-d").stdout


def test_memory_of_a_process(farm: Farm, mi6: Adb, probes: Dict[int, Path]) -> None:
    mi6("push", probes[64], f"{WORK}/mace_run")
    with subprocess.Popen(
        ["adb", "-s", mi6.phone.address, "shell", f"{WORK}/mace_run hold 50 60"],
        env=farm.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as held:
        assert held.stdout is not None
        assert held.stdout.readline() == b"held 1\n"
        line = mi6.shell("dumpsys meminfo | grep mace_run")
        one = mi6.shell("dumpsys meminfo mace_run")
        mi6.shell("pkill mace_run")
    kib = int(line.split("K:")[0].replace(",", ""))
    # The emulator holds some, too.
    assert 50 * 1024 <= kib < 150 * 1024
    assert "(pid " in line
    assert "[mace_run] **" in one


def test_root(mi6: Adb, pixel: Adb) -> None:
    assert "production builds" in mi6("root").stdout
    if os.geteuid() == 0:
        assert pixel.shell("id -u") == "2000\n"
    assert "restarting adbd as root" in pixel("root").stdout
    pixel.connect()
    assert pixel.shell("id -u") == "0\n"
    assert "remount succeeded" in pixel("remount").stdout
    assert pixel.shell("echo a >/vendor/lib/a && cat /vendor/lib/a") == "a\n"
    assert "already running as root" in pixel("root").stdout
    assert "restarting adbd as non root" in pixel("unroot").stdout


def test_reboot_ends_programs_and_keeps_files(farm: Farm, pixel: Adb) -> None:
    pixel.shell(f"echo kept >{WORK}/kept; sleep 99 >/dev/null 2>&1 &")
    assert "sleep" in pixel.shell("ps")
    assert pixel("reboot").returncode == 0
    pixel.connect()
    assert "sleep 99" not in pixel.shell("ps")
    assert pixel.shell(f"cat {WORK}/kept") == "kept\n"


def test_program_goes_on_when_the_client_is_killed(farm: Farm, mi6: Adb) -> None:
    # As on a phone: the client must end the programs that it started.
    with subprocess.Popen(
        ["adb", "-s", mi6.phone.address, "shell", "sleep 77 & echo on; wait"],
        env=farm.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == b"on\n"
        client.kill()
    assert "sleep 77" in mi6.shell("ps")
    mi6.shell("pkill -f 'sleep 77'")


def test_two_phones_at_once(farm: Farm, mi6: Adb, redmi: Adb, tmp_path: Path) -> None:
    digest = _random_file(tmp_path / "big", 30_000_000)
    running = [
        subprocess.Popen(
            [
                *("sh", "-c", f"adb -s $0 push $1 {WORK} && adb -s $0 shell $2"),
                *(adb.phone.address, tmp_path / "big", f"sha256sum {WORK}/big"),
            ],
            env=farm.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        for adb in (mi6, redmi)
    ]
    for one in running:
        out, _ = one.communicate(timeout=LIMIT_S)
        assert one.returncode == 0
        assert digest in out
