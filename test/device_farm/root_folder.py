# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The files of a device's root folder that phones and boards share."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path

from test.device_farm.busybox import find_busybox
from test.device_farm.profile import Profile

_APPLETS = """
ash awk base64 basename cat chmod chown clear cmp cp cut date dd df diff dirname
dmesg du echo env expr false find free grep gzip head hexdump hostname id ifconfig kill
killall ln ls md5sum mkdir mkfifo mktemp more mount mv nc nproc od
pidof printf ps pwd readlink realpath rm rmdir sed seq setsid sh sha1sum sha256sum
sha512sum sleep sort stat stty sync tail tar taskset tee test time timeout top
touch tr true truncate tty uname uniq uptime usleep vi watch wc which whoami xargs yes
"""
# Commands of toybox and procps that Debian's busybox lacks.
_PGREP = r"""#!SHELL
field=comm signal=TERM exact=
while [ $# -gt 1 ]; do
  case $1 in
    -f) field=cmdline ;;
    -x) exact='^(' ;;
    -[0-9A-Z]*) signal=${1#-} ;;
    *) echo "${0##*/}: unknown flag $1" >&2; exit 2 ;;
  esac
  shift
done
[ $# = 1 ] || { echo "usage: ${0##*/} [-f] [-x] [-SIGNAL] PATTERN" >&2; exit 2; }
[ -z "$exact" ] || set -- "$exact$1)\$"
found=1
for folder in /proc/[0-9]*; do
  pid=${folder#/proc/}
  [ "$pid" != $$ ] || continue
  # The children of this script appear and disappear meanwhile.
  text=$(tr '\0' ' ' <"$folder/$field" 2>/dev/null)
  case $text in *"${0##*/}"*) continue ;; esac
  printf '%s' "${text% }" | grep -Eq -- "$1" || continue
  found=0
  case $0 in
    *pkill) kill "-$signal" "$pid" ;;
    *) echo "$pid" ;;
  esac
done
exit $found
"""
# The second name of the applet test.
_BRACKET = "["


def make_root(
    root: Path, profile: Profile, tools: str, folders: Iterable[str], refusal: str
) -> None:
    """Makes an empty root folder with tools.

    Args:
        root: a folder that does not exist.
        profile: of the device.
        tools: folder of busybox, below the root.
        folders: to make besides.
        refusal: script that is run, with its path, in the place of a program that
            the device cannot execute.
    """
    triples = ("aarch64-linux-gnu", "arm-linux-gnueabihf")
    libraries = [f"lib/{triple}" for triple in triples]
    for name in (tools, "dev", "proc", "sys", "farm", *libraries, *folders):
        (root / name).mkdir(parents=True, exist_ok=True)
    busybox = find_busybox(profile.architecture)
    # Its shell prefers busybox's own commands to programs of the same name, but boards
    # need our dpkg. The new name keeps the table sorted.
    data = busybox.read_bytes().replace(b"\0dpkg\0", b"\0dpkf\0")
    (root / tools / "busybox").write_bytes(data)
    (root / tools / "busybox").chmod(0o755)
    for applet in (*_APPLETS.split(), _BRACKET):
        os.symlink("busybox", root / tools / applet)
    for triple, loader in zip(
        triples, ("ld-linux-aarch64.so.1", "ld-linux-armhf.so.3")
    ):
        os.symlink(f"{triple}/{loader}", root / "lib" / loader)
    write_program(root / tools / "pgrep", _PGREP.replace("SHELL", f"/{tools}/sh"))
    os.symlink("pgrep", root / tools / "pkill")
    write_program(root / "farm" / "not_executable", refusal)
    _write_system_files(root / "farm", profile)


def write_program(path: Path, text: str) -> None:
    """Writes an executable script."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def write_files(base: Path, files: Mapping[str, object]) -> None:
    """Writes one-line files, with their folders."""
    for name, value in files.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n", encoding="utf-8")


def _write_system_files(folder: Path, profile: Profile) -> None:
    cores = profile.cores
    (folder / "cpuinfo").write_text(_cpuinfo(profile), encoding="ascii")
    # Each device has its own boot id, also those of other farms.
    (folder / "boot_id").write_text(f"{uuid.uuid4()}\n", encoding="ascii")
    total = profile.memory_mb * 1024
    (folder / "meminfo").write_text(
        f"MemTotal:       {total:8d} kB\n"
        f"MemFree:        {total // 5:8d} kB\n"
        f"MemAvailable:   {total // 2:8d} kB\n"
        f"Buffers:        {total // 40:8d} kB\n"
        f"Cached:         {total // 3:8d} kB\n"
        "SwapTotal:             0 kB\nSwapFree:              0 kB\n",
        encoding="ascii",
    )
    system = folder / "sys/devices/system/cpu"
    listed = f"0-{len(cores) - 1}"
    write_files(system, dict.fromkeys(("possible", "present", "online"), listed))
    first = 0
    for cluster in profile.clusters:
        numbers = range(first, first + cluster.cores)
        first += cluster.cores
        for number in numbers:
            related = " ".join(map(str, numbers))
            write_files(
                system / f"cpu{number}",
                {
                    "cpu_capacity": cluster.capacity,
                    "topology/core_id": number,
                    "topology/physical_package_id": 0,
                    "cpufreq/cpuinfo_min_freq": cluster.min_khz,
                    "cpufreq/cpuinfo_max_freq": cluster.max_khz,
                    "cpufreq/scaling_min_freq": cluster.min_khz,
                    "cpufreq/scaling_max_freq": cluster.max_khz,
                    "cpufreq/scaling_cur_freq": cluster.min_khz,
                    "cpufreq/scaling_governor": "schedutil",
                    "cpufreq/related_cpus": related,
                    "cpufreq/affected_cpus": related,
                },
            )
    write_files(
        folder / "sys/class/thermal/thermal_zone0", {"type": "cpu-0", "temp": 38500}
    )


def _cpuinfo(profile: Profile) -> str:
    if profile.architecture == "amd64":
        return "".join(
            f"processor\t: {number}\nvendor_id\t: GenuineIntel\n"
            f"model name\t: {cluster.name}\n\n"
            for number, cluster in enumerate(profile.cores)
        )
    features = "half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt lpae"
    if profile.is_64_bit:
        features = "fp asimd evtstrm aes pmull sha1 sha2 crc32"
    lines = []
    for number, cluster in enumerate(profile.cores):
        lines.append(
            f"processor\t: {number}\nBogoMIPS\t: 38.40\nFeatures\t: {features}\n"
            f"CPU implementer\t: {cluster.implementer:#04x}\n"
            f"CPU architecture: 8\nCPU variant\t: 0x0\n"
            f"CPU part\t: {cluster.part:#05x}\nCPU revision\t: 4\n\n"
        )
    return "".join(lines) + f"Hardware\t: {profile.soc}\n"
