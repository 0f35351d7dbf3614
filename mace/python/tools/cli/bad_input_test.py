# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""`convert` with bad input: one clear message, status 2, nothing written.

Runs the real command on the digit classifier of mace/examples.
"""

from __future__ import annotations

import http.server
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
import yaml

from mace.python.tools import fetch
from mace.python.tools.cli.main import main

_EXAMPLE = Path(__file__).parents[3] / "examples" / "digits"
_TOOL = Path(__file__).parents[4] / "tools" / "converter.py"
# Printed by a failing test, as it is a parameter or part of a message.
_SEED = 20260101


class _Case:
    """A copy of the example that a test may spoil."""

    def __init__(self, folder: Path) -> None:
        self.model_path = folder / "digits.onnx"
        shutil.copy(_EXAMPLE / "digits.onnx", self.model_path)
        self.config = yaml.safe_load((_EXAMPLE / "digits.yml").read_text())
        self.model = self.config["models"]["digits"]
        self.model["model_file_path"] = str(self.model_path)
        del self.model["model_sha256_checksum"]
        self.subgraph = self.model["subgraphs"][0]
        self.build_dir = folder / "build"
        self._config_path = folder / "digits.yml"

    def command(self) -> list[str]:
        self._config_path.write_text(yaml.safe_dump(self.config))
        arguments = [f"--config={self._config_path}", f"--build_dir={self.build_dir}"]
        return ["convert", *arguments]

    def convert(self) -> int:
        return main(self.command())

    def cited(self, text: str) -> str:
        """The text with the line of a key for `{key}`."""
        key = re.match(r"\{(\w+)\}", text)
        if key is None:
            return text
        lines = self._config_path.read_text().splitlines()
        (number,) = (i for i, line in enumerate(lines, 1) if f"{key[1]}:" in line)
        return text.replace(key[0], f"digits.yml:{number}").rstrip(": ")

    def written(self) -> list[Path]:
        return sorted(p for p in self.build_dir.rglob("*") if p.is_file())


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Case:
    monkeypatch.setattr(fetch, "BACKOFF_SECONDS", 0.01)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("MACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MACE_MODEL_MIRROR", raising=False)
    return _Case(tmp_path)


def test_the_unspoilt_example_converts(case: _Case) -> None:
    assert case.convert() == 0
    written = ["digits.data", "digits.pb", "digits.pb_txt", "digits_index.html"]
    assert [p.name for p in case.written()] == written


def _missing_key(case: _Case) -> None:
    del case.config["target_abis"]


def _mistyped_key(case: _Case) -> None:
    case.model["runtme"] = case.model.pop("runtime")


def _unknown_key(case: _Case) -> None:
    case.config["colour"] = "blue"


def _wrong_checksum(case: _Case) -> None:
    case.model["model_sha256_checksum"] = "0" * 64


def _missing_file(case: _Case) -> None:
    case.model_path.unlink()


def _two_missing_files(case: _Case) -> None:
    case.model_path.unlink()
    other = dict(case.model, model_file_path="other.onnx")
    case.config["models"]["other"] = other


def _dead_address(case: _Case) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    case.model["model_file_path"] = f"http://127.0.0.1:{port}/digits.onnx"
    case.model["model_sha256_checksum"] = "0" * 64


def _wrong_input_name(case: _Case) -> None:
    case.subgraph["input_tensors"] = ["imaeg"]


def _wrong_output_name(case: _Case) -> None:
    case.subgraph["output_tensors"] = ["probabilty"]


def _wrong_input_shape(case: _Case) -> None:
    case.subgraph["input_shapes"] = ["1,8,8,3"]


def _wrong_output_shape(case: _Case) -> None:
    case.subgraph["output_shapes"] = ["1,11"]


def _wrong_rank(case: _Case) -> None:
    case.subgraph["input_shapes"] = ["1,64"]


def _empty_model(case: _Case) -> None:
    case.model_path.write_bytes(b"")


def _truncated_model(case: _Case) -> None:
    data = case.model_path.read_bytes()
    case.model_path.write_bytes(data[: len(data) // 2])


def _text_as_model(case: _Case) -> None:
    case.model_path.write_text("library_name: digits\n")


def _other_framework(case: _Case) -> None:
    case.model["platform"] = "tensorflow"


def _unsupported_operators(case: _Case) -> None:
    model = onnx.load(case.model_path)
    for index, kind in enumerate(["Conv", "Gemm"]):
        (node, *_) = (n for n in model.graph.node if n.op_type == kind)
        node.op_type = f"NoSuchOperator{index}"
        node.domain = "com.example"
        node.name = f"odd_{index}"
    model.opset_import.append(onnx.helper.make_opsetid("com.example", 1))
    onnx.save(model, case.model_path)


def _open_dimension_that_is_fixed(case: _Case) -> None:
    case.subgraph["input_shapes"] = ["1,8,-1,1"]


def _input_as_output(case: _Case) -> None:
    case.subgraph["input_tensors"] = ["probability"]
    case.subgraph["output_tensors"] = ["image"]


def _web_page(case: _Case) -> None:
    case.model_path.write_text("\n<html lang='en'><title>404</title></html>")


def _similar_file(case: _Case) -> None:
    case.model["model_file_path"] = str(case.model_path.with_name("digit.onnx"))


def _x86_abi(case: _Case) -> None:
    case.config["target_abis"] = ["x86_64"]


def _doubles(case: _Case) -> None:
    case.subgraph["input_data_types"] = ["float64"]


def _unwritable_output(case: _Case) -> None:
    case.build_dir.write_text("a file where the folder should be")


def _unsupported_platform(case: _Case) -> None:
    case.model["platform"] = "megengine"


@pytest.mark.parametrize(
    ("spoil", "parts"),
    [
        (_missing_key, ["target_abis", "is missing"]),
        (_mistyped_key, ["models.digits.runtme", "did you mean runtime?"]),
        (_unknown_key, ["colour: unknown key", "library_name"]),
        (_wrong_checksum, ["model_file_path", "0" * 64, "found "]),
        (_missing_file, ["model_file_path", "no such file"]),
        (
            _two_missing_files,
            ["2 problems", "models.digits.model_file_path", "models.other.model_file"],
        ),
        (_dead_address, ["model_file_path", "cannot reach"]),
        (_wrong_input_name, ["{input_tensors}: ", "imaeg", "image"]),
        (_wrong_output_name, ["{output_tensors}: ", "probabilty", "probability"]),
        (_wrong_input_shape, ["{input_shapes}: ", "image", "3"]),
        (_wrong_output_shape, ["{output_shapes}: ", "probability", "11"]),
        (
            _open_dimension_that_is_fixed,
            ["{input_shapes}: ", "dimension 2: it is [1, 8, 8, 1]; write that"],
        ),
        (
            _input_as_output,
            ["{output_tensors}: ", "'image' is an input", "outputs are 'probability'"],
        ),
        (_web_page, ["{model_file_path}: ", "digits.onnx is a web page: the download"]),
        (_similar_file, ["no such file", "did you mean ", "digits.onnx?"]),
        (_x86_abi, ["target_abis[0]: ", "'x86_64'", "say host"]),
        (_doubles, ["input_data_types", "'float64'", "say float32"]),
        (_wrong_rank, ["image"]),
        (_empty_model, ["digits.onnx is empty: is the download complete?"]),
        (_truncated_model, ["digits.onnx"]),
        (_text_as_model, ["digits.onnx is a deployment file"]),
        (
            _other_framework,
            ["{model_file_path}: ", "an ONNX model: say platform: onnx"],
        ),
        (
            _unsupported_operators,
            ["NoSuchOperator0", "NoSuchOperator1", "odd_0", "odd_1"],
        ),
        (_unwritable_output, ["build", "cannot write"]),
        (_unsupported_platform, ["platform", "megengine", "MgeConvert"]),
    ],
)
def test_bad_input(
    case: _Case,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[_Case], None],
    parts: list[str],
) -> None:
    spoil(case)
    status = case.convert()
    message = capsys.readouterr().err
    assert status == 2, message
    assert "Traceback" not in message
    for part in parts:
        assert case.cited(part) in message
    assert case.written() == []


class _Endless(http.server.BaseHTTPRequestHandler):
    """Sends a little, then nothing until the client goes."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        self.wfile.write(b"x" * 1000)
        self.wfile.flush()
        self.server.asked.set()  # type: ignore[attr-defined]
        self.rfile.read(1)

    def log_message(self, *_: object) -> None:
        """Not to the terminal."""


