# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The phone's end of the adb protocol: packets on a socket, streams in packets.

A packet is six little-endian 32-bit words (command, two arguments, length, sum of
the bytes, complement of the command) and its payload. The host opens a stream by
naming a service; each side may have one unacknowledged WRTE per stream.
"""

from __future__ import annotations

import abc
import contextlib
import logging
import queue
import socket
import struct
import threading
from typing import Callable, Dict, Optional, Union

from test.device_farm.faults import SeveredError

_LOG = logging.getLogger(__name__)

_VERSION = 0x01000001  # since this version, the sums are not checked
_MAX_PAYLOAD = 1 << 20
_OLD_MAX_PAYLOAD = 4096
_TOKEN, _TOKEN_BYTES = 1, 20
_COMMANDS = ("SYNC", "CNXN", "OPEN", "OKAY", "CLSE", "WRTE", "AUTH")
_CODES = {name: struct.unpack("<I", name.encode())[0] for name in _COMMANDS}
_NAMES = {code: name for name, code in _CODES.items()}

Bytes = Union[bytes, bytearray]


class StreamClosedError(Exception):
    """The other side closed the stream, or the connection is gone."""


class Services(abc.ABC):
    """What a connection needs from its phone."""

    @abc.abstractmethod
    def banner(self) -> str:
        """What the phone says about itself when it is connected."""

    @abc.abstractmethod
    def authorizes(self) -> bool:
        """Whether it trusts the connecting computer."""

    @abc.abstractmethod
    def answers(self) -> bool:
        """Whether it answers a host that connects."""

    @abc.abstractmethod
    def service(self, name: str) -> Optional[Callable[[Stream], None]]:
        """The function that serves a new stream in its own thread; None: unknown
        service.
        """


class Connection:
    """One host."""

    def __init__(self, services: Services, sock: socket.socket) -> None:
        self._services = services
        self._socket = sock
        self._write_lock = threading.Lock()
        self._streams: Dict[int, Stream] = {}
        self._next_id = 1
        self._max_payload = _OLD_MAX_PAYLOAD
        self._sums = True
        self._waited_for = False
        self._greeted = False

    @property
    def max_payload(self) -> int:
        """The most bytes that one packet may hold."""
        return self._max_payload

    def packet(self, name: str, first: int, second: int, data: Bytes = b"") -> None:
        """Sends a packet."""
        code = _CODES[name]
        total = sum(data) & 0xFFFFFFFF if self._sums else 0
        head = struct.pack(
            "<6I", code, first, second, len(data), total, code ^ 0xFFFFFFFF
        )
        with self._write_lock:
            self._socket.sendall(head + data)

    def greet(self) -> None:
        """Sends the banner, once, if the host waits for it and this device should
        answer. A second banner would end all streams.
        """
        if self._greeted or not self._waited_for:
            return
        if self._services.answers() and self._services.authorizes():
            self._greeted = True
            banner = self._services.banner().encode()
            self.packet("CNXN", _VERSION, _MAX_PAYLOAD, banner)

    def close(self) -> None:
        """Drops the connection; its streams end."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def serve(self) -> None:
        """Reads packets until the connection ends."""
        try:
            while True:
                code, first, second, size, _, magic = struct.unpack(
                    "<6I", self._exactly(24)
                )
                if magic != code ^ 0xFFFFFFFF or size > _MAX_PAYLOAD:
                    _LOG.warning("not an adb packet; connection dropped")
                    return
                data = self._exactly(size) if size else b""
                self._handle(_NAMES.get(code, "?"), first, second, data)
        except (StreamClosedError, OSError):
            pass
        finally:
            for stream in list(self._streams.values()):
                stream.peer_closed()
            self._socket.close()

    def _exactly(self, size: int) -> bytearray:
        data = bytearray(size)
        view, done = memoryview(data), 0
        while done < size:
            count = self._socket.recv_into(view[done:])
            if not count:
                raise StreamClosedError
            done += count
        return data

    def _handle(self, name: str, first: int, second: int, data: Bytes) -> None:
        if name == "CNXN":
            self._max_payload = min(second, _MAX_PAYLOAD)
            self._sums = first < _VERSION
            self._waited_for = True
            if not self._services.authorizes():
                self.packet("AUTH", _TOKEN, 0, bytes(_TOKEN_BYTES))
            self.greet()
        elif name == "AUTH":
            # A signature (2) is checked and is unknown; the key itself (3) waits until
            # somebody confirms it on the phone.
            if first == 2 and not self._services.authorizes():
                self.packet("AUTH", _TOKEN, 0, bytes(_TOKEN_BYTES))
            self.greet()
        elif name == "OPEN":
            self._open(
                first, bytes(data).rstrip(b"\0").decode(errors="surrogateescape")
            )
        elif second in self._streams:
            self._streams[second].handle(name, data)

    def _open(self, remote: int, service: str) -> None:
        serve = self._services.service(service)
        if serve is None:
            _LOG.info("refused service %s", service)
            self.packet("CLSE", 0, remote)
            return
        _LOG.info("service %s", service)
        stream = Stream(self, self._next_id, remote)
        self._next_id += 1
        self._streams[stream.id] = stream
        self.packet("OKAY", stream.id, remote)
        threading.Thread(target=self._run, args=(stream, serve), daemon=True).start()

    def _run(self, stream: Stream, serve: Callable[[Stream], None]) -> None:
        try:
            serve(stream)
        except (StreamClosedError, SeveredError, OSError) as error:
            _LOG.info("stream %d ended early: %r", stream.id, error)
        finally:
            if self._streams.pop(stream.id, None) is not None:
                with contextlib.suppress(OSError):
                    self.packet("CLSE", stream.id, stream.remote)

    def forget(self, stream: Stream) -> None:
        """Removes a stream from the list."""
        self._streams.pop(stream.id, None)


