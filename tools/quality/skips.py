# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that said they could not run, and those of which that is expected.

A test that is skipped because a program is missing shows nothing. Where the
whole of the tests has to hold, as in continuous integration, only the skips that
are listed here are let pass.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import List, Tuple
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree


@dataclass(frozen=True)
class Skip:
    """Tests that were skipped together.

    Attributes:
        place: the file of the test, Bazel's label, that and the test's name, or
            what a script named.
        reason: its own words; Bazel has none.
        count: how many.
    """

    place: str
    reason: str = ""
    count: int = 1

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.place, self.reason)))


@dataclass(frozen=True)
class Expected:
    """A skip that is no gap.

    Attributes:
        steps: where it happens.
        place: as in Skip; "*" is any text.
        reason: likewise.
        why: what makes up for it.
    """

    steps: Tuple[str, ...]
    place: str
    reason: str
    why: str


EXPECTED = (
    Expected(
        ("host", "sanitize"),
        "//mace/kernels/cpu:isa_test InstructionSet.*",
        "this CPU has no *",
        "nothing to install; the best that the CPU has, and all below it, is tested, "
        "and the source for AMX on emulated tiles (amx_emulated in isa.bzl)",
    ),
    Expected(
        ("host", "base-arm64", "armhf", "sanitize"),
        "//mace/ops/testing:all_ops_test AllOpsTest.GiveTheSameInFloat16",
        "no arithmetic in fp16 on this CPU",
        "no kernel of these CPUs uses it; the test runs on 64-bit ARM",
    ),
    Expected(
        ("host", "arm64", "base-arm64", "armhf", "sanitize"),
        "//mace/ops/testing:all_ops_test AllOpsTest.GiveTheSameInBfloat16",
        "no arithmetic in bf16 on this CPU",
        "no kernel of these CPUs uses it; the test runs on x86-64 with bf16",
    ),
    Expected(
        ("base-arm64", "armhf", "sanitize"),
        "//mace/ops/testing:all_ops_test AllOpsTest.InstructionSetsAgreeOnRandomCases",
        "one instruction set is all that this CPU has",
        "32-bit ARM has no other, and sanitizers get one alone; those of 64-bit ARM "
        "are compared in the step arm64, those of x86-64 in the step host",
    ),
    Expected(
        ("base-arm64",),
        "//mace/kernels/cpu:isa_test InstructionSet.neon_*",
        "this CPU has no *",
        "the step is about a core without; the step arm64 has it",
    ),
    Expected(
        ("sanitize",),
        "//mace/ops/testing:op_runner_test OpRunnerTest.*",
        "AddressSanitizer ends the program at the *",
        "the test runs in the other steps",
    ),
    Expected(
        ("tsan",),
        "//mace/runtimes/cpu:fork_test */ForkTest.*",
        "the thread sanitizer allows no threads after a fork",
        "the tests run in the other steps",
    ),
    Expected(
        ("arm64", "armhf"),
        "//mace/runtimes/cpu:fork_test */ForkTest.*",
        "the emulator allows no threads after a fork",
        "the tests run in the other steps",
    ),
    Expected(
        ("host", "arm64", "base-arm64", "armhf"),
        "//mace/kernels/cpu*:*_isa_symbols_test",
        "",
        "of extensions that no CPU of this family has (isa.bzl says which); the step "
        "of the family that has it runs the test",
    ),
    Expected(
        ("arm64", "base-arm64", "armhf"),
        "//mace/kernels/cpu/gemm:*_encoding_test",
        "",
        "of instructions of x86-64; the step host runs the tests",
    ),
    Expected(
        ("arm64", "base-arm64", "armhf"),
        "//mace/kernels/cpu/dwconv:pair_groups_test",
        "",
        "of kernels with bf16 products, which no ARM code of this library has; the "
        "step host runs the test",
    ),
    Expected(
        ("host", "arm64", "armhf", "sanitize", "tsan"),
        "//mace/*/hexagon*",
        "",
        "runs on the DSP, in the step hexagon",
    ),
    Expected(
        ("commands", "lowest", "networks", "python"),
        "*",
        "left out: *",
        "about other processors and devices, or large; with --all they run",
    ),
    Expected(
        ("android",),
        "test/android_ndk/ndk_test.py",
        "64-bit ARM has one way",
        "to pass floats; the test runs for the other ABI",
    ),
    Expected(
        ("android",),
        "test/android_ndk/ndk_test.py",
        "the archive is made of all operators",
        "which are built for 64 bits alone",
    ),
    Expected(
        ("devices",),
        "test/devices/faults_test.py",
        "a phone asks on its screen; see the next test",
        "the test runs for the board",
    ),
    Expected(
        ("python",),
        "mace/python/tools/devices/remote_test.py",
        "this one runs both",
        "ABIs; the test runs for the devices that run one",
    ),
    Expected(
        ("networks", "python"),
        "test/conformance/onnx/isas_test.py",
        "this CPU has no *",
        "nothing to install; the best that the CPU has, and all below it, is tested",
    ),
    Expected(
        ("python",),
        "test/device_farm/binfmt_test.py",
        "a namespace has no binfmt_misc of its own before Linux 6.7",
        "there all devices start their programs the way that this test is about",
    ),
    Expected(
        ("python",),
        "mace/python/tools/fetch_test.py",
        "root may read every file",
        "the test runs wherever a plain user runs the tests",
    ),
    Expected(
        ("lowest", "networks", "python"),
        "test/conformance/pytorch/recorded_test.py",
        "PyTorch is not installed",
        "its results are recorded; the other tests of the file compare with them",
    ),
    Expected(
        ("importers",),
        "mace/python/tools/importers/frame/constants_test.py",
        "PyTorch is not installed",
        "the test before it reads a program of the same kind that is written by hand",
    ),
    Expected(
        ("python",),
        "mace/python/tools/validate/frameworks/torch_program_test.py",
        "it is the reference here",
        "PyTorch is not installed for the tests; recorded_test.py compares with what "
        "it computed",
    ),
    Expected(
        ("python",),
        "mace/python/tools/devices/lock_test.py",
        "only root can be two users",
        "the test runs wherever root runs the tests",
    ),
)

