# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The Python package, where it is installed and there is no checkout."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path
from typing import Dict

import numpy as np
import onnxruntime
import pytest

import mace
from test.wheel.pythons import ROOT, Python, install, pythons
from test.wheel.shells import SHELLS, complete

_DIGITS = ROOT / "mace" / "examples" / "digits" / "digits.onnx"
_MODEL = ("digits.onnx", "--dims=N=1")
_LIMIT_BYTES = 10_000_000

_RUN = """
import json, sys
import numpy as np
import mace

assert mace.__file__.startswith(sys.prefix), mace.__file__
model = mace.load("digits.onnx", dims={"N": -1})
image = np.load("image.npy")
results = [model(image), model.bind({"image": image}, {"probability": model(image)})()]
assert np.array_equal(*results)
np.save("result.npy", results[0])
"""

# Imports everything; scripts that a child process runs need what only they have.
_IMPORT = """
import importlib, pathlib, sys
import mace
root = pathlib.Path(mace.__path__[0])
for path in sorted([*root.glob("python/**/*.py"), *root.glob("ops/**/*.py")]):
    name = ".".join(path.relative_to(root.parent).with_suffix("").parts)
    # Those of rare_ops have no names of their own: they are read when needed.
    if not any(part in name for part in ("worker", ".frameworks.", ".rare_ops.")):
        importlib.import_module(name.replace(".__init__", ""))
names = [n for n in sys.modules if n.startswith("mace.")]
assert len(names) > 300, len(names)
"""


@pytest.fixture(scope="module")
def wheel() -> Path:
    """Of this computer."""
    script = ["bash", "tools/build-wheel.sh"]
    subprocess.run(script, cwd=ROOT, check=True)
    machine = os.uname().machine
    name = f"mace-{mace.__version__}-py3-none-manylinux_2_28_{machine}.whl"
    return ROOT / "build" / "wheel" / name


