# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A small deployment to convert and run in tests."""

from __future__ import annotations

import csv
import io
import os
import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from rich.console import Console

from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.convert.convert import convert_deployment
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.errors import MissingToolError
from mace.python.tools.export.model_file import ModelFile, read_model_file
from mace.python.tools.export.places import ModelPlaces
from mace.python.tools.proto import load_proto
from mace.python.tools.report.results import RunReport
from mace.python.tools.run.deployment_run import run_deployment
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.program import find_program

Array = npt.NDArray[Any]

_ALIGNMENT = 64
_BLOCK = 16


def write_dense_model(
    folder: Path, weights: Sequence[Array], name: str = "tiny"
) -> ModelFile:
    """A chain of fully connected layers `fc0`, `fc1`, ..., with ReLU between them.

    Input `x` is [1, K of the first], the output is `y`; the tensor between
    layers i and i + 1 is `h<i>`, in the source framework `source/h<i>`.

    Args:
        weights: [O, K] for each layer.
    """
    proto = load_proto("mace/proto/mace.proto")
    data = bytearray()
    model = proto.Model(format_version=1, name=name, producer="test")
    tensors = ["x", *(f"h{i}" for i in range(len(weights) - 1)), "y"]
    for i, weight in enumerate(weights):
        data += bytes(-len(data) % _ALIGNMENT)
        packed = pack(weight)
        model.constants.add(
            name=f"w{i}",
            dims=weight.shape,
            data_type=proto.DT_FLOAT32,
            layout=proto.CL_PACKED_O16,
            groups=1,
            offset=len(data),
            size=packed.nbytes,
        )
        data += packed.tobytes()
        last = i == len(weights) - 1
        model.operators.add(
            name=f"fc{i}",
            type="FullyConnected",
            inputs=[tensors[i], f"w{i}"],
            outputs=[tensors[i + 1]],
            attributes=[
                proto.Attribute(name="activation", s="NONE" if last else "RELU")
            ],
            source_outputs=["y" if last else f"source/{tensors[i + 1]}"],
            output_shapes=[proto.Shape(dims=[1, weight.shape[0]])],
            output_types=[proto.DT_FLOAT32],
        )
    for ports, tensor, size in (
        (model.inputs, "x", weights[0].shape[1]),
        (model.outputs, "y", weights[-1].shape[0]),
    ):
        ports.add(name=tensor, shape=[1, size], data_type=proto.DT_FLOAT32)
    model.data_size = len(data)
    model.data_crc32 = zlib.crc32(data)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.pb").write_bytes(model.SerializeToString())
    (folder / f"{name}.data").write_bytes(data)
    return read_model_file(ModelPlaces(folder / f"{name}.pb", folder / f"{name}.data"))


def pack(weight: Array) -> Array:
    """[O, K] -> [ceil(O / 16)][K][16], zeros beyond O."""
    rows, depth = weight.shape
    padded = np.zeros((-(-rows // _BLOCK) * _BLOCK, depth), np.float32)
    padded[:rows] = weight
    return np.ascontiguousarray(padded.reshape(-1, _BLOCK, depth).transpose(0, 2, 1))


def run_dense(weights: Sequence[Array], x: Array) -> Array:
    """What the model computes, in float64."""
    for i, weight in enumerate(weights):
        x = x @ weight.astype(np.float64).T
        if i < len(weights) - 1:
            x = np.maximum(x, 0)
    return x


_SEED = 5

# The tables of mace_run --benchmark, in their order.
BENCHMARK_SECTIONS = (
    "Warm Up",
    "Run without statistics",
    "Run with statistics",
    "Sort by Run Order",
    "Sort by Computation Time",
    "Stat by Op Type",
    "Stat by MACs",
    "Summary of Ops' Stat",
)

DEPLOYMENT = """
library_name: lib
target_abis: [host]
model_graph_format: file
model_data_format: file
models:
{models}
"""

MODEL = """
  {name}:
    platform: onnx
    model_file_path: {path}
    subgraphs:
      - input_tensors: [x]
        input_shapes: ["1,6,5,4"]
        input_ranges: ["-2,2"]
        output_tensors: [y]
        output_shapes: ["1,6,5,8"]
{extra}
    runtime: {runtime}
    data_type: fp32_fp32
"""


def _onnx_model(path: Path, rng: np.random.Generator) -> None:
    """Two 1x1 convolutions with a ReLU between them, channels first: [1, 4, 6, 5]."""
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], name="conv0"),
            helper.make_node("Relu", ["c0"], ["r0"], name="relu0"),
            helper.make_node("Conv", ["r0", "w1"], ["y"], name="conv1"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 6, 5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 6, 5])],
        [
            numpy_helper.from_array(array.astype(np.float32), name)
            for name, array in (
                ("w0", rng.standard_normal((12, 4, 1, 1))),
                ("b0", rng.standard_normal(12)),
                ("w1", rng.standard_normal((8, 12, 1, 1))),
            )
        ],
    )
    onnx.save(
        helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8
        ),
        path,
    )


