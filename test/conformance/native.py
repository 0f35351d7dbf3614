# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs an IR graph in the native engine, with `mace_run`, on any ABI.

The programs come from Bazel; a test that needs one says `native("host")`,
which builds it if it is out of date. ARM programs run in qemu.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.bazel import one_build
from mace.python.tools.build_tools import bazel_command
from mace.python.tools.export.export import ExportOptions, InputSignature, export_model
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat, Graph, Op, Value
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, NHWC_TO_NCHW, static
from mace.python.tools.report.placement import placement_of
from test.here import THIS_COMPUTER, only_with_all
from tools.quality.pocl import make_driver, variables

_ROOT = Path(__file__).resolve().parents[2]
_TARGET = "//mace/tools:mace_run"
# How to start a program of an ABI on this computer.
_EMULATORS: dict[str, tuple[str, ...]] = {
    "host": (),
    "arm64": ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),
    "armhf": ("qemu-arm", "-L", "/usr/arm-linux-gnueabihf"),
}
ABIS = ("host",) if THIS_COMPUTER else tuple(_EMULATORS)
# The DSP that every emulator has.
_DSP = "v67"
# Whether tests of networks take those that need minutes, and all versions of DSPs that
# this variable names: the emulator has to know them.
EVERY_DSP = "MACE_TEST_DSP" in os.environ
DSP_VERSIONS = tuple(os.environ.get("MACE_TEST_DSP", _DSP).split())


class NativeError(Exception):
    """mace_run failed; the message is its output."""


