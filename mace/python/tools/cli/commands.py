# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs each command: turns flags into options and calls the command's package.

The package (room) of a command is imported when the command runs, so that `doctor`
and `-h` work even if Python packages are missing.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import os
import shutil
import sys
from typing import TYPE_CHECKING

from mace.python.installation import PACKAGE
from mace.python.tools.bazel_command import needs_checkout
from mace.python.tools.calibrate.options import calibrate_options
from mace.python.tools.check.options import check_options
from mace.python.tools.command_line.options import CommandOptions, read_options
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.convert.options import ConvertOptions, convert_options
from mace.python.tools.errors import MaceError, MissingToolError
from mace.python.tools.explain.options import explain_options
from mace.python.tools.inspection.options import inspect_options
from mace.python.tools.interruption import run_child
from mace.python.tools.run.options import run_options

if TYPE_CHECKING:
    from mace.python.tools.config.deployment import Deployment

_LOG = logging.getLogger(__name__)

_BUILD_SCRIPT = PACKAGE.parent / "tools" / "build-standalone-lib.sh"


def execute(args: argparse.Namespace) -> int:
    """Runs the command of a parsed command line; returns its exit status."""
    handlers = {
        "inspect": inspect,
        "init": init,
        "convert": convert,
        "quantize": quantize,
        "run": run,
        "benchmark": run,
        "explain": explain,
        "check": check,
        "build": build,
        "doctor": doctor,
        "new-op": new_op,
    }
    return handlers[args.command](args)


def inspect(args: argparse.Namespace) -> int:
    """Says what models are."""
    options = inspect_options(args)
    deployment = _load(args, keep_open=True)
    from mace.python.tools.inspection.inspect import inspect_deployment

    inspect_deployment(deployment, options)
    return 0


def init(args: argparse.Namespace) -> int:
    """Writes a deployment file for a model."""
    deployment = _load(args, infer_outputs=True)
    from mace.python.tools.completion.deployment_text import deployment_text

    sys.stdout.write(deployment_text(deployment))
    return 0


def convert(args: argparse.Namespace) -> int:
    """Converts the models of the deployment."""
    options = convert_options(args)
    deployment = _load(args)
    from mace.python.tools.convert.convert import convert_deployment
    from mace.python.tools.convert.quantization import has_calibration
    from mace.python.tools.explain.memory import tell_memory

    if any(has_calibration(model) for model in deployment.models.values()):
        from mace.python.tools.calibrate.command import convert_with_samples

        convert_with_samples(deployment, options)
    else:
        convert_deployment(deployment, options)
    tell_memory(deployment, options)
    if options.input_dir is not None:
        from mace.python.tools.calibrate.statistics import print_ranges

        print_ranges(deployment, options.input_dir, options)
    return 0


def quantize(args: argparse.Namespace) -> int:
    """Converts the models of the deployment to integers by samples."""
    options = calibrate_options(args)
    deployment = _load(args)
    from mace.python.tools.calibrate.command import quantize_deployment
    from mace.python.tools.explain.memory import tell_memory

    quantize_deployment(deployment, options)
    tell_memory(deployment, options)
    return 0


def run(args: argparse.Namespace) -> int:
    """Runs the models; status 1 when a validation fails."""
    if args.command == "benchmark":
        _LOG.info("benchmark is now written: run --benchmark")
    options = run_options(args)
    deployment = _load(args)
    if options.quantize_stat:
        from mace.python.tools.calibrate.statistics import print_ranges
        from mace.python.tools.config.effect import Command, check_effects

        assert options.input_dir is not None
        check_effects(Command.RUN, deployment, options)
        print_ranges(deployment, options.input_dir, options)
        return 0
    from mace.python.tools.run.deployment_run import run_deployment

    report = run_deployment(deployment, options)
    return 0 if report.passed else 1


def explain(args: argparse.Namespace) -> int:
    """Says where the models' operators run; status 1 when a run fails."""
    options = explain_options(args)
    deployment = _load(args)
    from mace.python.tools.explain.explain import explain_deployment

    report = explain_deployment(deployment, options)
    return 0 if report.passed else 1