_PYTEST = re.compile(r"^SKIPPED \[(\d+)\] (.+?)(?::\d+)?: (.*)$", re.MULTILINE)
_BAZEL = re.compile(r"^(//\S+) +SKIPPED\b", re.MULTILINE)
_SCRIPT = re.compile(r"^skipped (.+?): (.*)$", re.MULTILINE)


def find_skips(output: str) -> List[Skip]:
    """The skips that pytest (with -ra), Bazel and our scripts report."""
    skips = [Skip(place, why, int(n)) for n, place, why in _PYTEST.findall(output)]
    skips += [Skip(label) for label in _BAZEL.findall(output)]
    return skips + [Skip(place, why) for place, why in _SCRIPT.findall(output)]


def find_native_skips(events: Path) -> List[Skip]:
    """The skips inside of test programs with googletest, of which Bazel says nothing.

    Args:
        events: what Bazel wrote to --build_event_json_file; programs that ran
            before and whose result was kept are in it, too.
    """
    skips = []
    for line in events.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        label = event["id"].get("testResult", {}).get("label", "")
        for file in event.get("testResult", {}).get("testActionOutput", ()):
            if file["name"] == "test.xml":
                path = Path(unquote(urlparse(file["uri"]).path))
                skips += _skips_of_program(label, path)
    return skips


def _skips_of_program(label: str, report: Path) -> List[Skip]:
    # What was killed leaves half a report, and is a failure anyway.
    try:
        cases = ElementTree.parse(report).iter("testcase")
    except (OSError, ElementTree.ParseError):
        return []
    skips = []
    for case in cases:
        for skipped in case.iter("skipped"):
            name = f"{case.get('classname')}.{case.get('name')}"
            # "file:line", then the test's own words.
            reason = skipped.get("message", "").partition("\n")[2].strip()
            skips.append(Skip(f"{label} {name}", reason))
    return skips


def is_expected(step: str, skip: Skip) -> bool:
    """Whether a skip in a step is one of those listed."""
    return any(
        step in known.steps
        and fnmatchcase(skip.place, known.place)
        and fnmatchcase(skip.reason, known.reason)
        for known in EXPECTED
    )