@dataclass(frozen=True)
class Native:
    """`mace_run` of one ABI; call it as an executor of conformance cases."""

    command: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    # How weights are written; this class sets inputs and outputs.
    export: ExportOptions = field(default_factory=ExportOptions)
    # An existing folder for the model of one graph and one `export`: the first run
    # writes it, later ones read it, on any device. None: each run writes its own.
    kept: Path | None = None

    def __call__(self, graph: Graph, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Exports `graph` and runs it on `feeds`.

        Images are given and returned in NCHW, the order of the framework.

        Raises:
            NativeError: the engine refused or failed.
        """
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shapes = self._run(folder, graph, feeds)
            return {
                value.name: _read(
                    folder / f"out_{_file_name(value.name)}",
                    value,
                    shapes[value.name],
                )
                for value in graph.outputs
            }

    def kernels(self, graph: Graph, feeds: Mapping[str, Array]) -> dict[str, str]:
        """The kernel that the engine uses for each operator."""
        placement = placement_of(self.report(graph, feeds))
        assert placement is not None
        return {op.name: op.kernel for op in placement.operators}

    def report(
        self, graph: Graph, feeds: Mapping[str, Array], *flags: str
    ) -> dict[str, Any]:
        """What `--report_json` writes of a run."""
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "report.json"
            self._run(Path(name), graph, feeds, f"--report_json={path}", *flags)
            report: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return report

    def _run(
        self, folder: Path, graph: Graph, feeds: Mapping[str, Array], *more: str
    ) -> dict[str, tuple[int, ...]]:
        """Runs a graph on files in `folder`; returns the shapes of its outputs."""
        report = folder / "shapes.json"
        if any(v.producer and _is_late(v.producer) for v in graph.outputs):
            more = (*more, f"--report_json={report}")
        model = self.kept or folder
        if not (model / "model.pb").exists():
            _export(graph, self.export, model)
        formats = {
            name: DataFormat.NCHW if kind is DataFormat.NHWC else DataFormat.NONE
            for name, kind in graph.formats.items()
        }
        for value in graph.inputs:
            path = folder / f"in_{_file_name(value.name)}"
            path.write_bytes(np.ascontiguousarray(feeds[value.name]).tobytes())
        shapes = _output_shapes(graph, feeds, formats)
        _run(
            [
                *self.command,
                *self.arguments,
                f"--model_file={model}/model.pb",
                f"--model_data_file={model}/model.data",
                f"--input_file={folder}/in",
                f"--output_file={folder}/out",
                "--out_of_range_check=false",
                # It would take most of the time, above all in qemu.
                "--measure_capability=false",
                *_border(
                    "input",
                    graph.inputs,
                    {v.name: feeds[v.name].shape for v in graph.inputs},
                    formats,
                ),
                *_border("output", graph.outputs, shapes, formats),
                *more,
            ]
        )
        if report.exists():
            outputs = json.loads(report.read_text("utf-8"))["outputs"]
            return {entry["name"]: tuple(entry["shape"]) for entry in outputs}
        return shapes


def _is_late(op: Op) -> bool:
    """Whether the run determines the shapes of its outputs."""
    return rules_of(op.type).largest_shape


def native(abi: str, *arguments: str) -> Native:
    """The native executor of an ABI; builds it if it is out of date.

    Args:
        abi: one of ABIS.
        arguments: further flags of mace_run.
    """
    require_emulator(abi)
    return Native((*_EMULATORS[abi], str(built(_TARGET, abi))), arguments)


def two_devices(*arguments: str) -> Native:
    """The native executor of this computer where a second device, the APU, takes part.

    It takes every second operator, see test/two_devices.
    """
    program = str(built("//test/two_devices:mace_run"))
    return Native((program,), ("--runtime=apu+cpu", *arguments))


def gpu(*arguments: str) -> Native:
    """The native executor of the GPU runtime, on the OpenCL driver of this computer.

    It takes every operator that it can run, even if the CPU would be faster.
    """
    only_with_all("GPUs")
    make_driver()
    settings = (
        "MACE_OPENCL_PLACE_ALL=1",
        *(f"{name}={value}" for name, value in variables().items()),
    )
    program = str(built("//test/opencl:mace_run"))
    return Native(("env", *settings, program), ("--runtime=gpu+cpu", *arguments))


def dsp(*arguments: str, version: str = _DSP) -> Native:
    """The native executor with an emulated DSP: it takes every operator it has.

    Args:
        arguments: further flags of mace_run.
        version: of the DSP, one of DSP_VERSIONS.
    """
    only_with_all("DSPs")
    name = "skel" if version == _DSP else f"skel_{version}"
    skel = built(f"//mace/kernels/hexagon/executor:{name}")
    program = str(built("//test/hexagon:mace_run"))
    settings = (f"MACE_HEXAGON_SKEL={skel}", f"QEMU_CPU={version}")
    return Native(("env", *settings, program), ("--runtime=dsp+cpu", *arguments))


@functools.cache
def built(target: str, abi: str = "host") -> Path:
    """A copy of the program of a Bazel target; builds it if it is out of date.

    A copy, because Bazel replaces the program where another test of the same time
    builds it with other options; none does before it is copied. For ARM it is static,
    as the tools build it for devices: linking takes 11 s.
    """
    if not has_bazel():
        pytest.skip("bazel is not installed")
    bazel = bazel_command()
    configs = [] if abi == "host" else [f"--config={abi}", "--config=static"]
    listed = subprocess.run(
        bazel.words("cquery", *configs, "--output=starlark",
         "--starlark:expr=target.files.to_list()[0].path", target),
        cwd=_ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    program = _ROOT / listed.stdout.strip().splitlines()[-1]
    copy = Path(_copies().name) / f"{abi}_{target.strip('/').replace('/', '_')}"
    build = bazel.words("build", *configs, target)
    with one_build():
        subprocess.run(build, cwd=_ROOT, check=True, capture_output=True)
        return Path(shutil.copy(program, copy))


@functools.cache
def _copies() -> tempfile.TemporaryDirectory[str]:
    """For the programs of this process."""
    return tempfile.TemporaryDirectory(prefix="mace_programs_")


def has_bazel() -> bool:
    """Whether programs can be built here."""
    return shutil.which(bazel_command().program) is not None


def require_emulator(abi: str) -> None:
    """Skips the test if programs of an ABI cannot be run here."""
    emulator = next(iter(_EMULATORS[abi]), None)
    if emulator is not None:
        only_with_all("other processors")
    if emulator is not None and shutil.which(emulator) is None:
        pytest.skip(f"{emulator} is not installed: tools/setup.sh --for cross")


def _export(graph: Graph, options: ExportOptions, folder: Path) -> None:
    nchw = InputSignature(DataFormat.NCHW)
    options = replace(
        options,
        # The default of a deployment file.
        hints={"winograd": 4, **options.hints},
        inputs={v.name: nchw for v in graph.inputs},
        outputs={v.name: nchw for v in graph.outputs},
    )
    with (folder / "model.data").open("wb") as stream:
        exported = export_model(graph, options, stream)
    (folder / "model.pb").write_bytes(exported.model.SerializeToString())


def _output_shapes(
    graph: Graph, feeds: Mapping[str, Array], formats: Mapping[str, DataFormat]
) -> dict[str, tuple[int, ...]]:
    """Output shapes in the user's order; shapes that depend on the run come from a
    run.
    """
    shapes = {v.name: static(v.shape) for v in graph.outputs}
    if None in shapes.values():
        inner = {
            name: array.transpose(NCHW_TO_NHWC)
            if formats[name] is DataFormat.NCHW
            else array
            for name, array in feeds.items()
        }
        results = run_graph(graph, inner)
        shapes = {v.name: results[v.name].shape for v in graph.outputs}
    return {
        name: tuple(shape[axis] for axis in NHWC_TO_NCHW)
        if formats[name] is DataFormat.NCHW
        else tuple(shape)
        for name, shape in shapes.items()
        if shape is not None
    }


def _border(
    side: str,
    values: Sequence[Value],
    shapes: Mapping[str, tuple[int, ...]],
    formats: Mapping[str, DataFormat],
) -> list[str]:
    def joined(parts: Sequence[str], separator: str = ",") -> str:
        return separator.join(parts)

    texts = [joined([str(d) for d in shapes[v.name]]) or "scalar" for v in values]
    return [
        f"--{side}_node={joined([v.name for v in values])}",
        f"--{side}_shape={joined(texts, ':')}",
        f"--{side}_data_type={joined([v.dtype.value for v in values])}",
        f"--{side}_data_format={joined([formats[v.name].value for v in values])}",
    ]


def _read(path: Path, value: Value, shape: tuple[int, ...]) -> Array:
    dtype: np.dtype[Any] = value.dtype.numpy
    if value.dtype is DataType.BOOL:
        dtype = np.dtype(np.bool_)
    return np.fromfile(path, dtype).reshape(shape)


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "_", name)


def _run(command: Sequence[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise NativeError(
            f"exit status {result.returncode}: {result.stderr or result.stdout}"
        )
