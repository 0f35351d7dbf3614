# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Creates the namespaces of one device and stays as their first process.

A program, not a module: it imports the standard library only, so that it starts
fast. The process that started it reads its standard output, line by line:

    unshared     with mapping "all": write uid_map and gid_map of this process;
                 then write the shell script that prepares the device to its
                 standard input, and close it
    up PID       the device is ready; PID is its first process, seen from outside
    failed TEXT  it is not, and this process ends

It never outlives its parent, and nothing in the device outlives it: the kernel
kills all processes of a pid namespace with the first one, and the mounts go when
no process is left to see them.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys

_NEWNS, _NEWUTS, _NEWIPC = 0x20000, 0x4000000, 0x8000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)


def _die_with(parent: int) -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The pid of a parent outside of our pid namespace is 0.
    if os.getppid() not in (parent, 0):
        os._exit(1)


def _say(text: str) -> None:
    os.write(1, (text.replace("\n", "; ") + "\n").encode())


def _unshare() -> None:
    flags = _NEWUSER | _NEWNS | _NEWPID | _NEWUTS | _NEWIPC | _NEWNET
    if _libc.unshare(flags):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _map_one(uid: int, gid: int) -> None:
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"0 {uid} 1"),
        ("gid_map", f"0 {gid} 1"),
    ):
        # Without a codec: it could be in a file that we may no longer read.
        with open(f"/proc/self/{name}", "wb", buffering=0) as stream:
            stream.write(text.encode())


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        request = struct.pack("16sh14x", b"lo", _IFF_UP)
        fcntl.ioctl(one.fileno(), _SIOCSIFFLAGS, request)


def _first_process(name: str, script: str, report: int) -> None:
    _die_with(0)
    _libc.prctl(_PR_SET_NAME, b"init", 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    try:
        socket.sethostname(name)
        _loopback_up()
        done = subprocess.run(
            ["sh", "-e", "-c", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        text = done.stderr.decode(errors="replace").strip()
        if done.returncode:
            os.write(report, (text or f"status {done.returncode}").encode())
            os._exit(1)
    except OSError as error:
        os.write(report, str(error).encode())
        os._exit(1)
    os.close(report)
    # The reader of our standard output must see its end when the parent ends.
    null = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
    while True:
        signal.sigwait({signal.SIGCHLD})
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def main() -> int:
    """Arguments: pid of the parent, all|one (users), name of the device, its root.

    The last one is for people who list processes.
    """
    parent, mapping, name, _ = sys.argv[1:]
    _die_with(int(parent))
    uid, gid = os.getuid(), os.getgid()
    try:
        _unshare()
        # The kernel drops this setting when the privileges of a process change.
        _die_with(int(parent))
        if mapping == "one":
            _map_one(uid, gid)
        _say("unshared")
        script = sys.stdin.read()
    except OSError as error:
        _say(f"failed unshare: {error}")
        return 1
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _first_process(name, script, write_end)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as stream:
        trouble = stream.read().decode(errors="replace")
    _say(f"failed {trouble}" if trouble else f"up {child}")
    os.waitpid(child, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
