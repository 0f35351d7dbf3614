# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What each command does: options from flags, then the room's entry point.

Rooms are imported when their command runs, so that `doctor` and `-h` work
where packages are missing.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from mace.python.tools.cli.options import (
    AcceleratorOptions,
    ConvertOptions,
    LayerRange,
    QuantizeStatOptions,
    RunOptions,
)
from mace.python.tools.errors import MaceError, MissingToolError, UsageError
from mace.python.tools.interruption import run_child

if TYPE_CHECKING:
    from mace.python.tools.config import Deployment

_LOG = logging.getLogger(__name__)

_ROOT = Path(__file__).resolve().parents[4]
_BUILD_SCRIPT = _ROOT / "tools" / "build-standalone-lib.sh"


def execute(args: argparse.Namespace) -> int:
    """Runs the command of a parsed command line; returns its exit status."""
    handlers = {
        "convert": convert,
        "run": run,
        "benchmark": run,
        "build": build,
        "doctor": doctor,
    }
    return handlers[args.command](args)


def convert(args: argparse.Namespace) -> int:
    """Converts the models of the deployment."""
    options = convert_options(args)
    deployment = _load(args)
    from mace.python.tools.convert import convert_deployment

    convert_deployment(deployment, options)
    return 0


def run(args: argparse.Namespace) -> int:
    """Runs the models; status 1 when a validation fails."""
    if args.command == "benchmark":
        _LOG.info("benchmark is now written: run --benchmark")
    options = run_options(args)
    deployment = _load(args)
    from mace.python.tools.run import run_deployment

    report = run_deployment(deployment, options)
    return 0 if report.passed else 1


def build(args: argparse.Namespace) -> int:
    """The library and the models, as the first versions built them in one."""
    _LOG.info(
        "build is now two commands: converter.py convert --config=%s, then "
        "bash tools/build-standalone-lib.sh; doing both",
        args.config,
    )
    options = ConvertOptions(
        build_dir=args.build_dir,
        debug_mode=args.debug_mode,
        address_sanitizer=args.address_sanitizer,
        vlog_level=args.vlog_level,
    )
    deployment = _load(args)
    # A library that cannot be built shall not cost a conversion.
    _build_library(deployment, args, "-check")
    from mace.python.tools.convert import convert_deployment

    convert_deployment(deployment, options)
    _build_library(deployment, args)
    return 0


def doctor(args: argparse.Namespace) -> int:
    """Says what is missing on this computer."""
    from mace.python.tools import doctor as room

    return room.run(args)


def convert_options(args: argparse.Namespace) -> ConvertOptions:
    """The options a `convert` command line asks for."""
    return ConvertOptions(
        build_dir=args.build_dir,
        quantize_stat=_quantize_stat(args),
        input_dir=args.input_dir,
        dump_passes_dir=args.dump_passes_dir,
        enable_micro=args.enable_micro,
        cl_binary_to_code=args.cl_binary_to_code,
        debug_mode=args.debug_mode,
        address_sanitizer=args.address_sanitizer,
        vlog_level=args.vlog_level,
    )


def run_options(args: argparse.Namespace) -> RunOptions:
    """The options a `run` or `benchmark` command line asks for."""
    validate, layers = args.validate, args.layers
    if getattr(args, "validate_all_layers", False):
        validate, layers = True, LayerRange()
    if layers is not None and not validate:
        raise UsageError("--layers needs --validate: there is nothing to compare with")
    if args.device_yml is not None and not args.device_yml.is_file():
        raise UsageError(f"--device_yml={args.device_yml}: no such file")
    # Flags that are fields of the same name.
    same = {
        field.name: getattr(args, field.name)
        for field in dataclasses.fields(RunOptions)
        if hasattr(args, field.name)
    }
    same.update(
        validate=validate,
        layers=layers,
        quantize_stat=_quantize_stat(args),
        report=args.report or args.report_dir is not None,
        accelerator=AcceleratorOptions(
            cache_policy=args.accelerator_cache_policy,
            binary_file=args.accelerator_binary_file,
            storage_file=args.accelerator_storage_file,
            apu_boost_hint=args.apu_boost_hint,
            apu_preference_hint=args.apu_preference_hint,
            use_system_libhexagon_nn=args.use_system_libhexagon_nn,
        ),
    )
    return RunOptions(**same)


def _quantize_stat(args: argparse.Namespace) -> QuantizeStatOptions | None:
    folder = args.input_dir
    if folder is not None and not folder.is_dir():
        raise UsageError(f"--input_dir={folder}: no such folder")
    if not args.quantize_stat:
        return None
    if folder is None:
        raise UsageError("--quantize_stat needs --input_dir=DIR, the sample inputs")
    return QuantizeStatOptions(input_dir=folder)


def _load(args: argparse.Namespace) -> Deployment:
    from mace.python.tools.config import Overrides, load_deployment

    overrides = Overrides(
        target_abis=args.target_abis,
        target_socs=args.target_socs,
        model_graph_format=args.model_graph_format,
        model_data_format=args.model_data_format,
    )
    return load_deployment(args.config, overrides)


def _build_library(
    deployment: Deployment, args: argparse.Namespace, *more: str
) -> None:
    """Builds libmace for the deployment's ABIs, with all runtimes there are."""
    bash = shutil.which("bash")
    if bash is None:
        raise MissingToolError("bash", "building the library", "apt install bash")
    abis = ",".join(abi.value for abi in deployment.target_abis)
    command = [bash, os.fspath(_BUILD_SCRIPT), "-abi", abis, *more]
    if args.debug_mode:
        command.append("-debug")
    if args.address_sanitizer:
        command.append("-asan")
    if run_child(command, _ROOT).returncode != 0:
        raise MaceError(
            f"{_BUILD_SCRIPT.name} -abi {abis} failed, see its output above"
        )
