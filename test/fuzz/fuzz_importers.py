# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the readers of models of all frameworks, each for an equal share of a time,
or with an equal share of a number of inputs.

    python -m test.fuzz.fuzz_importers [--seconds 20] [--seed 1] [--readers onnx ...]
    python -m test.fuzz.fuzz_importers --count 9000 [--seed 1] [--readers onnx ...]
    python -m test.fuzz.fuzz_importers --record

A file of the corpus is damaged in some places; of archives also the files in it,
behind correct checksums. Then the model is described and imported. One clear error
must come, or a graph: another exception, more than 20 seconds of a processor, or more
than 4 GB of memory, is a fault. The file that causes one is kept in
build/fuzz/importers/found. Seeds are files of tests; those of TensorFlow and TensorFlow
Lite are in tensorflow.zip, which `--record` makes: only that needs TensorFlow.
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from rich.console import Console

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.caffe.testing import write_net
from mace.python.tools.importers.frame.opened import load_framework
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.keras.hdf5 import kept_worker
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import DataFormat
from test.conformance.models.caffe_networks import NETWORKS

_ROOT = Path(__file__).resolve().parents[2]
_FOLDER = _ROOT / "build/fuzz/importers"
_RECORDED = Path(__file__).with_name("tensorflow.zip")
_VARIABLES = ("variables/variables.index", "variables/variables.data-00000-of-00001")
_SLOWEST_S = 20.0
_MOST_BYTES = 4 << 30
_LARGEST_SEED = 100_000
_NUMBERS = tuple(
    number.to_bytes(size, "little", signed=True)
    for number in (-1, 0, 1, 2, 127, -128)
    for size in (1, 4, 8)
)


@dataclass(frozen=True)
class Seed:
    """A model that can be imported, and the file of it that is damaged.

    Attributes:
        damaged: below the folder.
        model, weights: as the deployment file names them.
    """

    framework: str
    folder: Path
    damaged: str
    model: str
    weights: str = ""

    def request(self, folder: Path) -> ImportRequest:
        """For all inputs and outputs that the good model has."""
        weights = self.folder / self.weights if self.weights else None
        found = (
            load_framework(self.framework)
            .open(self.folder / self.model, weights)
            .describe()
        )
        inputs = tuple(
            InputSpec(
                tensor.name,
                tuple(d if isinstance(d, int) else 2 for d in tensor.shape or ()),
                tensor.dtype or DataType.FLOAT32,
                DataFormat.NONE,
            )
            for tensor in found.inputs
        )
        outputs = tuple(OutputSpec(t.name, DataFormat.NONE) for t in found.outputs)
        return ImportRequest(
            "fuzzed",
            folder / self.model,
            inputs,
            outputs,
            folder / self.weights if self.weights else None,
        )


