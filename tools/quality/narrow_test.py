# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Dict, List

import pytest

from tools.quality.changes import (
    IMPORTS_BY_NAME,
    NATIVE,
    Modules,
    changed_files,
    source_files,
)
from tools.quality.narrow import narrowed
from tools.quality.run_steps import ROOT
from tools.quality.step_flags import parse_flags
from tools.quality.test_steps import Step, steps

_CASES = "test/conformance/onnx/operators_test.py"


@pytest.fixture(name="modules", scope="module")
def modules_fixture() -> Modules:
    return Modules(ROOT, source_files(ROOT))


def run(modules: Modules, *changed: str) -> Dict[str, Step]:
    found = narrowed(steps({}), ROOT, [Path(name) for name in changed], modules)
    return {step.name: step for step in found}


def files_of(step: Step) -> List[str]:
    return [word for word in step.command if word.endswith("_test.py")]


def test_what_imports_a_module_is_affected(modules: Modules) -> None:
    found = run(modules, "mace/python/tools/importers/caffe/handlers/conv.py")
    importers = files_of(found["importers"])
    assert "mace/python/tools/importers/caffe/handlers/conv_test.py" in importers
    assert "mace/python/tools/importers/keras/importer_test.py" not in importers
    # By name: whatever converts.
    assert "mace/python/tools/run/zoo_models_test.py" in files_of(found["python"])
    assert "host" not in found
    assert found["check"].command[-1] == "tools/check.py"


def test_a_test_affects_itself_alone(modules: Modules) -> None:
    name = "mace/python/tools/ir/shapes_test.py"
    found = run(modules, name)
    assert set(found) == {"python", "check"}
    assert files_of(found["python"]) == [name]


def test_a_room_affects_itself_and_cases_of_its_operator(modules: Modules) -> None:
    found = run(modules, "mace/ops/cum_sum/cum_sum_cpu.cc")
    assert set(found) == {"host", "python", "check"}
    assert files_of(found["python"]) == [_CASES]
    assert "MACE_TEST_OPS=CumSum" in found["python"].command


def test_other_native_code_affects_all_that_runs_it(modules: Modules) -> None:
    found = run(modules, "mace/core/engine/engine.cc")
    assert not any(word.startswith("MACE_TEST_OPS") for word in found["python"].command)
    tests = files_of(found["python"])
    assert {_CASES, "mace/python/runtime/pipeline_test.py"} <= set(tests)
    assert "mace/python/tools/ir/shapes_test.py" not in tests


def test_other_devices_are_tested_where_code_changed() -> None:
    known = (*steps({}), *parse_flags(steps({}), ["--changed"]).steps)
    changed = [Path("mace/kernels/hexagon/convolution.cc")]
    (host, *_) = narrowed(known, ROOT, changed, Modules(ROOT, ()))
    assert host.name == "host"
    assert "//..." in host.command
    assert not [word for word in host.command if word.startswith("-//")]
    changed = [Path("mace/ops/softmax/softmax_cpu.cc")]
    (host, *_) = narrowed(known, ROOT, changed, Modules(ROOT, ()))
    assert "-//mace/kernels/hexagon/..." in host.command


def test_pages_affect_their_commands(modules: Modules) -> None:
    found = run(modules, "docs/user/python.md")
    assert set(found) == {"commands", "check"}
    assert "MACE_TEST_PAGES=docs/user/python.md" in found["commands"].command


def test_nothing_changed(modules: Modules) -> None:
    assert run(modules) == {}


def test_places_that_are_listed_are_there() -> None:
    assert all((ROOT / name).is_file() for name in NATIVE)
    assert all((ROOT / name).is_file() for name in IMPORTS_BY_NAME)
    folders = {folder for more in IMPORTS_BY_NAME.values() for folder in more}
    assert all((ROOT / name).is_dir() for name in folders)


def test_changes_of_a_checkout(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        name = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(
            ("git", *name, *words), cwd=tmp_path, check=True, capture_output=True
        )

    git("init", "-b", "main")
    for name in ("kept", "changed", "removed"):
        (tmp_path / name).write_text(name)
    git("add", ".")
    git("commit", "-m", "first")
    git("checkout", "-b", "work")
    (tmp_path / "changed").write_text("more")
    (tmp_path / "removed").unlink()
    git("commit", "-am", "second")
    (tmp_path / "new").write_text("")
    assert changed_files(tmp_path) == (Path("changed"), Path("new"))
    assert Path("removed") in changed_files(tmp_path, removed=True)
    assert changed_files(tmp_path, "HEAD") == (Path("new"),)
    assert Path("removed") not in source_files(tmp_path)