def check(args: argparse.Namespace) -> int:
    """Says what can be converted; status 1 when a model cannot."""
    options = check_options(args)
    deployment = _load(args)
    from mace.python.tools.check.check import check_deployment

    return 0 if check_deployment(deployment, options) else 1


def build(args: argparse.Namespace) -> int:
    """Builds the library, converts the models and packs both, as a command of the
    first versions did.
    """
    needs_checkout("building libmace")
    _LOG.info(
        "build is now two commands: converter.py convert %s, then "
        "bash tools/build-standalone-lib.sh; doing both",
        args.config or args.files[0],
    )
    given = read_options(CommandOptions, args)
    options = ConvertOptions(**dataclasses.asdict(given))
    deployment = _load(args)
    # If the library cannot be built, the conversion must still succeed.
    _build_library(deployment, args, "-check")
    from mace.python.tools.convert.convert import convert_deployment
    from mace.python.tools.convert.package import write_package

    convert_deployment(deployment, options)
    _build_library(deployment, args)
    built = _BUILD_SCRIPT.parents[1] / "build"
    runtimes = _runtimes(deployment).replace(",", "_")
    package = write_package(deployment, options.build_dir, built, runtimes)
    _LOG.info("package: %s", package)
    return 0


def doctor(args: argparse.Namespace) -> int:
    """Says what is missing on this computer."""
    from mace.python.tools import doctor as room

    return room.run(args)


def new_op(args: argparse.Namespace) -> int:
    """Writes the files of a new operator."""
    needs_checkout("adding an operator")
    from mace.python.tools import new_op as room

    return room.run(args)


def _load(
    args: argparse.Namespace, keep_open: bool = False, infer_outputs: bool = False
) -> Deployment:
    from mace.python.tools.catalogue import use_operators
    from mace.python.tools.completion.complete import Completion
    from mace.python.tools.completion.model_files import deployment_of
    from mace.python.tools.config.custom_ops import folders_of
    from mace.python.tools.config.deployment import Deployment
    from mace.python.tools.config.keys import keys_of
    from mace.python.tools.config.load import deployment_of_tree, load_deployment

    names = [key.name for key in keys_of(Deployment).values() if key.replaceable]
    given = {name: getattr(args, name) for name in names}
    replaced = {name: text for name, text in given.items() if text is not None}
    completion = Completion(args.dims, keep_open, infer_outputs=infer_outputs)
    if args.files:
        tree = deployment_of([os.fspath(path) for path in args.files])
        deployment = deployment_of_tree(args.files[0], tree, replaced, completion)
    else:
        deployment = load_deployment(args.config, replaced, complete=completion)
    use_operators(folders_of(deployment.custom_ops))
    return deployment


def _runtimes(deployment: Deployment) -> str:
    """Those of the deployment's models."""
    parts = [part for m in deployment.models.values() for part in m.subgraphs]
    wanted = {device for part in parts for device in part.runtime.devices}
    others = (device for device in (Runtime.GPU, Runtime.DSP) if device in wanted)
    return ",".join(device.value for device in (Runtime.CPU, *others))


def _build_library(
    deployment: Deployment, args: argparse.Namespace, *more: str
) -> None:
    """Builds libmace for the deployment's ABIs, with the runtimes of its models."""
    bash = shutil.which("bash")
    if bash is None:
        raise MissingToolError("bash", "building the library", "apt install bash")
    abis = ",".join(abi.value for abi in deployment.target_abis)
    script = os.fspath(_BUILD_SCRIPT)
    runtimes = _runtimes(deployment)
    command = [bash, script, "-abi", abis, "-runtimes", runtimes, *more]
    if args.debug_mode:
        command.append("-debug")
    if args.address_sanitizer:
        command.append("-asan")
    if run_child(command, PACKAGE.parent).returncode != 0:
        raise MaceError(
            f"{_BUILD_SCRIPT.name} -abi {abis} failed, see its output above"
        )