class Project:
    """A converted deployment in a folder of its own.

    Every project has the same weights and samples.
    """

    def __init__(self, build_dir: Path) -> None:
        self.build_dir = build_dir
        self.folder = build_dir.parent
        self.output = io.StringIO()
        self._rng = np.random.default_rng(_SEED)
        _onnx_model(self.folder / "m.onnx", self._rng)

    def deployment(
        self,
        extra: str = "",
        names: tuple[str, ...] = ("m",),
        runtime: str = "cpu",
        model: str = "",
    ) -> Deployment:
        """The deployment.

        Args:
            extra: lines of the subgraph.
            model: lines of each model.
        """
        lines = "\n".join(" " * 8 + line for line in extra.splitlines())
        models = "".join(
            MODEL.format(
                name=name,
                path=self.folder / "m.onnx",
                extra=lines,
                runtime=runtime,
            )
            + "".join(f"    {line}\n" for line in model.splitlines())
            for name in names
        )
        text = DEPLOYMENT.format(models=models)
        return load_deployment_text(text, self.folder / "d.yml")

    def convert(self, deployment: Deployment) -> None:
        convert_deployment(
            deployment,
            ConvertOptions(build_dir=self.build_dir),
        )

    def samples(self, count: int = 3) -> tuple[Path, list[Array]]:
        """A folder of samples, and their input."""
        folder = self.folder / "samples"
        folder.mkdir()
        arrays = []
        for index in range(count):
            arrays.append(self._rng.uniform(-2, 2, (1, 6, 5, 4)).astype(np.float32))
            arrays[-1].tofile(folder / f"x_{index}.bin")
        return folder, arrays

    def run(self, deployment: Deployment, **options: Any) -> RunReport:
        console = Console(file=self.output, width=200)
        return run_deployment(
            deployment, RunOptions(build_dir=self.build_dir, **options), console
        )

    def convert_and_run(self, extra: str = "", **options: Any) -> RunReport:
        deployment = self.deployment(extra)
        self.convert(deployment)
        return self.run(deployment, **options)

    def log(self) -> list[dict[str, str]]:
        path = self.build_dir / "lib" / "model" / "cpu" / "log.csv"
        with open(path, encoding="utf-8") as stream:
            return list(csv.DictReader(stream))


_ROOT = Path(__file__).resolve().parents[5]


@pytest.fixture(scope="session")
def mace_run() -> Path:
    """mace_run for this computer, built if necessary."""
    try:
        return find_program(Abi.HOST, RunOptions(build_dir=_ROOT / "build"))
    except MissingToolError as error:
        pytest.skip(f"cannot build mace_run: {error}")


@pytest.fixture
def build_dir(mace_run: Path, tmp_path: Path) -> Path:
    """An empty build folder that contains the program."""
    folder = tmp_path / "build"
    program = folder / "bin" / "host" / "mace_run"
    program.parent.mkdir(parents=True)
    shutil.copy2(mace_run, program)
    # The copy must not be older than the sources.
    os.utime(program)
    return folder


@pytest.fixture
def project(build_dir: Path) -> Project:
    return Project(build_dir)
