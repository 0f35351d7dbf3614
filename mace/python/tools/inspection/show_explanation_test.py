# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A placement on two devices, as text and as JSON."""

from __future__ import annotations

import json

from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.inspection.show_explanation import (
    explanation_json,
    explanation_text,
)
from mace.python.tools.report.results import ModelRun, RunReport
from mace.python.tools.report.testing import two_devices

_TEXT = """\
m on phone (arm64), runtime cpu+gpu:
  2 operators on gpu, 1 operator on cpu, 2 copies between devices (800 bytes), \
estimated 6.0 us
  memory: intermediate tensors 1.23 MB, weights 0.04 MB
  apu is left out: this build has no APU runtime

#  device  estimated  type        operator  kernel; output
0  gpu        2.0 us  Conv2D      conv      image; float32[1, 100]
      copy of b from gpu to cpu, 400 bytes
1  cpu        2.0 us  Activation  relu      float32[1, 100]
      not on gpu: no <kernel> of rank 5
      copy of c from cpu to gpu, 400 bytes
2  gpu        2.0 us  Eltwise     add       image; float32[1, 100]

n on phone (arm64), runtime cpu: FAILED, the device is gone
"""


def _report() -> RunReport:
    memory = {"arena_bytes": 1_230_000, "constant_bytes": 40_000}
    report = {**two_devices(), "memory": memory}
    run = ModelRun("m", Abi.ARM64, "phone", Runtime.CPU_GPU, report=report)
    lost = ModelRun("n", Abi.ARM64, "phone", Runtime.CPU, failure="the device is gone")
    return RunReport((run, lost))


def test_text_shows_refusals_and_copies_where_they_are() -> None:
    assert explanation_text(_report()) == _TEXT


def test_json_has_everything() -> None:
    data = json.loads(explanation_json("lib", _report()))
    placed, lost = data["runs"]
    assert placed["copies"][0] == {
        "tensor": "b",
        "from": "gpu",
        "to": "cpu",
        "bytes": 400,
        "before_operator": 1,
    }
    refusals = placed["operators"][1]["refusals"]
    assert refusals == [{"device": "gpu", "reason": "no <kernel> of rank 5"}]
    assert placed["operators"][0]["measured_us"] is None
    assert (placed["estimated_us"], placed["measured_us"]) == (6.0, None)
    assert placed["left_out"][0]["device"] == "apu"
    assert lost["failure"] == "the device is gone"
    assert lost["operators"] == []
    assert lost["estimated_us"] is None
    assert placed["memory"] == {
        "arena_bytes": 1_230_000,
        "state_bytes": 0,
        "constant_bytes": 40_000,
        "prepared_bytes": 0,
    }


def test_a_benchmark_names_copies_of_inputs_and_outputs() -> None:
    copy = {"tensor": "x", "is_output": False, "bytes": 48, "reason": "it is NCHW"}
    for copies, line in (
        ([], "  inputs and outputs are used in place"),
        ([copy], "  1 copy of inputs and outputs (48 bytes)"),
    ):
        benchmark = {"ops": [], "border_copies": {"tensors": copies}}
        report = {**two_devices(), "benchmark": benchmark}
        run = ModelRun("m", Abi.ARM64, "phone", Runtime.CPU_GPU, report=report)
        lines = explanation_text(RunReport((run,))).splitlines()
        assert line in lines
        assert ("      input x, 48 bytes: it is NCHW" in lines) == bool(copies)
        told = json.loads(explanation_json("lib", RunReport((run,))))["runs"][0]
        assert told["border_copies"] == copies
