# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a folder with all that `benchmarks.gpu.run` needs on a computer with a GPU.

    python -m benchmarks.gpu.prepare FOLDER --mace_run PROGRAM [--peers ncnn litert]
        [--networks mobilenet_v1 ...] [--wheels DIRECTORY] [--library FILE ...]

The folder contains the networks in the format of each engine, packed; `mace_run`, which
must have the GPU runtime; the packages of the other engines, for the other computer's
Python (`--python`); shared libraries that it may lack (`--library`); and the program.

Weights are rounded to `--mantissa_bits` (0: to powers of two), and the smallest of each
tensor are enlarged, after normalisations were folded into convolutions: so all engines
have the same weights, and the folder is small. The weights are random in any case.
"""

from __future__ import annotations

import argparse
import json
import lzma
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from benchmarks.exports import SHAPES, make_export
from benchmarks.gpu import packing
from benchmarks.networks import DIRECTORY, NAMES, ROOT, Network, make_network
from benchmarks.networks import make_variant as make_mace
from benchmarks.peers import formats
from benchmarks.record import commit
from mace.python.tools.atomic import atomic_write

MANIFEST = "manifest.json"
PROGRAM = "mace_run.xz"
PACKAGES = "packages.tar.xz"
# Folders of packages: compilers for other devices, and tools.
_UNUSED = ("ai_edge_litert/aot", "ai_edge_litert/tools", "ai_edge_litert/vendors")
CORE = ("mobilenet_v1", "mobilenet_v2", "squeezenet", "resnet50")
DATA_TYPES = ("fp16_fp32", "fp32_fp32")
_MADE = DIRECTORY / "gpu"
# What `run` and the worker processes import.
_CODE = (
    "benchmarks/__init__.py",
    "benchmarks/gpu/floor.py",
    "benchmarks/gpu/mace_process.py",
    "benchmarks/gpu/packing.py",
    "benchmarks/gpu/run.py",
    "benchmarks/peers/adapters.py",
    "benchmarks/peers/client.py",
    "benchmarks/peers/worker.py",
)
# Smaller constants are offsets, shapes and limits.
_LEAST_WEIGHTS = 1024
_MANTISSA_OF_HALF = 10


@dataclass(frozen=True)
class Peer:
    """Another engine.

    Attributes:
        form: of its models, a key of `formats.FORMATS`.
        packages: that a Python with NumPy may lack, as in requirements.txt.
    """

    form: str
    packages: tuple[str, ...]


PEERS = {
    "ncnn": Peer("ncnn", ("ncnn", "tqdm")),
    "litert": Peer(
        "tflite",
        (
            "ai-edge-litert",
            "backports.strenum",
            "flatbuffers",
            "ml_dtypes",
            "protobuf",
            "tqdm",
            "typing_extensions",
        ),
    ),
}
_PLATFORMS = (
    *(f"manylinux_2_{n}_x86_64" for n in (5, 17, 24, 26, 27, 28, 31, 34)),
    *("manylinux1_x86_64", "manylinux2010_x86_64", "manylinux2014_x86_64"),
)


def rounded(values: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """Values of float16 with at most `bits` bits of mantissa beside the leading one."""
    dropped = _MANTISSA_OF_HALF - bits
    words = values.astype("<f2").view("<u2").astype("<u4")
    half = 1 << dropped >> 1
    words = (words + half) >> dropped << dropped
    return words.astype("<u2").view("<f2").astype("<f4")


def levelled(weights: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """Weights that are rounded, and of which few have unusual exponents.

    Those that are smaller than half the root of their mean square get about that half,
    which leaves the mean square nearly as it was.
    """
    scale = float(np.sqrt(np.mean(np.square(weights, dtype=np.float64))))
    if scale == 0:
        return weights
    least = np.float32(2.0 ** (np.floor(np.log2(scale)) - 1))
    size = np.maximum(np.abs(weights), least)
    return rounded(np.copysign(size, weights), bits)


def fold_normalisations(graph: onnx.GraphProto) -> int:
    """Folds each normalisation of a convolution into its weights; returns how many."""
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    producers = {node.output[0]: node for node in graph.node}
    readers: dict[str, int] = {}
    for node in graph.node:
        for name in node.input:
            readers[name] = readers.get(name, 0) + 1
    folded = []
    for node in graph.node:
        conv = producers.get(node.input[0]) if node.input else None
        if node.op_type != "BatchNormalization" or conv is None:
            continue
        if conv.op_type != "Conv" or readers[node.input[0]] != 1:
            continue
        if readers[conv.input[1]] != 1 or conv.input[1] not in constants:
            continue
        _fold(conv, node, constants)
        folded.append(node)
    for node in folded:
        graph.node.remove(node)
    used = {name for node in graph.node for name in node.input}
    del graph.initializer[:]
    graph.initializer.extend(
        numpy_helper.from_array(np.asarray(array, order="C"), name)
        for name, array in constants.items()
        if name in used
    )
    return len(folded)


def _fold(
    conv: onnx.NodeProto, norm: onnx.NodeProto, constants: dict[str, NDArray[Any]]
) -> None:
    scale, offset, mean, variance = (constants[name] for name in norm.input[1:5])
    epsilon = next((a.f for a in norm.attribute if a.name == "epsilon"), 1e-5)
    factor = scale / np.sqrt(variance + epsilon)
    weights = constants[conv.input[1]]
    constants[conv.input[1]] = (weights * factor[:, None, None, None]).astype("<f4")
    bias = constants[conv.input[2]] if len(conv.input) > 2 else 0.0
    name = f"{conv.output[0]}_folded_bias"
    constants[name] = (offset + (bias - mean) * factor).astype("<f4")
    del conv.input[2:]
    conv.input.append(name)
    conv.output[0] = norm.output[0]


def simplify(source: Path, target: Path, bits: int) -> None:
    """Writes an ONNX file with folded and rounded weights."""
    model = onnx.load(str(source))
    graph = model.graph
    fold_normalisations(graph)
    for tensor in graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype == np.float32 and array.size >= _LEAST_WEIGHTS:
            tensor.CopyFrom(numpy_helper.from_array(levelled(array, bits), tensor.name))
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights]
    del graph.input[:]
    graph.input.extend(inputs)
    model.ir_version = max(model.ir_version, 8)
    with atomic_write(target) as stream:
        stream.write(model.SerializeToString(deterministic=True))


def make(name: str, bits: int) -> Network:
    """A network with rounded weights."""
    exported = name in SHAPES
    network = make_export(name) if exported else make_network(name, convert=False)
    path = _MADE / f"{name}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    simplify(network.onnx, path, bits)
    return replace(network, name=f"gpu_{name}", onnx=path, mace=_MADE / name)


def network_files(
    network: Network, name: str, peers: list[str]
) -> tuple[dict[str, Path], dict[str, Any]]:
    """The files of a network by name in the archive, and what `run` must know."""
    files: dict[str, Path] = {}
    entry: dict[str, Any] = {
        "input_name": network.input_name,
        "output_name": network.output_name,
        "input_shape": network.input_shape,
        "output_shape": network.output_shape(),
        "missing": {},
    }
    # Floats first: what follows repeats them.
    for data_type in reversed(DATA_TYPES):
        made = make_mace(network, data_type)
        for suffix in (".data", ".pb"):
            files[f"{name}/{data_type}{suffix}"] = made.with_suffix(suffix)
    for peer in peers:
        form = PEERS[peer].form
        try:
            path = formats.make_model(network, form)
        except formats.FormatError as error:
            entry["missing"][peer] = str(error)
            continue
        if form == "ncnn":
            for suffix in (".bin", ".param"):
                files[f"{name}/{form}{suffix}"] = Path(f"{path}{suffix}")
        else:
            files[f"{name}/{form}"] = path
    image = _MADE / f"{name}-image.npy"
    np.save(image, rounded(network.image(), 3))
    files[f"{name}/image.npy"] = image
    return files, entry


def pinned_version(package: str) -> str:
    """A package with its version, as the list of the other engines has it."""
    lines = (formats.HERE / "requirements.txt").read_text(encoding="utf-8").split()
    return next(line for line in lines if line.startswith(f"{package}=="))


def add_packages(folder: Path, packages: list[str], python: str, near: Path) -> None:
    """Packs packages for a Python such as 3.12 into PACKAGES.

    Args:
        near: a folder that may have their wheels already.
    """
    platforms = [word for name in _PLATFORMS for word in ("--platform", name)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--python-version", python]
    command += ["--implementation", "cp", "--disable-pip-version-check"]
    wanted = [pinned_version(package) for package in packages]
    with tempfile.TemporaryDirectory() as name:
        wheels, files = Path(name) / "wheels", Path(name) / "files"
        command += [*platforms, "--find-links", str(near), "-d", str(wheels)]
        done = subprocess.run([*command, *wanted], check=False)
        if done.returncode != 0:
            raise SystemExit("pip could not fetch the packages, see above")
        for wheel in wheels.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(files)
        for unused in _UNUSED:
            shutil.rmtree(files / unused, ignore_errors=True)
        with tarfile.open(folder / PACKAGES, "w:xz") as packed:
            packed.add(files, ".")


def folder_bytes(folder: Path) -> int:
    """The size of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def prepare(args: argparse.Namespace) -> None:
    """Fills the folder."""
    folder: Path = args.folder
    if folder.exists():
        if not (folder / MANIFEST).exists() and any(folder.iterdir()):
            raise SystemExit(f"{folder} is not empty, and was not made by this program")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_text("{}", encoding="utf-8")
    formats.require_engines()
    files: dict[str, Path] = {}
    networks = {}
    for name in args.networks:
        made = make(name, args.mantissa_bits)
        own, networks[name] = network_files(made, name, args.peers)
        files.update(own)
    packing.pack(files, folder)
    packages = sorted({p for peer in args.peers for p in PEERS[peer].packages})
    packages += ["numpy"] * args.numpy
    if packages:
        add_packages(folder, packages, args.python, args.wheels)
    for path in args.library:
        (folder / "libraries").mkdir(exist_ok=True)
        shutil.copyfile(path, folder / "libraries" / path.name)
    manifest = {
        "networks": networks,
        "peers": args.peers,
        "versions": {p: pinned_version(p).split("==")[1] for p in packages},
        "python": args.python,
        "mantissa_bits": args.mantissa_bits,
    }
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    add_program(folder, args.mace_run)


