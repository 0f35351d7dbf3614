# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The adb services that run programs: shell (both versions), exec, forwarding."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, List, Optional

from test.device_farm.adb_connection import Stream, StreamClosedError

_STDIN, _STDOUT, _STDERR, _EXIT, _CLOSE_STDIN, _WINDOW = range(6)
_BLOCK = 65536


def children(pid: int) -> List[int]:
    """The processes that a process started."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(one) for one in text.split()]


class ShellSession:
    """One program and the stream that talks to it.

    Args:
        stream: to the host.
        packets: whether they speak version 2: kinds of data and an exit status.
        terminal: the program gets a terminal.
        merge: standard error goes where standard output goes; else, without
            packets, it is lost.
    """

    def __init__(
        self, stream: Stream, packets: bool, terminal: bool = False, merge: bool = True
    ) -> None:
        self._stream = stream
        self._packets = packets
        self._terminal = terminal
        self._merge = merge
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._input: Optional[IO[bytes]] = None

    def serve(self, command: Sequence[str], env: Mapping[str, str]) -> int:
        """Runs the program to its end; returns its status as a shell does."""
        outputs = self._start(command, env)
        self._stream.on_close = self._hang_up
        threading.Thread(target=self._feed, daemon=True).start()
        pumps = [
            threading.Thread(target=self._pump, args=pair, daemon=True)
            for pair in outputs
        ]
        for pump in pumps:
            pump.start()
        for pump in pumps:
            pump.join()
        assert self._process is not None
        status = self._process.wait()
        # nsenter dies of the same signal as its program.
        status = status if status >= 0 else 128 - status
        if self._packets:
            self._stream.send(struct.pack("<BIB", _EXIT, 1, status & 0xFF))
        return status

    def _start(
        self, command: Sequence[str], env: Mapping[str, str]
    ) -> List[tuple[IO[bytes], int]]:
        if self._terminal:
            ours, theirs = pty.openpty()
            self._process = subprocess.Popen(
                command,
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                env={**env, "TERM": "xterm-256color"},
                start_new_session=True,
            )
            os.close(theirs)
            self._input = os.fdopen(ours, "wb", buffering=0)
            return [(os.fdopen(os.dup(ours), "rb", buffering=0), _STDOUT)]
        error = subprocess.STDOUT if self._merge else subprocess.DEVNULL
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if self._packets else error,
            env=dict(env),
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input = self._process.stdin
        outputs = [(self._process.stdout, _STDOUT)]
        if self._process.stderr is not None:
            outputs.append((self._process.stderr, _STDERR))
        return outputs

    def _hang_up(self) -> None:
        """Behaves like adbd when the host is gone: only the shell is notified. A
        program that the shell started continues, as on a phone.
        """
        assert self._process is not None
        for pid in children(self._process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGHUP)

    def _feed(self) -> None:
        assert self._input is not None
        try:
            while True:
                if not self._packets:
                    self._write(self._stream.chunk())
                    continue
                kind, size = struct.unpack("<BI", self._stream.exactly(5))
                data = self._stream.exactly(size) if size else b""
                if kind == _STDIN:
                    self._write(data)
                elif kind == _CLOSE_STDIN:
                    self._input.close()
                elif kind == _WINDOW and self._terminal:
                    self._resize(data)
        except (StreamClosedError, OSError, ValueError):
            with contextlib.suppress(OSError):
                self._input.close()

    def _write(self, data: bytes | bytearray) -> None:
        assert self._input is not None
        # Data after the end of the input, or for a program that ended, is lost.
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._input.write(data)
            self._input.flush()

    def _resize(self, data: bytes) -> None:
        assert self._input is not None
        rows, _, rest = data.rstrip(b"\0").partition(b"x")
        columns = rest.partition(b",")[0]
        size = struct.pack("4H", int(rows), int(columns), 0, 0)
        fcntl.ioctl(self._input.fileno(), termios.TIOCSWINSZ, size)

    def _pump(self, source: IO[bytes], kind: int) -> None:
        with source:
            with contextlib.suppress(OSError, StreamClosedError):
                while True:
                    data = os.read(source.fileno(), _BLOCK)
                    if not data:
                        return
                    if self._packets:
                        data = struct.pack("<BI", kind, len(data)) + data
                    self._stream.send(data)
