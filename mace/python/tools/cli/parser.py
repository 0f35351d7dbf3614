# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of `tools/converter.py` and their flags."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from mace.python.installation import CHECKOUT, VERSION, deployment_keys, typed
from mace.python.tools.command_line import flags
from mace.python.tools.command_line.options import (
    DEPLOYMENT,
    add_old_flag,
    add_options,
)
from mace.python.tools.config.vocabulary import DEPLOYMENT_SUFFIXES
from mace.python.tools.convert.options import add_convert_flags
from mace.python.tools.errors import UsageError
from mace.python.tools.wording import listed, nearest

PROGRAM = "converter.py" if CHECKOUT else "mace"

COMMANDS = {
    "inspect": "say what a model takes, returns and is made of",
    "init": "write a deployment file for a model",
    "convert": "convert a model, or the models of a deployment file",
    "quantize": "convert models to 8-bit integers by samples",
    "run": "run, validate or benchmark a model, or those of a deployment file",
    "check": "say of each node of a model whether it can be converted",
    "explain": "say on which device each operator runs, and why",
    "benchmark": "earlier form of: run --benchmark",
    "build": "earlier form of: convert, then tools/build-standalone-lib.sh",
    "doctor": "check what this computer lacks for a task",
    "new-op": "write the files of a new operator, for MACE or a folder of your own",
}

# In the place of a command.
_OWN_FLAGS = ("-h", "--help", "--version", "--print-completion")
_SHELLS = ("bash", "zsh", "fish")
_EVERY = "*"

# How a user types it.
_TYPED = typed("").strip()

# The beginning of argparse's message about missing required flags.
_MISSING = "the following arguments are required: "

# What `run` and `explain` run.
_NEEDED = (
    "A model is converted first, unless it is already; those of a deployment file need "
    f"the output of: {PROGRAM} convert --config=FILE"
)