def _archived(archive: str, ending: str, framework: str) -> Iterator[Seed]:
    """The small files of an archive of the tests."""
    with zipfile.ZipFile(_ROOT / archive) as files:
        small = sorted(
            (info.file_size, info.filename)
            for info in files.infolist()
            if info.filename.endswith(ending) and info.file_size <= _LARGEST_SEED
        )
        for _, name in small[:: max(1, len(small) // 12)]:
            folder = _fresh(_FOLDER / "seeds" / framework / name)
            data = files.read(name)
            if framework == "onnx":
                data = _with_weights(data)
            (folder / f"model{ending}").write_bytes(data)
            yield Seed(framework, folder, f"model{ending}", f"model{ending}")


def _with_weights(data: bytes) -> bytes:
    """A model whose file of the tests has no numbers for its weights."""
    model = onnx.load_from_string(data)
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and not tensor.raw_data:
            tensor.raw_data = bytes(4 * int(np.prod(tensor.dims)))
    return bytes(model.SerializeToString())


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _caffe(damaged: str) -> Iterator[Seed]:
    for name, make in NETWORKS.items():
        network = make()
        folder = _fresh(_FOLDER / "seeds/caffe" / damaged / name)
        write_net(folder, network.text, network.blobs)
        yield Seed("caffe", folder, damaged, "net.prototxt", "net.caffemodel")


def _tensorflow() -> Path:
    """A folder with a SavedModel, a frozen graph and a file of TensorFlow Lite."""
    folder = _fresh(_FOLDER / "seeds/tensorflow")
    with zipfile.ZipFile(_RECORDED) as archive:
        archive.extractall(folder)
    return folder


def _record() -> None:
    """Makes the archive of `_tensorflow`."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    from mace.python.tools.importers.tensorflow.testing import frozen

    class Network(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            rng = np.random.default_rng(1)
            self.filter = tf.Variable(rng.random((3, 3, 2, 4)).astype(np.float32))
            self.matrix = tf.Variable(rng.random((16, 3)).astype(np.float32))

        @tf.function(input_signature=[tf.TensorSpec((1, 4, 4, 2), name="x")])  # type: ignore[untyped-decorator]
        def __call__(self, x: Any) -> Any:
            y = tf.nn.relu(tf.nn.conv2d(x, self.filter, 2, "SAME"))
            y = tf.reshape(tf.concat([y, y * 2.0], 3)[:, :, :, 2:6], (1, 16))
            return {"y": tf.nn.softmax(tf.matmul(y, self.matrix))}

    folder = _fresh(_FOLDER / "seeds/tensorflow")
    network = Network()
    tf.saved_model.save(network, str(folder / "saved"))
    graph = frozen(network.__call__.get_concrete_function()).graph.as_graph_def()
    (folder / "frozen.pb").write_bytes(graph.SerializeToString())
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder / "saved"))
    (folder / "model.tflite").write_bytes(converter.convert())
    parts = ["frozen.pb", "model.tflite"]
    parts += [f"saved/{name}" for name in ("saved_model.pb", *_VARIABLES)]
    with zipfile.ZipFile(_RECORDED, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in parts:
            archive.writestr(zipfile.ZipInfo(name), (folder / name).read_bytes())


_KERAS = "mace/python/tools/importers/keras/testdata/keras2.zip"
READERS: dict[str, Callable[[], Iterator[Seed]]] = {
    "onnx": lambda: _archived(
        "test/conformance/onnx/open_lengths.zip", ".onnx", "onnx"
    ),
    "pt2": lambda: _archived(
        "test/conformance/pytorch/recorded.zip", ".pt2", "pytorch"
    ),
    "keras": lambda: _archived(_KERAS, ".keras", "keras"),
    "h5": lambda: _archived(_KERAS, ".h5", "keras"),
    "prototxt": lambda: _caffe("net.prototxt"),
    "caffemodel": lambda: _caffe("net.caffemodel"),
    "saved_model": lambda: iter(
        [
            Seed("tensorflow", _tensorflow(), f"saved/{name}", "saved")
            for name in ("saved_model.pb", "variables/variables.index")
        ]
    ),
    "frozen": lambda: iter(
        [Seed("tensorflow", _tensorflow(), "frozen.pb", "frozen.pb")]
    ),
    "tflite": lambda: iter(
        [Seed("tflite", _tensorflow(), "model.tflite", "model.tflite")]
    ),
}


def damaged(rng: np.random.Generator, data: bytes, depth: int = 0) -> bytes:
    """The bytes with some changes."""
    if depth == 0 and data[:2] == b"PK" and rng.integers(3):
        return _damaged_archive(rng, data)
    result = bytearray(data)
    for _ in range(rng.integers(1, 6)):
        if not result:
            break
        place = int(rng.integers(len(result)))
        if rng.integers(2):
            # Structures are mostly at the begin and at the end.
            place = place % min(1024, len(result)) * (1 if rng.integers(2) else -1)
            place %= len(result)
        kind = rng.integers(6)
        length = int(rng.integers(1, 33))
        if kind < 2:
            result[place] = int(rng.integers(256))
        elif kind == 2:
            number = _NUMBERS[rng.integers(len(_NUMBERS))]
            result[place : place + len(number)] = number
        elif kind == 3:
            del result[place : place + length]
        elif kind == 4:
            result[place:place] = result[place : place + length]
        elif rng.integers(4) == 0:
            del result[place:]
    return bytes(result)


def _damaged_archive(rng: np.random.Generator, data: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        names = source.namelist()
        chosen = names[rng.integers(len(names))]
        with zipfile.ZipFile(target, "w") as result:
            for info in source.infolist():
                content = source.read(info)
                if info.filename == chosen:
                    content = damaged(rng, content, 1)
                result.writestr(zipfile.ZipInfo(info.filename), content)
    return target.getvalue()


def is_refused(seed: Seed, request: ImportRequest) -> bool:
    """Whether a model is refused with an error for people.

    Raises:
        Exception: something else came.
    """
    refused = False
    framework = load_framework(seed.framework)
    opened = framework.open(request.model_path, request.weight_path)
    steps: Sequence[Callable[[], object]] = (
        opened.describe,
        lambda: opened.import_graph(request),
    )
    begin = _processor_time()
    for step in steps:
        try:
            step()
        except MaceError as error:
            if not str(error).strip():
                raise RuntimeError("an error without words") from error
            # In a process without a limit, it would have been given.
            if "MemoryError" in str(error):
                raise RuntimeError("it took too much memory") from error
            refused = True
    took = _processor_time() - begin
    if took > _SLOWEST_S:
        raise RuntimeError(f"it took {took:.0f} s of a processor")
    return refused


def _processor_time() -> float:
    """Of this process and of those that it has ended: on a busy computer, whatever is
    fast takes long as well.
    """
    return sum(os.times()[:4])


@dataclass(frozen=True)
class Share:
    """What one reader gets: a time, or else a number of inputs."""

    seconds: float
    count: int | None = None

    def begin(self) -> Callable[[int], bool]:
        """Whether so many inputs are too few, from now on."""
        end = time.monotonic() + self.seconds
        if self.count is not None:
            return lambda done: done < max(1, self.count or 0)
        return lambda done: done == 0 or time.monotonic() < end


def fuzz(reader: str, share: Share, number: int, console: Console) -> bool:
    """Fuzzes one reader; returns whether it has no fault."""
    seeds = list(READERS[reader]())
    requests = [seed.request(seed.folder) for seed in seeds]
    if all(map(is_refused, seeds, requests)):
        raise RuntimeError(f"{reader}: no model of the corpus can be imported")
    count = refused = 0
    goes_on = share.begin()
    with tempfile.TemporaryDirectory() as name:
        while goes_on(count):
            index = count % len(seeds)
            seed, rng = seeds[index], np.random.default_rng([number, count])
            folder = Path(name) / "model"
            if not count or index != (count - 1) % len(seeds):
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(seed.folder, folder)
            data = damaged(rng, (seed.folder / seed.damaged).read_bytes())
            (folder / seed.damaged).write_bytes(data)
            request = replace(
                requests[index],
                model_path=folder / seed.model,
                weight_path=folder / seed.weights if seed.weights else None,
            )
            count += 1
            try:
                refused += is_refused(seed, request)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                found = _fresh(_FOLDER / "found" / f"{reader}-{number}-{count}")
                shutil.copytree(folder, found, dirs_exist_ok=True)
                traceback.print_exc()
                console.print(f"{reader}: fault; the model is in {found}")
                return False
    console.print(f"{reader}: {count} damaged models, {refused} refused")
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--seconds", type=float, default=20.0)
    amount.add_argument("--count", type=int, help="of damaged models, of all readers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", action="store_true", help="make tensorflow.zip")
    parser.add_argument("--readers", nargs="+", choices=READERS, default=[*READERS])
    args = parser.parse_args()
    if args.record:
        _record()
        return 0
    logging.disable(logging.CRITICAL)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_BYTES, hard))
    console = Console(highlight=False)
    readers = len(args.readers)
    count = None if args.count is None else -(-args.count // readers)
    share = Share(args.seconds / readers, count)
    with kept_worker():
        passed = [fuzz(reader, share, args.seed, console) for reader in args.readers]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
