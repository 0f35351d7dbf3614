# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A small deployment to convert and run in tests."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from rich.console import Console

from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.convert.convert import convert_deployment
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.report.results import RunReport
from mace.python.tools.run.deployment_run import run_deployment
from mace.python.tools.run.options import RunOptions

Array = npt.NDArray[Any]

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
