# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs each command: turns flags into options and calls the command's package.

The package (room) of a command is imported when the command runs, so that `doctor`
and `-h` work even if Python packages are missing, and that no command waits for the
rooms of others.
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
from mace.python.tools.build_tools import needs_checkout
from mace.python.tools.command_line.options import CommandOptions, read_options
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.convert.options import ConvertOptions, convert_options
from mace.python.tools.errors import MaceError, MissingToolError
from mace.python.tools.interruption import run_child

if TYPE_CHECKING:
    from mace.python.tools.config.deployment import Deployment
    from mace.python.tools.load.deployments import Loaded
    from mace.python.tools.run.options import RunOptions

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
    from mace.python.tools.inspection.options import inspect_options

    options = inspect_options(args)
    from mace.python.tools.inspection.inspect import are_converted, inspect_converted

    if are_converted(args.files):
        inspect_converted(args.files, options)
        return 0
    loaded = _load(args, keep_open=True)
    from mace.python.tools.inspection.inspect import inspect_deployment

    inspect_deployment(loaded.deployment, options, opened=loaded.opened)
    return 0


def init(args: argparse.Namespace) -> int:
    """Writes a deployment file for a model."""
    loaded = _load(args)
    from mace.python.tools.load.inferred import deployment_text, with_inferred_outputs

    sys.stdout.write(deployment_text(with_inferred_outputs(loaded)))
    return 0


def convert(args: argparse.Namespace) -> int:
    """Converts the models of the deployment."""
    options = convert_options(args)
    loaded = _load(args)
    deployment, opened = loaded.deployment, loaded.opened
    from mace.python.tools.convert.convert import convert_deployment
    from mace.python.tools.convert.quantization import has_calibration

    if any(has_calibration(model) for model in deployment.models.values()):
        from mace.python.tools.calibrate.command import convert_with_samples

        convert_with_samples(deployment, options, opened=opened)
    else:
        convert_deployment(deployment, options, opened)
    if options.input_dir is not None:
        from mace.python.tools.calibrate.samples import print_ranges

        print_ranges(deployment, options.input_dir, options, opened=opened)
    return 0


def quantize(args: argparse.Namespace) -> int:
    """Converts the models of the deployment to integers by samples."""
    from mace.python.tools.calibrate.options import calibrate_options

    options = calibrate_options(args)
    loaded = _load(args)
    from mace.python.tools.calibrate.command import quantize_deployment

    quantize_deployment(loaded.deployment, options, loaded.opened)
    return 0


def run(args: argparse.Namespace) -> int:
    """Runs the models; status 1 when a validation fails."""
    if args.command == "benchmark":
        _LOG.info("benchmark is now written: run --benchmark")
    from mace.python.tools.run.options import run_options

    options = run_options(args)
    loaded = _load(args)
    deployment, opened = loaded.deployment, loaded.opened
    if options.quantize_stat:
        from mace.python.tools.calibrate.samples import print_ranges
        from mace.python.tools.config.effect import Command, check_effects

        assert options.input_dir is not None
        check_effects(Command.RUN, deployment, options)
        print_ranges(deployment, options.input_dir, options, opened=opened)
        return 0
    from mace.python.tools.run.deployment_run import run_deployment

    report = run_deployment(deployment, options, opened=opened)
    return 0 if report.passed else 1


def explain(args: argparse.Namespace) -> int:
    """Says where the models' operators run; status 1 when a run fails."""
    from mace.python.tools.inspection.options import explain_options

    options = explain_options(args)
    loaded = _load(args)
    from mace.python.tools.inspection.explain import explain_deployment

    report = explain_deployment(loaded.deployment, options, opened=loaded.opened)
    return 0 if report.passed else 1


def check(args: argparse.Namespace) -> int:
    """Says what can be converted; status 1 when a model cannot."""
    from mace.python.tools.inspection.options import check_options

    options = check_options(args)
    loaded = _load(args)
    from mace.python.tools.inspection.check import check_deployment

    passed = check_deployment(loaded.deployment, options, opened=loaded.opened)
    return 0 if passed else 1


def build(args: argparse.Namespace) -> int:
    """Converts the models, tunes them on devices if asked to, builds the library and
    packs all of it, as a command of the first versions did.
    """
    from mace.python.tools.run.options import BuildOptions, RunOptions

    needs_checkout("building libmace")
    _LOG.info(
        "build is now two commands: converter.py convert %s, then "
        "bash tools/build-standalone-lib.sh; doing both",
        args.config or args.files[0],
    )
    given = read_options(BuildOptions, args)
    common = {
        item.name: getattr(given, item.name)
        for item in dataclasses.fields(CommandOptions)
    }
    options = ConvertOptions(**common)
    loaded = _load(args)
    deployment = loaded.deployment
    # If the library cannot be built, the conversion must still succeed.
    _build_library(deployment, args, "-check")
    from mace.python.tools.convert.convert import convert_deployment
    from mace.python.tools.convert.package import write_package

    convert_deployment(deployment, options, loaded.opened)
    if given.tuning:
        _tune(loaded, RunOptions(**common, tuning=True))
    _build_library(deployment, args)
    built = _BUILD_SCRIPT.parents[1] / "build"
    runtimes = _runtimes(deployment).replace(",", "_")
    package = write_package(deployment, options.build_dir, built, runtimes)
    _LOG.info("package: %s", package)
    return 0


def _tune(loaded: Loaded, options: RunOptions) -> None:
    """Tunes the models for the GPUs of the deployment's devices.

    Raises:
        MaceError: a run failed.
    """
    if Runtime.GPU.value not in _runtimes(loaded.deployment).split(","):
        _LOG.warning(
            "--tuning has no effect: no model of %s has a runtime with gpu",
            loaded.deployment.library_name,
        )
        return
    from mace.python.tools.run.deployment_run import run_deployment

    if not run_deployment(loaded.deployment, options, opened=loaded.opened).passed:
        raise MaceError(
            "--tuning failed: a model did not run on a device, see above; without "
            "--tuning, build converts and packs it all the same"
        )


def doctor(args: argparse.Namespace) -> int:
    """Says what is missing on this computer."""
    from mace.python.tools import doctor as room

    return room.run(args)


def new_op(args: argparse.Namespace) -> int:
    """Writes the files of a new operator."""
    needs_checkout("adding an operator")
    from mace.python.tools import new_op as room

    return room.run(args)


def _load(args: argparse.Namespace, keep_open: bool = False) -> Loaded:
    from mace.python.tools.config.deployment import Deployment
    from mace.python.tools.config.keys import keys_of
    from mace.python.tools.load.complete import Completion
    from mace.python.tools.load.deployments import of_config, of_files

    names = [key.name for key in keys_of(Deployment).values() if key.replaceable]
    given = {name: getattr(args, name) for name in names}
    replaced = {name: text for name, text in given.items() if text is not None}
    completion = Completion(args.dims, keep_open, constants=args.set)
    if args.files:
        files = [os.fspath(path) for path in args.files]
        return of_files(files, completion, replaced)
    return of_config(args.config, completion, replaced)


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
