# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that converting a model of 100 MB needs little memory and time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from test.conformance.models.light import LIGHT_MODELS, make_light_model

_ROOT = Path(__file__).resolve().parents[2]
_MOST_SECONDS = 10.0
# Peak memory divided by the size of the model file: one mapped copy of the file, the
# interpreter, the packages and the largest weights.
_MOST_MEMORY = 3.0

# Runs the command, then reports its cost. Processor time of all threads is measured,
# because wall time would include other work of the computer. The memory comes from the
# kernel's account of the process, because the result of wait4 includes the memory of
# this process when it starts the child.
_CONVERT = """
import sys, time
from mace.python.tools.cli.main import main
status = main()
print(open("/proc/self/status").read())
print("processor seconds:", time.process_time())
sys.exit(status)
"""


def test_resnet50_converts_within_its_budget(tmp_path: Path) -> None:
    name = "resnet50"
    light, model = LIGHT_MODELS[name], make_light_model(name)
    n, c, h, w = light.input_shape
    config = tmp_path / "resnet50.yml"
    config.write_text(
        f"""library_name: cost
target_abis: [host]
model_graph_format: file
model_data_format: file
models:
  {name}:
    platform: onnx
    model_file_path: {model}
    runtime: cpu
    data_type: fp32_fp32
    subgraphs:
      - input_tensors: {light.input}
        input_shapes: {n},{h},{w},{c}
        output_tensors: {light.output}
        output_shapes: 1,1000
"""
    )
    result = subprocess.run(
        [sys.executable, "-c", _CONVERT, "convert", f"--config={config}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds = float(result.stdout.split("processor seconds:")[1].split()[0])
    peak = int(result.stdout.split("VmHWM:")[1].split()[0]) * 1024
    memory = peak / model.stat().st_size
    print(f"{seconds:.1f} s, {memory:.2f} times the model file")
    assert (tmp_path / "build/cost/model/resnet50.data").stat().st_size > 100e6
    assert seconds <= _MOST_SECONDS
    assert memory <= _MOST_MEMORY
