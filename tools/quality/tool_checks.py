# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that well-kept programs make: ruff, mypy, clang-format and others."""

from __future__ import annotations

import re
from collections import Counter

from tools.quality.model import (
    Check,
    Context,
    Outcome,
    Status,
    find_program,
    from_findings,
    missing,
    run_program,
)

CPP_SUFFIXES = (".c", ".cc", ".h")
_FORMAT_FINDING = re.compile(r"^(\S+?):\d+:\d+: \w+: code should be clang-formatted")


def _outcome(status: int, output: str, checked: int) -> Outcome:
    if status == 0:
        return Outcome(Status.PASSED, f"{checked} files")
    return Outcome(Status.FAILED, "see above", output.rstrip().splitlines())


def _ruff(context: Context) -> Outcome:
    program = find_program("ruff")
    if program is None:
        return missing("ruff")
    command = [program, "check", "--quiet", "--output-format=concise"]
    if context.fix:
        command.append("--fix")
    status, output = run_program([*command, "."], context.root)
    return _outcome(status, output, len(context.with_suffix(".py")))


def _ruff_format(context: Context) -> Outcome:
    program = find_program("ruff")
    if program is None:
        return missing("ruff")
    command = [program, "format", "--quiet"]
    if not context.fix:
        command += ["--check", "--output-format=concise"]
    status, output = run_program([*command, "."], context.root)
    return _outcome(status, output, len(context.with_suffix(".py")))


def _mypy(context: Context) -> Outcome:
    program = find_program("mypy")
    if program is None:
        return missing("mypy")
    command = [
        program,
        "--no-error-summary",
        "mace/java",
        "mace/ops",
        "mace/python",
        "setup",
        "test/docs",
        "tools/quality",
    ]
    status, output = run_program(command, context.root)
    return _outcome(status, output, len(context.with_suffix(".py")))


def _clang_format(context: Context) -> Outcome:
    program = find_program("clang-format-19")
    if program is None:
        return missing("clang-format-19")
    files = [str(file) for file in context.with_suffix(*CPP_SUFFIXES, ".java")]
    if not files:
        return Outcome(Status.PASSED, "0 files")
    if context.fix:
        status, output = run_program([program, "-i", *files], context.root)
        return _outcome(status, output, len(files))
    status, output = run_program([program, "--dry-run", *files], context.root)
    if status:
        return _outcome(status, output, len(files))
    places = (_FORMAT_FINDING.match(line) for line in output.splitlines())
    counts = Counter(place[1] for place in places if place)
    return from_findings(
        [f"{file}: {count} places (--fix)" for file, count in counts.items()],
        len(files),
    )


def _shellcheck(context: Context) -> Outcome:
    files = context.with_suffix(".sh")
    files += [file for file in context.files if str(file) == ".ci/run"]
    program = find_program("shellcheck")
    if program is None:
        return missing("shellcheck")
    command = [program, "--format=gcc", *map(str, files)]
    status, output = run_program(command, context.root)
    return _outcome(status, output, len(files))


def _hadolint(context: Context) -> Outcome:
    files = context.with_suffix("Dockerfile")
    program = find_program("hadolint")
    if program is None:
        return missing("hadolint")
    command = [program, "--no-color", *map(str, files)]
    status, output = run_program(command, context.root)
    return _outcome(status, output, len(files))


CHECKS = (
    Check("ruff", "Python: likely mistakes", _ruff),
    Check("ruff-format", "Python: form", _ruff_format),
    Check("mypy", "Python: types, strict", _mypy),
    Check("clang-format", "C++ and Java: form", _clang_format),
    Check("shellcheck", "shell scripts", _shellcheck),
    Check("hadolint", "Dockerfiles", _hadolint),
)
