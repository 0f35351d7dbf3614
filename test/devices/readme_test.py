# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A first day with MACE: a model of the user's own, and the commands of the README.

Nothing but these commands is typed, word by word, in a folder and with a home that have
never seen MACE; on this computer, then on a phone and on a board.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
import yaml

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.run.testing.exports import EXPORTS
from test.device_farm.farm import Farm
from test.devices.conftest import give_programs
from test.devices.tool import LIMIT_S, ROOT
from test.docs.blocks import Block, blocks_of

_TOOL = "python3 tools/converter.py "
# What a clone has that the commands use.
_CLONE = ("mace", "tools")


def _blocks() -> dict[str, Block]:
    """The blocks of the README that use a model, by where they run."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    return {
        block.value: block
        for block in blocks_of("README.md", page)
        if _TOOL in block.text
    }


def _model(path: Path) -> None:
    """A network with an open batch, as `torch.onnx.export` writes it."""
    model = EXPORTS["torchscript_classifier"]()
    for info in (*model.graph.input, *model.graph.output):
        info.type.tensor_type.shape.dim[0].dim_param = "N"
    onnx.save(model, path)


class _User:
    """Types commands in a clone of their own."""

    def __init__(self, folder: Path, farm: Farm) -> None:
        self.clone = folder / "mace"
        self.clone.mkdir()
        for name in _CLONE:
            (self.clone / name).symlink_to(ROOT / name)
        home = folder / "home"
        home.mkdir()
        path = f"{Path(sys.executable).parent}{os.pathsep}{farm.env['PATH']}"
        self._env = {**farm.env, "HOME": str(home), "PATH": path}

    def has_board(self, devices_yml: Path, name: str) -> None:
        """Writes a `devices.yml` with this board only."""
        boards = yaml.safe_load(devices_yml.read_text(encoding="utf-8"))["devices"]
        text = yaml.safe_dump({"devices": {name: boards[name]}})
        (self.clone / "devices.yml").write_text(text, encoding="utf-8")

    def types(self, block: Block) -> str:
        """All that the tool prints for a block; the library is built elsewhere."""
        lines = [line for line in block.commands() if line.startswith(_TOOL)]
        ended = subprocess.run(
            ["bash", "-euxo", "pipefail", "-c", "\n".join(lines)],
            cwd=self.clone,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout
        assert "Traceback" not in ended.stdout
        return ended.stdout


def test_a_model_of_ones_own_from_the_readme_alone(
    farm: Farm, programs: dict[Abi, Path], tmp_path: Path
) -> None:
    if not farm.boards:
        pytest.skip("boards of the farm need root")
    user = _User(tmp_path, farm)
    _model(user.clone / "my_model.onnx")
    give_programs(user.clone / "build", programs)
    blocks = _blocks()
    assert set(blocks) == {"computer", "phone", "board"}

    text = user.types(blocks["computer"])
    assert "input   input.1  float32  [N, 3, 12, 12]" in text
    assert "my_model: 191: cosine similarity 1.000000" in text
    assert "The slowest " in text
    written = (user.clone / "my_model.yml").read_text(encoding="utf-8")
    assert "input_tensors" in written
    text = user.types(blocks["phone"])
    assert "MI 6 (arm64-v8a)" in text
    assert "validated, similarity 1.0000000" in text
    user.has_board(farm.devices_yml, "nanopi")
    text = user.types(blocks["board"])
    assert "nanopi (arm64)" in text
    assert "validated, similarity 1.0000000" in text