_EXAMPLES = f"""\
examples:
  {_TYPED} inspect model.onnx
  {_TYPED} run model.onnx --validate --benchmark
  {_TYPED} init model.onnx > model.yml
  {_TYPED} check --config=model.yml
  {_TYPED} convert --config=model.yml
  {_TYPED} run --config=model.yml --validate
  {_TYPED} run --config=model.yml --benchmark --num_threads=4
  {_TYPED} run --config=model.yml --device_yml=boards.yml
  {_TYPED} explain --config=model.yml
  {_TYPED} doctor --for run
  eval "$({_TYPED} --print-completion bash)"

Booleans are written --flag, --flag=true or --flag=false.
The keys of deployment files: {deployment_keys()}.
"""


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parses a command line.

    Returns:
        the flags' values, with `command` and `old_spelling_notes`.

    Raises:
        UsageError: naming all that is wrong, and for an unknown flag the
            nearest known one.
        SystemExit: after printing the help that was asked for.
    """
    _check_command(argv)
    parser, commands = _make_parser(argv[0])
    problems: list[str] = []
    words = list(argv)
    while True:
        try:
            namespace, rest = parser.parse_known_args(words)
            break
        except flags.FlagError as error:
            if argv[0] not in commands:
                raise
            # argparse stops at the first problem; without it, it finds others.
            words = _without_problem(words, error)
            problems.append(error.reason)
    command = commands[argv[0]]
    if hasattr(namespace, "files"):
        problems += _take_files(namespace, problems, bool(rest))
    problems += _unknown_flags(command, rest)
    if len(problems) == 1:
        raise flags.FlagError(command.prog, problems[0])
    if problems:
        lines = "\n".join(f"  {text}" for text in problems)
        prog = command.prog
        raise UsageError(f"{prog}: {len(problems)} problems (see {prog} -h):\n{lines}")
    if not hasattr(namespace, flags.NOTES_DEST):
        setattr(namespace, flags.NOTES_DEST, ())
    return namespace


def _take_files(
    namespace: argparse.Namespace, found: Sequence[str], has_unknown: bool
) -> list[str]:
    """Takes the words without a flag as deployment file or model; what is wrong with
    them.
    """
    files = namespace.files
    if has_unknown:
        # A word may be the value of an unknown flag.
        files = [name for name in files if name.suffix]
    namespace.files = []
    if namespace.config is not None:
        return [f"unexpected argument {str(name)!r} beside --config" for name in files]
    if len(files) == 1 and files[0].suffix.lower() in DEPLOYMENT_SUFFIXES:
        namespace.config = files[0]
    elif not files and not any(t.startswith("argument --config:") for t in found):
        return [f"{_MISSING}--config=FILE, or FILE (a model, or a deployment file)"]
    else:
        namespace.files = files
    return []


def full_help() -> str:
    """What ``converter.py -h`` prints."""
    return _make_parser("")[0].format_help()


def command_parser(command: str) -> argparse.ArgumentParser:
    """The parser of one command, with all its flags."""
    return _make_parser(command)[1][command]


def _check_command(argv: Sequence[str]) -> None:
    names = listed(COMMANDS)
    if not argv:
        raise UsageError(
            f"{PROGRAM} needs a command: {names} (see {PROGRAM} -h for what each does)"
        )
    word = argv[0]
    if word in COMMANDS or word.split("=")[0] in _OWN_FLAGS:
        return
    if word.startswith("-"):
        raise UsageError(
            f"found {word} where a command is needed; accepted: {names}, then its flags"
        )
    near = nearest(word, COMMANDS)
    hint = f"; did you mean {near}?" if near else f" (see {PROGRAM} -h)"
    raise UsageError(f"unknown command {word!r}; accepted: {names}{hint}")


def _without_problem(words: Sequence[str], error: flags.FlagError) -> list[str]:
    """Removes the problem that was found from a command line."""
    if error.reason.startswith(_MISSING):
        missing = error.reason[len(_MISSING) :].split(", ")
        return [*words, *(f"{flag}=absent" for flag in missing)]
    wrong = re.match(r"argument (\S+): ", error.reason)
    names = wrong.group(1).split("/") if wrong else []
    kept: list[str] = []
    dropping = False
    for word in words:
        if word.startswith("-"):
            dropping = word.split("=")[0] in names
            is_value = False
        else:
            is_value = dropping
            dropping = False
        if not (dropping or is_value):
            kept.append(word)
    if len(kept) == len(words):
        # Nothing can be removed: report the problems found so far.
        raise error
    return kept


def _unknown_flags(parser: argparse.ArgumentParser, rest: Sequence[str]) -> list[str]:
    known = [
        option
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--")
    ]
    parts: list[str] = []
    for word in rest:
        if not word.startswith("-"):
            # The value of an unknown flag, or an unexpected word.
            if not parts:
                parts.append(f"unexpected argument {word!r}")
            continue
        flag = word.split("=")[0]
        near = nearest(flag.replace("-", "_"), [k.replace("-", "_") for k in known])
        hint = f"; did you mean --{near[2:]}?" if near else ""
        parts.append(f"unknown flag {flag}{hint}")
    return parts


def _make_parser(
    command: str,
) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser, with the flags of `command` filled in, or with those of every one."""
    parser = flags.FlagParser(
        prog=PROGRAM,
        description="Convert models to MACE, run them on this computer, phones and "
        "boards, and compare them with the framework they come from.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("--version", action="version", version=f"MACE {VERSION}")
    parser.add_argument(
        "--print-completion",
        action=_PrintCompletion,
        choices=_SHELLS,
        help="print a script with which this shell completes commands and flags",
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    builders = {
        "inspect": _add_inspect,
        "init": _add_init,
        "convert": _add_convert,
        "quantize": _add_quantize,
        "run": _add_run,
        "check": _add_check,
        "explain": _add_explain,
        "benchmark": _add_benchmark,
        "build": _add_build,
        "doctor": _add_doctor,
        "new-op": _add_new_op,
    }
    commands: dict[str, argparse.ArgumentParser] = {}
    for name, text in COMMANDS.items():
        sub = subparsers.add_parser(name, help=text, description=_sentence(text))
        commands[name] = sub
        if name not in ("doctor", "new-op"):
            # argparse would list all flags here a second time, without their meaning.
            sub.usage = f"{PROGRAM} {name} FILE [FLAG ...]"
        if command in (name, _EVERY):
            builders[name](sub)
    return parser, commands


class _PrintCompletion(argparse.Action):
    """Prints the script of a shell, and ends."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> NoReturn:
        import shtab

        whole, commands = _make_parser(_EVERY)
        for sub in commands.values():
            for action in sub._actions:
                if action.type is flags.path:
                    folder = action.metavar == "DIR"
                    kind = shtab.DIRECTORY if folder else shtab.FILE
                    setattr(action, "complete", kind)  # noqa: B010 (shtab reads it)
        sys.stdout.write(shtab.complete(whole, shell=values) + "\n")
        parser.exit()


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    # Imported here: the doctor must work when other rooms cannot be imported.
    from mace.python.tools import doctor

    doctor.add_arguments(parser)
    _add_messages(parser)


def _add_new_op(parser: argparse.ArgumentParser) -> None:
    from mace.python.tools import new_op

    new_op.add_arguments(parser)
    _add_messages(parser)


def _add_messages(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("messages")
    flags.add_switch(group, "--verbose", "print each step")


def _add_deployment(parser: argparse.ArgumentParser) -> None:
    """Adds the deployment file, and the flags that replace its values."""
    # Imported here: the doctor must work when pydantic is missing.
    from mace.python.tools.config.deployment import Deployment
    from mace.python.tools.config.keys import keys_of

    group = parser.add_argument_group(DEPLOYMENT.title)
    group.add_argument(
        "files",
        nargs="*",
        type=flags.path,
        metavar="FILE",
        help="a deployment file (.yml); or a model, of which names, shapes and types "
        "are taken (with Caffe its weights, too)",
    )
    group.add_argument(
        "--config",
        type=flags.path,
        metavar="FILE",
        help="the deployment file",
    )
    group.add_argument(
        "--dims",
        type=_dims,
        action=_Merged,
        default={},
        metavar="NAME=N,...",
        help="numbers for dimensions that the model leaves open; -1: each run decides",
    )
    group.add_argument(
        "--set",
        type=_constant,
        action=_Merged,
        default={},
        metavar="NAME=VALUE",
        help="what an input holds in every run: a number, true or false, a list as "
        "[1,2], or a .npy file; may be given several times, adds to constants of the "
        "file",
    )
    for key in keys_of(Deployment).values():
        if key.replaceable:
            accepted = key.accepted.replace("`", "")
            group.add_argument(
                f"--{key.name}",
                metavar="VALUE",
                help=f"replaces {key.name} of the file: {accepted}",
            )


class _Merged(argparse.Action):
    """A flag with a dictionary, which may be given several times."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        earlier = getattr(namespace, self.dest) or {}
        setattr(namespace, self.dest, {**earlier, **values})


def _constant(text: str) -> dict[str, Any]:
    """Reads ``sr=16000``."""
    # Imported here: the doctor must work when pydantic is missing.
    from mace.python.tools.config.values import constant

    name, _, value = text.partition("=")
    try:
        if not name.strip():
            raise ValueError
        return {name.strip(): constant(value, "--set", (Path.cwd(),))}
    except (ValueError, RecursionError):
        raise argparse.ArgumentTypeError(
            f"found {text!r}, accepted: the name of an input and a number, true or "
            "false, a list as [1,2] or a .npy file, as sr=16000; for another input "
            "--set again"
        ) from None


def _dims(text: str) -> dict[str, int]:
    """Reads ``batch=1,height=224``."""
    found: dict[str, int] = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        value = flags.int_or_none(number)
        if not name.strip() or value is None or (value < 1 and value != -1):
            raise argparse.ArgumentTypeError(
                f"found {text!r}, accepted: names with numbers from 1, as "
                "batch=1,height=224; -1: each run decides"
            )
        found[name.strip()] = value
    return found


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    from mace.python.tools.inspection.options import add_inspect_flags

    parser.description = (
        "Prints what a model takes and returns, what it is made of, how large it is\n"
        "and how much it computes."
    )
    _add_deployment(parser)
    add_inspect_flags(parser)


def _add_init(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Prints a deployment file for a model, with its inputs and outputs, and says\n"
        "what can be changed."
    )
    _add_deployment(parser)
    _add_messages(parser)


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Writes <build_dir>/<library_name>/model/<model>.pb and .data."
    _add_deployment(parser)
    add_convert_flags(parser)


def _add_quantize(parser: argparse.ArgumentParser) -> None:
    from mace.python.tools.calibrate.options import add_calibrate_flags

    parser.description = (
        "Runs samples through the models, in floats and in integers, chooses the\n"
        "scales of tensors and the operators that stay in floats, and converts all\n"
        "models of the file. The keys of calibration say how."
    )
    parser.epilog = (
        "Writes <build_dir>/<library_name>/model/<model>.pb and .data, and a report,\n"
        "<model>_quantization.html and .json."
    )
    _add_deployment(parser)
    add_calibrate_flags(parser)


def _add_run(parser: argparse.ArgumentParser) -> None:
    from mace.python.tools.run.options import add_run_flags

    parser.epilog = _NEEDED
    _add_deployment(parser)
    add_run_flags(parser)


def _add_check(parser: argparse.ArgumentParser) -> None:
    from mace.python.tools.inspection.options import add_check_flags

    parser.description = (
        "Reads the models as convert does, writes nothing, and prints a table of all\n"
        "nodes: the operators that a node becomes, their multiply-accumulates, bytes\n"
        "and devices, or why it cannot be converted and what can be done. Nodes\n"
        "behind such a one are checked too, where the shapes of its results are known."
    )
    _add_deployment(parser)
    add_check_flags(parser)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    from mace.python.tools.inspection.options import add_explain_flags

    parser.description = (
        "Runs the converted models and prints for each operator the device it ran on,\n"
        "why other devices that the deployment names did not run it, its estimated\n"
        "and (with --benchmark) measured time, and the tensors copied between devices."
    )
    parser.epilog = _NEEDED
    _add_deployment(parser)
    add_explain_flags(parser)


def _add_benchmark(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    parser.set_defaults(benchmark=True)


def _add_build(parser: argparse.ArgumentParser) -> None:
    from mace.python.tools.run.options import BuildOptions

    parser.epilog = (
        "Does what are separate commands today:\n"
        f"  {_TYPED} convert --config=FILE\n"
        f"  {_TYPED} run --config=FILE --tuning (with --tuning)\n"
        "  bash tools/build-standalone-lib.sh"
    )
    _add_deployment(parser)
    add_options(parser, BuildOptions)
    add_old_flag(parser, "enable_openmp")
