# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The adb service that moves files: stat, list, send and receive.

Requests are four letters, a length and a path; see SYNC.TXT of the adb sources.
"""

from __future__ import annotations

import os
import stat
import struct
from typing import Callable, Optional, Tuple

from test.device_farm.adb_connection import Stream
from test.device_farm.faults import Faults

_BLOCK = 65536
# The longest path for adb.
_MAX_PATH = 1024


class SyncService:
    """Serves one stream until the host says QUIT.

    Args:
        find: where this computer keeps a file of the device, given its path and
            whether to follow a link at its end.
        owner: of new files; None: whoever we are.
    """

    def __init__(
        self,
        stream: Stream,
        find: Callable[[str, bool], str],
        faults: Faults,
        owner: Optional[int],
    ) -> None:
        self._stream = stream
        self._find = find
        self._faults = faults
        self._owner = owner
        self._requests = {
            b"STAT": self._stat,
            b"STA2": lambda path: self._stat2(b"STA2", path, True),
            b"LST2": lambda path: self._stat2(b"LST2", path, False),
            b"LIST": self._list,
            b"SEND": self._send,
            b"RECV": self._receive,
        }

    def serve(self) -> None:
        """Answers requests; raises StreamClosedError when the host is gone."""
        while True:
            name, size = struct.unpack("<4sI", self._stream.exactly(8))
            if name == b"QUIT":
                return
            request = self._requests.get(name)
            if request is None or size > _MAX_PATH:
                self._fail(f"bad request {name!r} of {size} bytes")
                return
            path = self._stream.exactly(size).decode(errors="surrogateescape")
            try:
                request(path)
            except OSError as error:
                self._fail(error.strerror or str(error))

    def _fail(self, text: str) -> None:
        data = text.encode()
        self._stream.send(struct.pack("<4sI", b"FAIL", len(data)) + data)

    def _stat(self, path: str) -> None:
        mode = size = when = 0
        try:
            found = os.lstat(self._find(path, False))
            mode, size, when = found.st_mode, found.st_size, int(found.st_mtime)
        except OSError:
            pass
        answer = struct.pack("<4sIII", b"STAT", mode, size & 0xFFFFFFFF, when)
        self._stream.send(answer)

    def _stat2(self, name: bytes, path: str, follow: bool) -> None:
        error = 0
        fields: Tuple[int, ...] = (0,) * 10
        try:
            found = os.lstat(self._find(path, follow))
            fields = (
                *(found.st_dev, found.st_ino, found.st_mode, found.st_nlink),
                *(found.st_uid, found.st_gid, found.st_size),
                *map(int, (found.st_atime, found.st_mtime, found.st_ctime)),
            )
        except OSError as trouble:
            error = trouble.errno or 0
        self._stream.send(struct.pack("<4sIQQIIIIQqqq", name, error, *fields))

    def _list(self, path: str) -> None:
        folder = self._find(path, True)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        for name in (".", "..", *names):
            try:
                found = os.lstat(os.path.join(folder, name))
            except OSError:
                continue
            data = os.fsencode(name)
            head = struct.pack(
                "<4sIIII",
                b"DENT",
                found.st_mode,
                found.st_size & 0xFFFFFFFF,
                int(found.st_mtime),
                len(data),
            )
            self._stream.send(head + data)
        self._stream.send(struct.pack("<4sIIII", b"DONE", 0, 0, 0, 0))

    def _open_target(self, target: str, is_link: bool) -> int:
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            os.makedirs(folder)
            self._give(folder)
        if os.path.lexists(target) and not os.path.isdir(target):
            os.unlink(target)
        if is_link:
            return -1
        return os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)

    def _give(self, path: str) -> None:
        if self._owner is not None and os.lstat(path).st_uid != self._owner:
            os.lchown(path, self._owner, self._owner)

    def _send(self, request: str) -> None:
        path, _, mode_text = request.rpartition(",")
        mode = int(mode_text)
        target = self._find(path, True)
        is_link = stat.S_ISLNK(mode)
        output, trouble, link = -1, None, b""
        try:
            output = self._open_target(target, is_link)
        except OSError as error:
            trouble = error
        try:
            while True:
                name, size = struct.unpack("<4sI", self._stream.exactly(8))
                if name == b"DONE":
                    break
                data = self._stream.exactly(size)
                self._faults.passed("push", size)
                if is_link:
                    link += data
                elif trouble is None:
                    trouble = _write(output, data)
            # Even after an error, all data of the host is read; otherwise the host
            # would not read the answer.
            if trouble is None:
                self._finish(output, target, mode, link, size)
        except OSError as error:
            trouble = error
        finally:
            if output >= 0:
                os.close(output)
        if trouble is not None:
            if output >= 0:
                os.unlink(target)
            self._fail(f"couldn't write file: {trouble.strerror or trouble}")
            return
        self._stream.send(struct.pack("<4sI", b"OKAY", 0))

    def _finish(
        self, output: int, target: str, mode: int, link: bytes, when: int
    ) -> None:
        if output < 0:
            os.symlink(os.fsdecode(link.rstrip(b"\0")), target)
        else:
            os.fchmod(output, mode & 0o777)
            os.utime(output, (when, when))
        self._give(target)

    def _receive(self, path: str) -> None:
        with open(self._find(path, True), "rb", buffering=0) as stream:
            while True:
                data = stream.read(_BLOCK)
                if not data:
                    break
                self._faults.passed("pull", len(data))
                self._stream.send(struct.pack("<4sI", b"DATA", len(data)) + data)
        self._stream.send(struct.pack("<4sI", b"DONE", 0))


def _write(output: int, data: bytes) -> Optional[OSError]:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(output, view) :]
    except OSError as error:
        return error
    return None
