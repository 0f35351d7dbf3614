# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The parent of a worker: starts the process, sends requests, and stops it between
them. A worker that waits for a request is stopped by a signal. Otherwise the threads of
one engine, which may spin long after a run, would use cores that the next engine needs.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# Longer than any engine takes for a request, even on a slow machine.
TIMEOUT_SECONDS = 300.0


class WorkerError(Exception):
    """The engine failed; the message says how."""


class Client:
    """A worker process; a context manager.

    Args:
        python: that has the engine.
        engine: a key of `adapters.ADAPTERS`.
        log: the file for what the engine prints.
        variables: of the environment, beside those of this process; PYTHONPATH is
            searched after the repository.
    """

    def __init__(
        self,
        python: Path,
        engine: str,
        log: Path,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        environment = {**os.environ, "PYTHONPATH": "", **(variables or {})}
        paths = [str(ROOT), environment["PYTHONPATH"]]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        self._log = log
        with log.open("wb") as stream:
            self._process = subprocess.Popen(
                [str(python), "-m", "benchmarks.peers.worker", engine],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                cwd=ROOT,
                env=environment,
            )
        self._stopped = False

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A stopped process ends only by SIGKILL; it has nothing to save.
        self._process.kill()
        self._process.communicate()

    @property
    def pid(self) -> int:
        """Of the worker process."""
        return self._process.pid

    def ask(self, **request: Any) -> dict[str, Any]:
        """Sends a request and waits for its answer; the worker then stops.

        Raises:
            WorkerError: the engine reported an error, ended or did not answer.
        """
        assert self._process.stdin and self._process.stdout
        if self._stopped:
            self._process.send_signal(signal.SIGCONT)
            self._stopped = False
        try:
            self._process.stdin.write((json.dumps(request) + "\n").encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise WorkerError(self._ending()) from None
        ready, _, _ = select.select([self._process.stdout], [], [], TIMEOUT_SECONDS)
        if not ready:
            raise WorkerError(f"no answer within {TIMEOUT_SECONDS:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            raise WorkerError(self._ending())
        self._process.send_signal(signal.SIGSTOP)
        # Returns when all its threads have stopped. WNOWAIT leaves the status of a
        # process that ended to subprocess.
        how = os.WSTOPPED | os.WEXITED | os.WNOWAIT
        os.waitid(os.P_PID, self._process.pid, how)
        self._stopped = True
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise WorkerError(str(answer["error"]))
        return answer

    def _ending(self) -> str:
        code = self._process.wait()
        how = f"signal {-code}" if code < 0 else f"status {code}"
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return f"its process ended with {how}" + (f": {lines[-1]}" if lines else "")
