# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A port on the loopback interface that can be closed and reopened."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Callable, Optional

from test.device_farm.errors import FarmError

LOOPBACK = "127.0.0.1"


class Listener:
    """Accepts connections, each in a thread of its own.

    Args:
        port: on loopback.
        serve: is given each connection and closes it.
    """

    def __init__(self, port: int, serve: Callable[[socket.socket], None]) -> None:
        self.port = port
        self._serve = serve
        self._lock = threading.Lock()
        self._socket: Optional[socket.socket] = None

    def resume(self) -> None:
        """Opens the port, unless it is open.

        Raises:
            FarmError: somebody else has it.
        """
        with self._lock:
            if self._socket is not None:
                return
            opened = socket.socket()
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                opened.bind((LOOPBACK, self.port))
            except OSError as error:
                opened.close()
                raise FarmError(
                    f"port {self.port} cannot be used ({error.strerror}); "
                    "choose others with --adb-port or --ssh-port"
                ) from error
            opened.listen(16)
            self._socket = opened
        threading.Thread(target=self._accept, args=(opened,), daemon=True).start()

    def pause(self) -> None:
        """Closes the port: connections are refused."""
        with self._lock:
            opened, self._socket = self._socket, None
        if opened is not None:
            with contextlib.suppress(OSError):
                # Wakes the thread that accepts connections; closing alone would not.
                opened.shutdown(socket.SHUT_RDWR)
            opened.close()

    def _accept(self, opened: socket.socket) -> None:
        while True:
            try:
                connection, _ = opened.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(
                target=self._serve, args=(connection,), daemon=True
            ).start()
