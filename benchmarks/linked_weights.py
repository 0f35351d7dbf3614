# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights as objects: time and memory of writing and linking them, and what a program
has besides.

    python -m benchmarks.linked_weights --megabytes 500

Fails if writing the archive of an ABI takes more than 10 s or 200 MB of memory, or if
the program that it is linked into is larger than the weights by more than 100 KB.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_MEGABYTE = 1_000_000
_MOST_SECONDS = 10.0
_MOST_MEMORY = 200 * _MEGABYTE
_MOST_MORE = 100_000
_TRIPLES = {
    "x86_64": "x86_64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "arm": "arm-linux-gnueabihf",
}
_PROGRAM = """
extern __attribute__((visibility("hidden"))) const unsigned char
    big_weights_data[], big_weights_data_end[];
int main(void) { return big_weights_data[0] != 7 || big_weights_data_end[-1] != 9; }
"""


def _measured(*command: str | Path) -> tuple[float, int]:
    """Runs a command; returns its seconds and its peak memory in bytes."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=_ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]} failed")
    return seconds, usage.ru_maxrss * 1024


def _measure(machine: str, folder: Path, size: int) -> bool:
    archive, program = folder / "weights.a", folder / "program"
    files = (folder / "weights.pb", folder / "weights.data")
    written = _measured(
        *(sys.executable, "mace/python/tools/export/linkable.py"),
        *("--machine", machine, "--prefix", "big", "--out", archive, *files),
    )
    (folder / "main.c").write_text(_PROGRAM)
    linked = _measured(
        *("clang-19", f"--target={_TRIPLES[machine]}", "-fuse-ld=lld"),
        *(folder / "main.c", archive, "-o", program),
    )
    if machine == platform.machine():
        _measured(program)
    more = program.stat().st_size - size
    print(
        f"{machine:8} written in {written[0]:.2f} s with {written[1] / _MEGABYTE:.0f} "
        f"MB of memory, linked in {linked[0]:.2f} s; the program has {more} bytes more "
        "than the weights"
    )
    archive.unlink()
    program.unlink()
    quick = written[0] <= _MOST_SECONDS
    small = written[1] <= _MOST_MEMORY and more <= _MOST_MORE
    return quick and small


def main() -> int:
    """Measures every kind of processor; status 1 if a bound is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=500)
    size = parser.parse_args().megabytes * _MEGABYTE
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "weights.pb").write_bytes(b"graph")
        block = os.urandom(_MEGABYTE)
        with (folder / "weights.data").open("wb") as out:
            for _ in range(size // _MEGABYTE):
                out.write(block)
            out.seek(0)
            out.write(b"\x07")
            out.seek(size - 1)
            out.write(b"\x09")
        good = [_measure(machine, folder, size) for machine in _TRIPLES]
    return 0 if all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main())