def test_interrupted_download_leaves_nothing(case: _Case, tmp_path: Path) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Endless)
    server.daemon_threads = True
    server.asked = asked = threading.Event()  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/digits.onnx"
    case.model["model_file_path"] = address
    case.model["model_sha256_checksum"] = "0" * 64
    process = subprocess.Popen(
        [sys.executable, str(_TOOL), *case.command()],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert asked.wait(600)
    process.send_signal(signal.SIGINT)
    message = process.communicate(timeout=600)[1]
    server.shutdown()
    assert process.returncode == 130
    assert "interrupted" in message
    assert "Traceback" not in message
    assert case.written() == []
    left = [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]
    assert [p.name for p in left] in ([], [".lock"])


@pytest.mark.parametrize("seed", range(_SEED, _SEED + 40))
def test_mutated_model_is_no_defect(
    case: _Case, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    """Flipped, dropped and doubled bytes: converted or refused, never worse."""
    rng = random.Random(seed)
    data = bytearray(case.model_path.read_bytes())
    # Most of the file is weights; what matters is at both ends.
    edge = 2000
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(edge) if rng.random() < 0.5 else -1 - rng.randrange(edge)
        kind = rng.randrange(3)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at]
        else:
            data.insert(at, rng.randrange(256))
    case.model_path.write_bytes(data)
    status = case.convert()
    message = capsys.readouterr().err
    assert status in (0, 2), message
    if status == 2:
        assert case.written() == []
