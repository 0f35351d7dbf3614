# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""One network in the format of each engine, all made from the same ONNX file. Files are
made once and kept in build/benchmarks/peers, with names that contain a checksum of
their source.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

import onnx

from benchmarks.networks import DIRECTORY, ROOT, Network, make_variant

HERE = Path(__file__).resolve().parent
VENV = ROOT / "build/peers-venv"
PYTHON = VENV / "bin/python"
_FILES = DIRECTORY / "peers"


class FormatError(Exception):
    """An engine cannot have this network; the message says why."""


def require_engines() -> None:
    """SystemExit unless setup.sh has installed the engines in its current list."""
    installed = VENV / "installed.txt"
    wanted = HERE / "requirements.txt"
    if not installed.is_file() or installed.read_bytes() != wanted.read_bytes():
        sys.stderr.write("the engines are missing: bash benchmarks/setup.sh peers\n")
        raise SystemExit(2)


def make_model(network: Network, form: str) -> Path:
    """The file of a network in a format; for ncnn and MACE without suffix.

    Args:
        network: what to convert.
        form: a key of FORMATS.

    Raises:
        FormatError: it cannot be made.
    """
    if form in network.files:
        return network.files[form]
    if form in network.refused:
        raise FormatError(network.refused[form])
    if form == "mace":
        return network.mace
    if form == "mace_bf16":
        return make_variant(network, "bf16_bf16")
    plain = _plain_onnx(network)
    if form == "onnx":
        return plain
    target = plain.with_suffix("." + form)
    probe = target.with_suffix(".ncnn.bin") if form == "ncnn" else target
    if not probe.exists():
        with tempfile.TemporaryDirectory(dir=_FILES) as name:
            FORMATS[form](plain, Path(name))
            for file in Path(name).glob("result.*"):
                file.replace(plain.with_name(plain.stem + file.name[len("result") :]))
    return target


def _plain_onnx(network: Network) -> Path:
    """The ONNX file, in a form that all readers interpret in the same way.

    ONNX before IR version 4 lists weights among the inputs of the graph, and
    some engines then ask for them. Softmax before opset 13 has axis 1 unless
    told otherwise; ncnn's and MNN's converters assume the later -1.
    """
    data = network.onnx.read_bytes()
    digest = hashlib.sha256(data)
    for source in ("requirements.txt", "formats.py", "tflite.py"):
        digest.update((HERE / source).read_bytes())
    path = _FILES / f"{network.name}-{digest.hexdigest()[:12]}.onnx"
    if path.exists():
        return path
    model = onnx.load_from_string(data)
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.ir_version = max(model.ir_version, 8)
    if model.opset_import[0].version < 13:
        for node in model.graph.node:
            if node.op_type == "Softmax" and not node.attribute:
                node.attribute.append(onnx.helper.make_attribute("axis", 1))
    _FILES.mkdir(parents=True, exist_ok=True)
    for old in _FILES.glob(f"{network.name}-*"):
        old.unlink()
    partial = path.with_suffix(".tmp")
    partial.write_bytes(model.SerializeToString())
    partial.replace(path)
    return path


def make_ncnn_int8(model: Path, images: Path, to: Path) -> None:
    """Writes an ncnn model in integers; all paths are without suffix but that of the
    images (`ncnn_int8.py`).

    Raises:
        FormatError: it cannot be made.
    """
    names = (str(model), str(images), str(to))
    command = [str(PYTHON), "-m", "benchmarks.peers.ncnn_int8", *names]
    _call(command, ROOT, "ncnn_int8.py")


def _call(command: list[str], folder: Path, name: str) -> str:
    """Runs a converter and returns its output."""
    done = subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    text = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        last = (text.strip().splitlines() or ["no message"])[-1]
        raise FormatError(f"{name} failed ({done.returncode}): {last[:300]}")
    return text


def _tflite(source: Path, folder: Path) -> None:
    if importlib.util.find_spec("tensorflow") is None:
        raise FormatError("needs TensorFlow: bash tools/setup.sh --for tensorflow")
    paths = [str(source), str(folder / "result.tflite")]
    command = [sys.executable, "-m", "benchmarks.peers.tflite", *paths]
    _call(command, ROOT, "tflite.py")


def _ncnn(source: Path, folder: Path) -> None:
    programs = list(VENV.glob("lib/python*/site-packages/pnnx/pnnx"))
    if not programs:
        raise FormatError("the pnnx package has no program for this computer")
    # pnnx writes all its results beside its input.
    shutil.copyfile(source, folder / "network.onnx")
    text = _call([str(programs[0]), "network.onnx", "fp16=0"], folder, "pnnx")
    # pnnx writes what it cannot translate as layers that ncnn does not have.
    left = sorted(set(re.findall(r"^ignore (\S+) \S+ param", text, re.MULTILINE)))
    if left:
        raise FormatError(f"pnnx cannot translate {', '.join(left)}")
    for suffix in (".param", ".bin"):
        made = folder / f"network.ncnn{suffix}"
        if not made.exists():
            raise FormatError(f"pnnx wrote no {made.name}: {text[-200:]}")
        made.rename(folder / f"result.ncnn{suffix}")


def _mnn(source: Path, folder: Path) -> None:
    # The module below the `mnnconvert` script, which would report its use.
    program = "import sys, _tools; _tools.mnnconvert(sys.argv)"
    command = [str(PYTHON), "-c", program, "-f", "ONNX", "--modelFile", str(source)]
    result = folder / "result.mnn"
    command += ["--MNNModel", str(result), "--bizCode", "benchmark"]
    text = _call(command, folder, "MNN's converter")
    if not result.exists():
        raise FormatError(f"MNN's converter wrote nothing: {text[-200:]}")


_FORMATS: dict[str, Callable[[Path, Path], None]] = {
    "tflite": _tflite,
    "ncnn": _ncnn,
    "mnn": _mnn,
}
FORMATS = MappingProxyType(_FORMATS)
