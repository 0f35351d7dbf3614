# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of `tools/converter.py` and their flags."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mace.python.tools.cli import flags
from mace.python.tools.cli.options import (
    DEFAULT_BUILD_DIR,
    CpuAffinityPolicy,
    GpuHint,
)
from mace.python.tools.errors import UsageError
from mace.python.tools.wording import listed, nearest

PROGRAM = "converter.py"

COMMANDS = {
    "convert": "convert the models of a deployment file",
    "run": "run, validate or benchmark converted models",
    "benchmark": "earlier form of: run --benchmark",
    "build": "earlier form of: convert, then tools/build-standalone-lib.sh",
    "doctor": "say what this computer lacks for a task",
}

_EXAMPLES = """\
examples:
  python tools/converter.py convert --config=model.yml
  python tools/converter.py run --config=model.yml --validate
  python tools/converter.py run --config=model.yml --benchmark --num_threads=4
  python tools/converter.py run --config=model.yml --device_yml=boards.yml
  python tools/converter.py doctor --for run

Booleans are written --flag, --flag=true or --flag=false.
The keys of deployment files are in docs/user/deployment_file.md.
"""


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parses a command line.

    Returns:
        the flags' values, with `command` and `old_spelling_notes`.

    Raises:
        UsageError: naming every unknown flag and the nearest known one.
        SystemExit: after printing the help that was asked for.
    """
    _check_command(argv)
    parser, commands = _make_parser(argv[0])
    namespace, rest = parser.parse_known_args(list(argv))
    if rest:
        raise UsageError(_unknown_flags(commands[namespace.command], rest))
    if not hasattr(namespace, flags.NOTES_DEST):
        setattr(namespace, flags.NOTES_DEST, ())
    return namespace


def full_help() -> str:
    """What ``converter.py -h`` prints."""
    return _make_parser("")[0].format_help()


def _check_command(argv: Sequence[str]) -> None:
    names = listed(COMMANDS)
    if not argv:
        raise UsageError(
            f"{PROGRAM} needs a command: {names} (see {PROGRAM} -h for what each does)"
        )
    word = argv[0]
    if word in COMMANDS or word in ("-h", "--help"):
        return
    if word.startswith("-"):
        raise UsageError(
            f"found {word} where a command is needed; accepted: {names}, then its flags"
        )
    near = nearest(word, COMMANDS)
    hint = f"; did you mean {near}?" if near else ""
    raise UsageError(f"unknown command {word!r}; accepted: {names}{hint}")


def _unknown_flags(parser: argparse.ArgumentParser, rest: Sequence[str]) -> str:
    known = [
        option
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--")
    ]
    parts: list[str] = []
    for word in rest:
        if not word.startswith("-"):
            # The value of an unknown flag, or a stray word.
            if not parts:
                parts.append(f"unexpected argument {word!r}")
            continue
        flag = word.split("=")[0]
        near = nearest(flag.replace("-", "_"), [k.replace("-", "_") for k in known])
        hint = f"; did you mean --{near[2:]}?" if near else ""
        parts.append(f"unknown flag {flag}{hint}")
    return f"{parser.prog}: {'. '.join(parts)} (see {parser.prog} -h)"


def _make_parser(
    command: str,
) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser, with the flags of `command` filled in."""
    parser = flags.FlagParser(
        prog=PROGRAM,
        description="Convert models to MACE, run them on this computer, phones and "
        "boards, and compare them with the framework they come from.",
        epilog=_EXAMPLES,
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    builders = {
        "convert": _add_convert,
        "run": _add_run,
        "benchmark": _add_benchmark,
        "build": _add_build,
        "doctor": _add_doctor,
    }
    commands: dict[str, argparse.ArgumentParser] = {}
    for name, text in COMMANDS.items():
        sub = subparsers.add_parser(name, help=text, description=_sentence(text))
        commands[name] = sub
        if name == command:
            builders[name](sub)
    return parser, commands


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    # Imported here: the doctor must work when other rooms cannot be imported.
    from mace.python.tools import doctor

    doctor.add_arguments(parser)
    _add_logging(parser)


def _add_logging(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("messages")
    flags.add_switch(group, "--verbose", "tell each step")
    group.add_argument(
        "--vlog_level",
        type=flags.integer(0, 5),
        default=0,
        metavar="0..5",
        help="detail of the library's own log (default 0); above 0 implies --verbose",
    )


def _add_deployment(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("deployment")
    group.add_argument(
        "--config",
        required=True,
        type=flags.path,
        metavar="FILE",
        help="the deployment file (YAML)",
    )
    for key, text in (
        ("target_abis", "such as host,arm64-v8a"),
        ("target_socs", "such as sdm845,rk3399, or all"),
        ("model_graph_format", "file or code"),
        ("model_data_format", "file or code"),
    ):
        group.add_argument(
            f"--{key}", metavar="VALUE", help=f"replaces {key} of the file: {text}"
        )
    group.add_argument(
        "--build_dir",
        type=flags.path,
        default=DEFAULT_BUILD_DIR,
        metavar="DIR",
        help="root of all output (default build); models go to "
        "DIR/<library_name>/model",
    )
    flags.add_switch(group, "--debug_mode", "build and use programs with symbols")
    flags.add_switch(
        group, "--address_sanitizer", "build and use programs with AddressSanitizer"
    )


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Writes <build_dir>/<library_name>/model/<model>.pb and .data."
    _add_deployment(parser)
    group = parser.add_argument_group("conversion")
    group.add_argument(
        "--output_dir",
        dest="build_dir",
        type=flags.path,
        default=argparse.SUPPRESS,
        metavar="DIR",
        help="the same as --build_dir",
    )
    _add_quantize_stat(group)
    group.add_argument(
        "--dump_passes",
        dest="dump_passes_dir",
        type=flags.path,
        metavar="DIR",
        help="write the graph after every pass into DIR",
    )
    flags.add_switch(group, "--enable_micro", "also make the microcontroller form")
    flags.add_switch(
        group, "--cl_binary_to_code", "also write OpenCL binaries as C++ code"
    )
    _add_logging(parser)


def _add_quantize_stat(group: argparse._ActionsContainer) -> None:
    flags.add_switch(
        group,
        "--quantize_stat",
        "log the range of every tensor over the samples in --input_dir, on the host",
    )
    group.add_argument(
        "--input_dir", type=flags.path, metavar="DIR", help="sample inputs"
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Needs the output of: converter.py convert --config=FILE"
    _add_deployment(parser)
    group = parser.add_argument_group("run")
    _add_benchmark_switch(group)
    group.add_argument(
        "--round",
        type=flags.integer(1),
        default=1,
        metavar="N",
        help="how often to run the model (default 1)",
    )
    group.add_argument(
        "--restart_round",
        type=flags.integer(1),
        default=1,
        metavar="N",
        help="how often to start the whole process anew (default 1)",
    )
    _add_quantize_stat(group)
    group.add_argument(
        "--output_dir",
        type=flags.path,
        metavar="DIR",
        help="keep the outputs of the run in DIR",
    )
    flags.add_switch(group, "--report", "write JSON and HTML reports")
    group.add_argument(
        "--report_dir",
        type=flags.path,
        metavar="DIR",
        help="where reports go (default: beside the model); implies --report",
    )
    group.add_argument(
        "--runtime_failure_ratio",
        type=flags.ratio,
        default=0.0,
        metavar="0..1",
        help="share of runs that fail on purpose, to test recovery (default 0)",
    )
    group.add_argument(
        "--mace_lib_type",
        choices=("static", "dynamic"),
        default="static",
        help="library that mace_run links (default static)",
    )
    _add_validation(parser)
    _add_devices(parser)
    _add_cpu(parser)
    _add_gpu(parser)
    _add_accelerator(parser)
    _add_old_run_flags(parser)
    _add_logging(parser)


def _add_benchmark_switch(group: argparse._ActionsContainer) -> None:
    flags.add_switch(group, "--benchmark", "measure every operator")


def _add_benchmark(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    parser.set_defaults(benchmark=True)


def _add_validation(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("validation")
    flags.add_switch(
        group, "--validate", "compare with the framework the model comes from"
    )
    group.add_argument(
        "--layers",
        type=flags.layer_range,
        metavar="START:END",
        help="with --validate: compare these layers too, counted as Python slices "
        "(: for all); the result is in log.csv",
    )
    group.add_argument(
        "--caffe_env",
        choices=("docker", "local"),
        default="docker",
        help="where Caffe runs (default docker)",
    )


def _add_devices(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("devices")
    group.add_argument(
        "--device_yml",
        type=flags.path,
        metavar="FILE",
        help="boards to reach by ssh (default: devices.yml in the working directory)",
    )
    group.add_argument(
        "--devices_to_run",
        type=flags.words,
        default=(),
        metavar="NAME[,NAME]",
        help="only these devices, by name or serial number",
    )


def _add_cpu(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("CPU")
    group.add_argument(
        "--num_threads",
        type=flags.thread_count,
        default=-1,
        metavar="N",
        help="number of threads (default -1: the library chooses)",
    )
    group.add_argument(
        "--cpu_affinity_policy",
        type=flags.choice(CpuAffinityPolicy),
        default=CpuAffinityPolicy.BIG_ONLY,
        metavar="0..4",
        help="0:NONE/1:BIG_ONLY/2:LITTLE_ONLY/3:HIGH_PERFORMANCE/4:POWER_SAVE "
        "(default 1)",
    )


def _add_gpu(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("GPU")
    for name, what in (
        ("--gpu_perf_hint", "performance"),
        ("--gpu_priority_hint", "priority"),
    ):
        group.add_argument(
            name,
            type=flags.choice(GpuHint),
            default=GpuHint.HIGH,
            metavar="0..3",
            help=f"{what}: 0:DEFAULT/1:LOW/2:NORMAL/3:HIGH (default 3)",
        )
    flags.add_switch(
        group, "--gpu_out_of_range_check", "check kernels for accesses out of range"
    )
    flags.add_switch(group, "--disable_tuning", "do not tune kernels for target_socs")
    group.add_argument(
        "--opencl_cache_reuse_policy",
        type=flags.integer(0, 1),
        default=1,
        metavar="0|1",
        help="reuse compiled kernels of an earlier run (default 1)",
    )
    flags.add_switch(group, "--fake_warmup", "prepare kernels without computing")


def _add_accelerator(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("DSP, HTA and APU")
    group.add_argument(
        "--accelerator_cache_policy",
        type=flags.integer(0, 3),
        default=0,
        metavar="0..3",
        help="compiled model: 0:none/1:store/2:load/3:APU load or store (default 0)",
    )
    for name, what in (
        ("--accelerator_binary_file", "compiled model to load"),
        ("--accelerator_storage_file", "where to store the compiled model"),
    ):
        group.add_argument(name, type=flags.path, metavar="FILE", help=what)
    group.add_argument(
        "--apu_boost_hint",
        type=flags.integer(0, 100),
        default=100,
        metavar="0..100",
        help="APU boost (default 100)",
    )
    group.add_argument(
        "--apu_preference_hint",
        type=flags.integer(0, 2),
        default=1,
        metavar="0..2",
        help="APU prefers 0:low power/1:fast answer/2:sustained speed (default 1)",
    )
    flags.add_switch(
        group, "--use_system_libhexagon_nn", "use the libhexagon_nn of the device"
    )


def _add_old_run_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("accepted from earlier versions")
    group.add_argument(
        "--omp_num_threads",
        action=flags.OldFlag,
        dest="num_threads",
        advice="is now called --num_threads",
        type=flags.thread_count,
        metavar="N",
        help="now --num_threads",
    )
    _add_old_switch(
        group, "--validate_all_layers", "validate_all_layers", "--validate --layers=:"
    )
    _add_old_switch(
        group,
        "--check_gpu_out_of_memory",
        "gpu_out_of_range_check",
        "--gpu_out_of_range_check",
    )
    _add_old_switch(group, "--example", argparse.SUPPRESS, "")


def _add_old_switch(
    group: argparse._ActionsContainer, name: str, dest: str, present: str
) -> None:
    if present:
        advice, text = f"is now written {present}", f"now {present}"
    else:
        advice, text = "has no effect any more", "no effect"
    group.add_argument(
        name,
        action=flags.OldFlag,
        dest=dest,
        advice=advice,
        nargs="?",
        const=True,
        type=flags.boolean,
        metavar="BOOL",
        help=text,
    )


def _add_build(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Does two things that are separate commands today:\n"
        "  python tools/converter.py convert --config=FILE\n"
        "  bash tools/build-standalone-lib.sh\n"
        "GPU tuning happens by itself when `run` finds a device of target_socs."
    )
    _add_deployment(parser)
    group = parser.add_argument_group("accepted from earlier versions")
    _add_old_switch(group, "--tuning", argparse.SUPPRESS, "")
    _add_old_switch(group, "--enable_openmp", argparse.SUPPRESS, "")
    _add_logging(parser)