class Stream:
    """One stream of bytes in each direction."""

    def __init__(self, connection: Connection, number: int, remote: int) -> None:
        self.id = number
        self.remote = remote
        self.on_close: Callable[[], None] = lambda: None
        self._connection = connection
        self._inbox: queue.Queue[Optional[Bytes]] = queue.Queue()
        self._window = threading.Semaphore(1)
        self._send_lock = threading.Lock()
        self._closed = False
        self._rest: Bytes = b""

    def handle(self, name: str, data: Bytes) -> None:
        """Handles a packet of this stream."""
        if name == "WRTE":
            self._inbox.put(data)
        elif name == "OKAY":
            self._window.release()
        elif name == "CLSE":
            self.peer_closed()

    def peer_closed(self) -> None:
        """Called when the other side ends the stream."""
        self._closed = True
        self._connection.forget(self)
        self._inbox.put(None)
        self._window.release()
        self.on_close()

    def send(self, data: Bytes) -> None:
        """Sends all of it; several threads may.

        Raises:
            StreamClosedError: nobody reads it any more.
        """
        with self._send_lock:
            for start in range(0, len(data), self._connection.max_payload):
                self._window.acquire()
                if self._closed:
                    self._window.release()
                    raise StreamClosedError
                part = data[start : start + self._connection.max_payload]
                self._connection.packet("WRTE", self.id, self.remote, part)

    def chunk(self) -> Bytes:
        """The next bytes, as many as arrived together.

        Raises:
            StreamClosedError: there are no more.
        """
        if self._rest:
            data, self._rest = self._rest, b""
            return data
        taken = self._inbox.get()
        if taken is None:
            self._inbox.put(None)
            raise StreamClosedError
        # Sent only now: the host must not send faster than data is used.
        self._connection.packet("OKAY", self.id, self.remote)
        return taken

    def exactly(self, size: int) -> bytes:
        """Exactly this many bytes.

        Raises:
            StreamClosedError: there are fewer.
        """
        if size == 0:
            return b""
        parts, count = [], 0
        while count < size:
            part = self.chunk()
            parts.append(part)
            count += len(part)
        data = bytes(parts[0]) if len(parts) == 1 else b"".join(parts)
        self._rest = data[size:]
        return data[:size]
