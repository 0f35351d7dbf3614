# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the commands of the documentation run, and how.

All blocks run in the root of the checkout, as the documentation says, with the virtual
environment activated. The files that pages describe as the reader's own
(`my_model.onnx`, `my_model.yml`, `devices.yml`) exist meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List

from test.device_farm.farm import Farm
from test.docs.blocks import ROOT, Block

# The time limit of a block: several times the slowest one with cold caches, which
# builds libmace for two ABIs.
_TIME_LIMIT_S = 3000
_EXAMPLE = ROOT / "mace" / "examples"
# The reader's files on pages, and the files used instead.
STAND_INS = {
    "my_model.onnx": _EXAMPLE / "digits" / "digits.onnx",
    "my_model.yml": _EXAMPLE / "digits" / "digits.yml",
    "model.onnx": _EXAMPLE / "digits" / "digits.onnx",
    "model.pb": Path(__file__).parent / "testdata" / "model.pb",
    "cat.png": _EXAMPLE / "digits" / "images" / "0080_is_1.png",
    "app.cc": _EXAMPLE / "cpp" / "example.cc",
}
_CONVERT = (
    *(sys.executable, "tools/converter.py", "convert"),
    f"--config={STAND_INS['my_model.yml']}",
)
DEVICES_YML = "devices.yml"
# Uses the farm's key where a reader would type a password.
_SSH = """#!/bin/sh
key=$HOME/.ssh/id_rsa
case "$*" in *authorized_keys*) key={farm}/ssh/id_ed25519 ;; esac
exec {ssh} -F none -o User=pi -o HostName=127.0.0.1 -o Port={port} \\
  -o IdentityFile="$key" -o IdentitiesOnly=yes -o BatchMode=yes \\
  -o UserKnownHostsFile={farm}/ssh/known_hosts "$@"
"""
# For computers where root has no sudo because it is not needed.
_SUDO = '#!/bin/sh\nexec "$@"\n'


@dataclass
class Place:
    """Where blocks run.

    Attributes:
        variables: of the environment; a block's exports stay for those that
            follow on its page.
        files: what a reader has in the root of the checkout, by its source.
    """

    variables: Dict[str, str] = field(default_factory=dict)
    files: Dict[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """How a block ended."""

    status: int
    output: str
    variables: Mapping[str, str]


def run(block: Block, variables: Mapping[str, str]) -> Result:
    """Runs a block to its first failing command, and ends all its processes."""
    # Our command follows on a separate line, so that a failure is not hidden.
    script = f'{block.text}\nenv -0 >"$1"\n'
    with tempfile.TemporaryDirectory(prefix="mace_docs_") as folder:
        left, log = Path(folder) / "env", Path(folder) / "log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", script, "bash", str(left)],
                cwd=ROOT,
                env=dict(variables),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status = process.wait(_TIME_LIMIT_S)
            except subprocess.TimeoutExpired:
                status = 124
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                process.wait()
        output = log.read_text(encoding="utf-8", errors="replace")
        after = dict(variables)
        if left.is_file():
            pairs = left.read_text(errors="replace").rstrip("\0").split("\0")
            after = dict(pair.split("=", 1) for pair in pairs)
    return Result(status, output, after)


@contextlib.contextmanager
def present(files: Mapping[str, Path], root: Path = ROOT) -> Iterator[None]:
    """Copies files into the root of the checkout, and removes them at the end.

    Raises:
        FileExistsError: one is there and is another; nothing was touched.
    """
    for name, source in files.items():
        there = root / name
        # A file left by a killed run is identical.
        if there.exists() and there.read_bytes() != source.read_bytes():
            raise FileExistsError(
                f"{name} in the root of the checkout is not the tests': move it away"
            )
    try:
        for name, source in files.items():
            shutil.copyfile(source, root / name)
        yield
    finally:
        for name in files:
            (root / name).unlink(missing_ok=True)


@contextlib.contextmanager
def computer() -> Iterator[Place]:
    """This computer, where the reader's model is converted, as most pages assume."""
    subprocess.run(_CONVERT, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory(prefix="mace_docs_bin_") as folder:
        path: List[str] = [str(Path(sys.executable).parent)]
        if os.geteuid() == 0 and shutil.which("sudo") is None:
            sudo = Path(folder) / "sudo"
            sudo.write_text(_SUDO, encoding="ascii")
            sudo.chmod(0o755)
            path.append(folder)
        path.append(os.environ["PATH"])
        variables = {**os.environ, "PATH": os.pathsep.join(path)}
        variables["VIRTUAL_ENV"] = sys.prefix
        yield Place(variables, dict(STAND_INS))


@contextlib.contextmanager
def phone() -> Iterator[Place]:
    """This computer, with one phone of the farm connected."""
    with computer() as place, tempfile.TemporaryDirectory() as folder:
        with Farm(Path(folder) / "farm", phones=["mi6"]) as farm:
            place.variables.update(farm.variables)
            address = farm.phones[0].address
            connect = ["adb", "connect", address]
            subprocess.run(connect, env=place.variables, check=True, timeout=60)
            yield place


@contextlib.contextmanager
def board() -> Iterator[Place]:
    """This computer and the board of its devices.yml, of the farm; needs root."""
    with computer() as place, tempfile.TemporaryDirectory() as folder:
        with Farm(Path(folder) / "farm", boards=["nanopi"]) as farm:
            place.files[DEVICES_YML] = farm.devices_yml
            yield place


@contextlib.contextmanager
def new_board() -> Iterator[Place]:
    """This computer, a new key, and a board at 10.0.0.1 that does not accept it yet.

    The board is one of the farm; needs root.
    """
    with computer() as place, tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        with Farm(base / "farm", boards=["nanopi"]) as farm:
            (base / ".ssh").mkdir(mode=0o700)
            key = ["ssh-keygen", "-q", "-t", "rsa", "-N", "", "-f"]
            subprocess.run([*key, str(base / ".ssh/id_rsa")], check=True)
            port = farm.boards[0].spec.port
            script = _SSH.format(farm=farm.folder, ssh=shutil.which("ssh"), port=port)
            (base / "bin").mkdir()
            (base / "bin/ssh").write_text(script, encoding="ascii")
            (base / "bin/ssh").chmod(0o755)
            place.variables["HOME"] = folder
            place.variables["PATH"] = f"{base / 'bin'}:{place.variables['PATH']}"
            yield place