def add_program(folder: Path, program: Path) -> None:
    """Adds `mace_run` and this program's modules to a folder, or replaces them."""
    with lzma.open(folder / PROGRAM, "wb") as stream:
        stream.write(program.read_bytes())
    for code in _CODE:
        (folder / code).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / code, folder / code)
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    manifest["commit"] = commit()
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--mace_run", type=Path, required=True, help="with the GPU runtime"
    )
    parser.add_argument(
        "--networks", nargs="+", choices=(*NAMES, *SHAPES), default=list(CORE)
    )
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument(
        "--python", default="3.12", help="of the other computer (default 3.12)"
    )
    parser.add_argument(
        "--numpy", action="store_true", help="add NumPy, which the engines need"
    )
    parser.add_argument(
        "--wheels", type=Path, default=_MADE, help="folder with downloaded wheels"
    )
    parser.add_argument(
        "--library", type=Path, nargs="*", default=[], help="such as libvulkan.so.1"
    )
    parser.add_argument(
        "--only-program",
        action="store_true",
        help="replace mace_run and the program in a folder that was made before",
    )
    parser.add_argument("--mantissa_bits", type=int, choices=range(11), default=0)
    args = parser.parse_args()
    if not args.only_program:
        prepare(args)
    elif (args.folder / packing.INDEX).exists():
        add_program(args.folder, args.mace_run)
    else:
        parser.error(f"{args.folder} was not made by this program")
    print(f"{args.folder}: {folder_bytes(args.folder) / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
