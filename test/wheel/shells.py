# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What real shells make of a line when the reader presses the Tab key."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

SHELLS = ("bash", "zsh", "fish")

_PATIENCE_S = 30


def complete(shell: str, script: str, line: str, folder: Path) -> str:
    """The first completion of a line's last word.

    Args:
        shell: one of `SHELLS`.
        script: what ``mace --print-completion`` wrote for it.
        folder: for its files.
    """
    by_shell = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    return by_shell[shell](script, line, folder)


def _bash(script: str, line: str, folder: Path) -> str:
    words = line.split()
    ask = f"COMP_WORDS=({line}) COMP_CWORD={len(words) - 1} COMP_LINE='{line}'"
    (folder / "mace.bash").write_text(
        f'{script}\n{ask}\n_shtab_mace; echo "${{COMPREPLY[*]}}"\n'
    )
    return _output("bash", str(folder / "mace.bash"))


def _fish(script: str, line: str, folder: Path) -> str:
    (folder / "mace.fish").write_text(script)
    text = f"source {folder}/mace.fish; complete --do-complete '{line}'"
    return _output("fish", "--no-config", "-c", text)


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()[0]


# Its completion works in its line editor only, and hence in a terminal.
def _zsh(script: str, line: str, folder: Path) -> str:
    (folder / "_mace").write_text(script)
    program = shutil.which("zsh")
    assert program is not None
    child, terminal = pty.fork()
    if child == 0:
        variables = {"PATH": "/usr/bin:/bin", "TERM": "dumb", "HOME": str(folder)}
        os.execve(program, ["zsh", "-f", "-i"], variables)
    try:
        start = f"PROMPT=; fpath=({folder} $fpath); autoload -Uz compinit"
        _type(terminal, f"{start}; compinit -D -u; echo rea''dy\n")
        _read_until(terminal, re.compile("ready\r\n"))
        _type(terminal, f"{line}\t")
        # The editor completes the word, and sets a blank behind it.
        whole = re.compile(rf"{re.escape(line)}(\S+) ")
        found = _read_until(terminal, whole)
        return line.split()[-1] + found[1]
    finally:
        _type(terminal, "\x15exit\n")
        os.waitpid(child, 0)
        os.close(terminal)


def _type(terminal: int, text: str) -> None:
    os.write(terminal, text.encode())


def _read_until(terminal: int, wanted: re.Pattern[str]) -> re.Match[str]:
    """Waits until the terminal shows it."""
    shown, end = "", time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        found = wanted.search(shown)
        if found:
            return found
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
    raise AssertionError(f"zsh shows {shown!r}, not {wanted.pattern!r}")
