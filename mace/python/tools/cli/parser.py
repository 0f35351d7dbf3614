# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of `tools/converter.py` and their flags."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from mace.python.tools.cli import flags
from mace.python.tools.cli.run_flags import add_benchmark, add_run
from mace.python.tools.cli.shared_flags import (
    NOT_YET,
    add_deployment,
    add_logging,
    add_old_switch,
    add_quantize_stat,
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

# How argparse begins to tell of required flags that are not given.
_MISSING = "the following arguments are required: "

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
            # argparse stops at the first problem; without it, it finds others.
            words = _without_problem(words, error)
            problems.append(error.reason)
    if any(text.startswith("argument --config:") for text in problems):
        # It was there, and wrong; that was told.
        problems = [text for text in problems if not text.startswith(_MISSING)]
    command = commands[argv[0]]
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
    if word in COMMANDS or word in ("-h", "--help"):
        return
    if word.startswith("-"):
        raise UsageError(
            f"found {word} where a command is needed; accepted: {names}, then its flags"
        )
    near = nearest(word, COMMANDS)
    hint = f"; did you mean {near}?" if near else ""
    raise UsageError(f"unknown command {word!r}; accepted: {names}{hint}")


def _without_problem(words: Sequence[str], error: flags.FlagError) -> list[str]:
    """A command line without the problem that was found in it."""
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
        # Nothing to take away: tell what is known.
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
            # The value of an unknown flag, or a stray word.
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
        "run": add_run,
        "benchmark": add_benchmark,
        "build": _add_build,
        "doctor": _add_doctor,
    }
    commands: dict[str, argparse.ArgumentParser] = {}
    for name, text in COMMANDS.items():
        sub = subparsers.add_parser(name, help=text, description=_sentence(text))
        commands[name] = sub
        if name != "doctor":
            # argparse would list all flags twice, here without their meaning.
            sub.usage = f"{PROGRAM} {name} --config=FILE [FLAG ...]"
        if name == command:
            builders[name](sub)
    return parser, commands


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    # Imported here: the doctor must work when other rooms cannot be imported.
    from mace.python.tools import doctor

    doctor.add_arguments(parser)
    add_logging(parser)


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Writes <build_dir>/<library_name>/model/<model>.pb and .data."
    add_deployment(parser)
    group = parser.add_argument_group("conversion")
    group.add_argument(
        "--output_dir",
        dest="build_dir",
        type=flags.path,
        default=argparse.SUPPRESS,
        metavar="DIR",
        help="the same as --build_dir",
    )
    add_quantize_stat(group, "the samples of --quantize_stat")
    group.add_argument(
        "--dump_passes",
        dest="dump_passes_dir",
        type=flags.path,
        metavar="DIR",
        help="write the graph after every pass into DIR",
    )
    flags.add_switch(
        group, "--enable_micro", f"also make the microcontroller form; {NOT_YET}"
    )
    flags.add_switch(
        group,
        "--cl_binary_to_code",
        f"for runtime gpu: also write OpenCL binaries as C++ code; {NOT_YET}",
    )
    add_logging(parser)


def _add_build(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Does two things that are separate commands today:\n"
        "  python tools/converter.py convert --config=FILE\n"
        "  bash tools/build-standalone-lib.sh"
    )
    add_deployment(parser)
    group = parser.add_argument_group("accepted from earlier versions")
    add_old_switch(group, "--tuning", argparse.SUPPRESS, "")
    add_old_switch(group, "--enable_openmp", argparse.SUPPRESS, "")
    add_logging(parser)