@dataclass(frozen=True)
class Installed:
    """A virtual environment with the wheel, and a folder to work in."""

    programs: Path
    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Runs one of its programs, which knows nothing of the checkout."""
        hidden = ("PYTHON", "MACE", "VIRTUAL_ENV")
        variables = {n: v for n, v in os.environ.items() if not n.startswith(hidden)}
        variables["MACE_CACHE"] = str(self.folder / "cache")
        variables["PATH"] = f"{self.programs}:/usr/bin:/bin"
        return subprocess.run(
            [self.programs / command[0], *command[1:]],
            cwd=self.folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def succeed(self, *command: str) -> str:
        """What a program prints."""
        done = self.run(*command)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def all_installed(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Dict[str, Installed]:
    """By version of Python."""
    found = {}
    for python in pythons():
        folder = tmp_path_factory.mktemp(f"python{python}")
        work = folder / "work"
        work.mkdir()
        shutil.copy(_DIGITS, work)
        found[str(python)] = Installed(install(python, wheel, folder / "venv"), work)
    return found


@pytest.fixture(scope="module")
def installed(all_installed: Dict[str, Installed]) -> Installed:
    """For the Python that runs the tests, with a converted model."""
    (own,) = [str(python) for python in pythons() if python.is_own]
    all_installed[own].succeed("mace", "convert", *_MODEL)
    return all_installed[own]


def test_the_same_sources_make_the_same_wheel(wheel: Path) -> None:
    first = hashlib.sha256(wheel.read_bytes()).hexdigest()
    subprocess.run(["bash", "tools/build-wheel.sh"], cwd=ROOT, check=True)
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() == first


def test_the_wheel_is_small_and_says_what_it_needs(wheel: Path) -> None:
    assert wheel.stat().st_size <= _LIMIT_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = f"mace-{mace.__version__}.dist-info"
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        tags = Parser().parsestr(archive.read(f"{info}/WHEEL").decode())
    assert metadata["Version"] == mace.__version__
    needed = [text for text in metadata.get_all("Requires-Dist") if ";" not in text]
    assert any(text.startswith("numpy") for text in needed)
    for optional in ("tensorflow", "torch", "onnxruntime", "opencv", "h5py"):
        assert not any(text.startswith(optional) for text in needed)
    assert tags["Root-Is-Purelib"] == "false"
    assert wheel.stem.endswith(tags["Tag"])
    for part in ("lib/libmace.so", "bin/mace_run", "py.typed", "ops/op_enums.yaml"):
        assert f"mace/{part}" in names
    ends = ("_test.py", ".cc", "BUILD.bazel", "conftest.py", ".pyc")
    assert not [name for name in names if name.endswith(ends) or "/testing" in name]


def test_the_wheel_needs_no_newer_system_than_its_name_says(wheel: Path) -> None:
    command = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    oldest = re.search(r'platform tag:\s+"manylinux_(\d+)_(\d+)_', shown)
    named = re.search(r"-manylinux_(\d+)_(\d+)_", wheel.name)
    assert oldest and named, shown
    assert tuple(map(int, oldest.groups())) <= tuple(map(int, named.groups()))


def test_its_syntax_is_that_of_python_3_9(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                ast.parse(archive.read(name), name, feature_version=(3, 9))


@pytest.mark.parametrize("python", pythons(), ids=str)
def test_a_model_runs(python: Python, all_installed: Dict[str, Installed]) -> None:
    installed = all_installed[str(python)]
    image = np.random.default_rng(2).random((2, 1, 8, 8), np.float32)
    np.save(installed.folder / "image.npy", image)
    installed.succeed("python", "-c", _RUN)
    session = onnxruntime.InferenceSession(_DIGITS)
    (expected,) = session.run(None, {"image": image})
    result = np.load(installed.folder / "result.npy")
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("python", pythons(), ids=str)
def test_the_command_converts_and_runs(
    python: Python, all_installed: Dict[str, Installed]
) -> None:
    installed = all_installed[str(python)]
    assert installed.succeed("mace", "--version") == f"MACE {mace.__version__}\n"
    installed.succeed("mace", "convert", *_MODEL)
    assert "cpu" in installed.succeed("mace", "run", *_MODEL)
    made = sorted(path.name for path in installed.folder.glob("build/digits/model/*"))
    assert made == ["digits.data", "digits.pb", "digits.pb_txt", "digits_index.html"]


def test_other_commands_work(installed: Installed) -> None:
    assert "nodes  13: 3 Batch" in installed.succeed("mace", "inspect", *_MODEL)
    assert "CPU GPU" in installed.succeed("mace", "check", *_MODEL)
    assert "Softmax" in installed.succeed("mace", "explain", *_MODEL)
    written = installed.succeed("mace", "init", *_MODEL)
    assert "mace quantize" in written
    keys = "python -m mace.python.tools.config.reference"
    assert f"# {keys}\n" in written
    assert "`input_shapes`" in installed.succeed(*keys.split())
    checks = json.loads(installed.succeed("mace", "doctor", "--json"))["checks"]
    found = {check["name"]: check["state"] for check in checks}
    assert found["libmace.so"] == found["mace_run"] == found["onnx"] == "ok"
    assert not {"bazel", "Android NDK"} & found.keys()


def test_a_model_is_validated(installed: Installed) -> None:
    # Nothing is converted in this folder yet.
    flags = ("--validate", "--build_dir=validated")
    assert "passed" in installed.succeed("mace", "run", *_MODEL, *flags)
    assert (installed.folder / "validated/digits/model/digits.pb").is_file()


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_complete_it(installed: Installed, shell: str, tmp_path: Path) -> None:
    script = installed.succeed("mace", "--print-completion", shell)
    assert complete(shell, script, "mace conv", tmp_path) == "convert"
    line = "mace run --num_thr"
    assert complete(shell, script, line, tmp_path) == "--num_threads"


@pytest.mark.parametrize(
    "command, reason",
    [
        (("build", *_MODEL), "building libmace needs a checkout"),
        (("new-op", "Sum"), "adding an operator needs a checkout of MACE"),
        (("run", *_MODEL, "--debug_mode"), "in a checkout of MACE"),
    ],
)
def test_what_needs_a_checkout_says_so(
    installed: Installed, command: tuple[str, ...], reason: str
) -> None:
    done = installed.run("mace", *command)
    assert done.returncode == 2
    assert reason in done.stderr and "Traceback" not in done.stderr
    assert "converter.py" not in done.stderr and "setup.sh" not in done.stderr


def test_nothing_is_missing_of_it(all_installed: Dict[str, Installed]) -> None:
    for installed in all_installed.values():
        installed.succeed("python", "-c", _IMPORT)


def test_models_as_code_need_no_checkout(installed: Installed) -> None:
    formats = [f"--model_{part}_format=code" for part in ("graph", "data")]
    folder = installed.folder / "linked"
    installed.succeed("mace", "convert", *_MODEL, *formats, f"--build_dir={folder}")
    assert (folder / "digits/model/host/digits.a").is_file()
    done = installed.run("mace", "run", *_MODEL, *formats, f"--build_dir={folder}")
    assert done.returncode == 2
    assert "mace_run with models as code is built in a checkout" in done.stderr


def test_using_it_writes_nothing_into_it(installed: Installed) -> None:
    (package,) = installed.programs.parent.glob("lib/python*/site-packages/mace")
    assert not (package / "codegen").exists()
    assert not (installed.folder / "builds").exists()
