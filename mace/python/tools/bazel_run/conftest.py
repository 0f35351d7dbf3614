# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The tool with a stand-in for Bazel.

Its programs are shell scripts, which run on any device. test/devices uses the real
Bazel and the native tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.bazel_run.command import main

TARGET = "//some/room:look"


class Stand:
    """A stand-in for Bazel, and the tool that calls it.

    Attributes:
        output: folder of logs and results.
        log_of_bazel: its calls, a line each; none were made without the file.
    """

    def __init__(self, folder: Path) -> None:
        self.output = folder / "output"
        self._bin = folder / "bazel-bin"
        self.log_of_bazel = folder / "bazel.log"
        self._tools = folder / "tools"
        self._tools.mkdir()
        self._write_bazel("")

    @property
    def path(self) -> str:
        """The folder to put before PATH."""
        return str(self._tools)

    def tool(self, name: str, text: str) -> None:
        """Puts a program of this computer on the PATH."""
        path = self._tools / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def _write_bazel(self, trouble: str) -> None:
        self.tool(
            "bazel",
            f'echo "$@" >>{self.log_of_bazel}\n'
            f'case " $* " in *" info "*) echo {self._bin}; exit ;; esac\n{trouble}',
        )

    def fails(self) -> None:
        """Makes builds fail."""
        self._write_bazel('echo "ERROR: no such package some/room" >&2; exit 1\n')

    def builds_for_the_dsp(self) -> None:
        """Sets the DSP's own code, which nothing here runs."""
        path = self._bin / "mace/kernels/hexagon/executor/mace_hexagon_skel"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("code")
        self.tool("qemu-hexagon", "exit")

    def builds(self, text: str, shell: str = "/bin/sh", size: int = 0) -> None:
        """Sets the program of the target: a script of at least `size` bytes."""
        path = self._bin / "some" / "room" / "look"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{shell}\n{text}\nexit\n" + "#" * size)
        path.chmod(0o755)

    def commands(self) -> list[list[str]]:
        """Arguments of every call of Bazel that built something."""
        lines = [line.split() for line in self.log_of_bazel.read_text().splitlines()]
        return [words for words in lines if "build" in words]

    def run(self, *flags: str) -> int:
        """Calls the tool; its exit status."""
        words = [f"--target={TARGET}", f"--output_dir={self.output}"]
        return main([*words, *flags])

    def here(self, *flags: str) -> int:
        """Runs the target on this computer."""
        return self.run("--run_target=True", "--target_abis=host", *flags)

    def log(self, place: str = "host_host") -> str:
        """The log of a run."""
        return (self.output / f"look_{place}.log").read_text()


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stand]:
    made = Stand(tmp_path)
    monkeypatch.setenv("PATH", made.path, prepend=":")
    for name in ("BAZEL", "BAZEL_STARTUP_FLAGS", "BAZEL_FLAGS", "ANDROID_NDK_HOME"):
        monkeypatch.delenv(name, raising=False)
    # Do not read a developer's devices.yml.
    monkeypatch.chdir(tmp_path)
    yield made
