# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Exit statuses and messages of the whole program."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mace.python.tools.cli import commands, reference
from mace.python.tools.cli.main import main
from mace.python.tools.cli.parser import COMMANDS, command_parser
from mace.python.tools.errors import CheckFailedError, MaceError

_ROOT = Path(__file__).resolve().parents[4]
_DOOR = _ROOT / "tools" / "converter.py"
_DIGITS = _ROOT / "mace" / "examples" / "digits" / "digits.onnx"


def _converter(
    *argv: str, door: Path = _DOOR, python: tuple[str, ...] = (sys.executable,)
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*python, str(door), *argv],
        # The door would enter the environment of whoever runs the tests.
        env={k: v for k, v in os.environ.items() if k != "MACE_VENV"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def _raise_in_command(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    def execute(_: object) -> int:
        raise error

    monkeypatch.setattr(commands, "execute", execute)
    return main(["run", "--config=d.yml"])


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (MaceError("key x: found 1"), 2, "error: key x: found 1\n"),
        (CheckFailedError("cosine 0.5"), 1, "error: cosine 0.5\n"),
        (KeyboardInterrupt(), 130, "error: interrupted"),
        (MemoryError(), 1, "error: out of memory"),
        (
            ModuleNotFoundError("No module named 'onnx'", name="onnx"),
            2,
            "bash tools/setup.sh",
        ),
    ],
)
def test_exit_status_and_message(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    text: str,
) -> None:
    assert _raise_in_command(monkeypatch, error) == status
    captured = capsys.readouterr()
    assert text in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_defect_saves_its_traceback(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    status = _raise_in_command(monkeypatch, ZeroDivisionError("by zero\nx"))
    assert status == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "defect of MACE (ZeroDivisionError: by zero)" in message
    (report,) = tmp_path.iterdir()
    assert str(report) in message
    text = report.read_text()
    assert "Traceback" in text
    assert "--config=d.yml" in text


def test_missing_module_of_our_own_is_a_defect(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    error = ModuleNotFoundError("No module named 'mace.x'", name="mace.x")
    assert _raise_in_command(monkeypatch, error) == 1


def test_messages_survive_an_ascii_terminal(tmp_path: Path) -> None:
    name = tmp_path / "модель.yml"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = subprocess.run(
        [sys.executable, str(_DOOR), "convert", f"--config={name}"],
        capture_output=True,
        check=False,
        env=environment,
    )
    assert result.returncode == 2
    assert b"No such file" in result.stderr


def test_conversion_waits_for_no_import_that_it_does_not_need(tmp_path: Path) -> None:
    """Those of runs and of calibration cost a sixth of a small conversion."""
    code = """
import sys
from mace.python.tools.cli.main import main
assert main(sys.argv[1:]) == 0
needless = {"matplotlib", "onnx.reference", "requests", "rich", "tensorflow"}
needless |= {f"mace.python.tools.{x}" for x in ("calibrate.command", "devices")}
assert not needless & set(sys.modules), needless & set(sys.modules)
"""
    argv = ["convert", str(_DIGITS), "--dims=N=1", f"--build_dir={tmp_path}"]
    subprocess.run([sys.executable, "-c", code, *argv], cwd=_ROOT, check=True)


def test_config_problems_reach_the_terminal(tmp_path: Path) -> None:
    config = tmp_path / "bad.yml"
    config.write_text("libary_name: x\n")
    result = _converter("convert", f"--config={config}")
    assert result.returncode == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[0] == f"error: 3 problems in {config}:"
    assert any("did you mean library_name?" in line for line in lines)


def test_usage_error_from_the_shell() -> None:
    result = _converter("run", "--config=x", "--roud=1")
    assert result.returncode == 2
    assert result.stderr == (
        "error: converter.py run: unknown flag --roud; did you mean --round? "
        "(see converter.py run -h)\n"
    )


def test_help_from_the_shell() -> None:
    result = _converter("-h")
    assert result.returncode == 0
    assert "convert" in result.stdout
    assert result.stderr == ""


def test_works_from_any_folder(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, str(_DOOR), "run", "-h"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0
    assert "--round" in result.stdout


def test_command_line_needs_no_packages() -> None:
    """The parser and the error path run on a bare Python (-S: no packages)."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from mace.python.tools.cli.main import main;"
        "sys.exit(main(['covnert']))"
    )
    result = subprocess.run(
        [sys.executable, "-S", "-c", code, str(_ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2, result.stderr
    assert "did you mean convert?" in result.stderr


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_reader_that_went_away(flags: list[str]) -> None:
    """As in `converter.py doctor | true`."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = subprocess.run(
        [sys.executable, str(_DOOR), "doctor", *flags],
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write_end)
    assert process.returncode == 141
    assert process.stderr == ""


def _copied_door(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    door = tmp_path / "tools" / "converter.py"
    shutil.copy(_DOOR, door)
    return door


def test_door_names_setup_when_packages_are_missing(tmp_path: Path) -> None:
    result = _converter(
        "convert", "--config=x", door=_copied_door(tmp_path), python=_BARE
    )
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "bash tools/setup.sh" in result.stderr
    assert "pydantic" in result.stderr


def test_door_enters_the_virtual_environment(tmp_path: Path) -> None:
    door = _copied_door(tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "venv: $@"\nexit 7\n')
    python.chmod(0o755)
    result = _converter("run", "--round=2", door=door, python=_BARE)
    assert result.returncode == 7
    assert result.stdout == f"venv: {door} run --round=2\n"


# A Python without any installed package.
_BARE = (sys.executable, "-S")


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_interrupted_program_cleans_up(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    """A real process, interrupted while it writes."""
    code = f"""
import sys, time
sys.path.insert(0, {str(_ROOT)!r})
from mace.python.tools.atomic import atomic_dir, atomic_write
from mace.python.tools.cli import commands, main
def execute(args):
    with atomic_dir('model') as folder, atomic_write('log.csv') as log:
        (folder / 'half').write_text('x')
        log.write(b'half')
        print('writing', flush=True)
        # Short sleeps: a signal just before a sleep is seen after it only.
        for _ in range(1200):
            time.sleep(0.05)
commands.execute = execute
sys.exit(main.main(['run', '--config=x']))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts the tests in the background ignores it, and Python
        # leaves such a signal alone.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    started = time.monotonic()
    process.send_signal(number)
    _, message = process.communicate(timeout=600)
    assert time.monotonic() - started < 300
    assert process.returncode == status
    assert message.count("\n") == 1, message
    assert list(tmp_path.iterdir()) == []


# Wrong use of commands with a model in the place of a deployment file.
#
# A message must not name keys that such a user has not written.


_DIGITS_MODEL = Path(__file__).parents[3] / "examples" / "digits" / "digits.onnx"
_COMMANDS = ("inspect", "init", "convert", "run", "explain", "check")


@pytest.fixture
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(_DIGITS_MODEL, "net.onnx")
    Path("empty.onnx").touch()
    Path("gone.onnx").symlink_to("/nowhere/gone.onnx")
    Path("folder").mkdir()
    Path("folder.onnx").mkdir()
    Path("cut.tflite").write_bytes(b"\x20\x00\x00\x00TFL3" + bytes(10))
    Path("weights.pb").write_bytes(b"no model")


def _message(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert lines[-1].startswith("error: "), captured.err
    return lines[-1].removeprefix("error: ")


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize("command", _COMMANDS)
@pytest.mark.parametrize(
    ("name", "begin", "end"),
    [
        ("nte.onnx", "nte.onnx: no such file", "did you mean {}/net.onnx?"),
        ("empty.onnx", "{}/empty.onnx is empty", "is the download complete?"),
        ("gone.onnx", "gone.onnx: is a link to /nowhere/", "which is not there"),
        ("folder", "{}/folder is a folder without saved_model.pb", "SavedModel"),
        ("folder.onnx", "folder.onnx: {}/folder.onnx is a folder", "file is needed"),
        ("cut.tflite", "{}/cut.tflite is cut off or damaged: ", "export it again"),
        ("weights.pb", "{}/weights.pb is not a frozen TensorFlow graph", ""),
    ],
)
def test_a_file_that_is_none(
    command: str, name: str, begin: str, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    message = _message(capsys, command, name)
    assert message.startswith(begin.format(Path.cwd()))
    assert message.endswith(end.format(Path.cwd()))
    assert not Path("build").exists()


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize("command", _COMMANDS[1:])
def test_open_dimensions(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--dims=N=1 " in _message(capsys, command, "net.onnx")


@pytest.mark.usefixtures("_folder")
def test_a_key_of_a_deployment_file_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("d.yml").write_text(
        "library_name: d\ntarget_abis: host\nmodels:\n  m:\n"
        "    model_file_path: empty.onnx\n    runtime: cpu\n"
    )
    message = _message(capsys, "convert", "d.yml")
    assert message.startswith("d.yml:5: ")
    assert "model_file_path: " in message


@pytest.mark.usefixtures("_folder")
def test_no_model_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert "FILE (a model, or a deployment file)" in _message(capsys, "run")


def test_every_flag_of_every_command_is_there() -> None:
    text = reference.markdown()
    for command in COMMANDS:
        assert f"\n## {command}\n" in f"\n{text}"
        for action in command_parser(command)._actions:
            flag = [str(action.metavar), *action.option_strings][-1]
            if flag not in ("-h", "--help"):
                assert f"| `{flag}" in text


def test_rows_show_values() -> None:
    text = reference.markdown()
    assert "| `--config=FILE` | the deployment file |" in text
    assert "| `--validate[=BOOL]` |" in text
    assert "| `--caffe_env=docker\\|local` |" in text
    assert "| `--round=N` | number of times to run the model (default 1) |" in text


def test_rows_say_when_a_flag_has_no_effect() -> None:
    text = reference.markdown()
    (row, *_) = [x for x in text.splitlines() if x.startswith("| `--debug_mode")]
    assert "no effect on convert" in row
    (row,) = [x for x in text.splitlines() if x.startswith("| `--enable_micro")]
    assert "refused: the microcontroller form is not in this release" in row


def test_headings_are_unique() -> None:
    headings = [
        line for line in reference.markdown().splitlines() if line.startswith("#")
    ]
    assert len(headings) == len(set(headings))


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "flags.txt"
    assert reference.main(["--output", str(path)]) == 0
    assert reference.main([]) == 0
    assert capsys.readouterr().out == path.read_text()


# Of the last release of the original, besides those of its first ones.
_LATER_FLAGS = """
    accelerator_binary_file accelerator_cache_policy accelerator_storage_file
    address_sanitizer apu_boost_hint apu_preference_hint cl_binary_to_code debug_mode
    devices_to_run disable_tuning enable_micro fake_warmup mace_lib_type
    model_data_format model_graph_format opencl_cache_reuse_policy output_dir report
    report_dir runtime_failure_ratio target_abis target_socs use_system_libhexagon_nn
"""


@pytest.mark.parametrize("flag", _LATER_FLAGS.split())
def test_the_page_lists_every_flag_of_the_original(flag: str) -> None:
    """With the reason if it does nothing any more."""
    lines = reference.markdown().splitlines()
    rows = [line for line in lines if re.match(rf"\| `--{flag}[\[=`]", line)]
    assert rows, flag
    for row in rows:
        limits = re.findall(r"(?:no effect|refused)(.*)", row)
        assert all(re.match(r": \w| if | on convert", limit) for limit in limits), row
