# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The generated files, compiled where a compiler is the judge."""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.codegen.places import ModelPlaces
from mace.python.tools.codegen.sources import (
    LinkedModel,
    check_names,
    cpp_literal,
    write_sources,
)
from mace.python.tools.config.cpp_names import cpp_name_problem
from mace.python.tools.errors import UsageError
from mace.python.tools.proto import load_proto

_ROOT = Path(__file__).resolve().parents[4]
_CLANG = shutil.which("clang++-19")
needs_clang = pytest.mark.skipif(_CLANG is None, reason="clang++-19 is not installed")

_ODD_NAME = 'a"b\\c??/\n\u00e9:0'


def _message() -> Any:
    message = load_proto("mace/proto/mace.proto").Model()
    message.inputs.add(name=_ODD_NAME, shape=[1, -1, 3])
    message.inputs.add(name="inner", alias="outer", shape=[])
    # No business of the application's.
    message.inputs.add(name="state", shape=[2])
    message.outputs.add(name="y", shape=[2])
    message.states.add(input="state", output="y")
    return message


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with the files of two models as code."""
    package = tmp_path / "mace" / "codegen" / "libraries" / "lib"
    package.mkdir(parents=True)
    models = []
    for name, linked in (("both", True), ("graph_only", False)):
        places = ModelPlaces(
            package / f"{name}.pb", package / f"{name}.data", True, linked
        )
        places.graph.write_bytes(b"graph of " + name.encode())
        places.data.write_bytes(b"\x01\x02\x03")
        models.append(LinkedModel(name, places, _message()))
    headers = tmp_path / "include" / "mace" / "public"
    headers.mkdir(parents=True)
    write_sources(package, headers, models, lambda path: path)
    shutil.copy(_ROOT / "mace" / "public" / "mace.h", headers)
    return tmp_path


def _run(root: Path, program: str) -> str:
    """Compiles a program with the generated files and runs it."""
    (root / "main.cc").write_text(program)
    package = "mace/codegen/libraries/lib"
    command = [
        str(_CLANG),
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{root}/include",
        f"-I{_ROOT}",
        "main.cc",
        f"{package}/models.cc",
        f"{package}/models.S",
        "-o",
        "program",
    ]
    subprocess.run(command, cwd=root, check=True)
    done = subprocess.run([root / "program"], check=True, capture_output=True)
    return done.stdout.decode("utf-8")


@needs_clang
def test_the_table_has_the_bytes_of_the_files(root: Path) -> None:
    found = _run(
        root,
        """
#include <cstdint>
#include <cstdio>
#include "mace/embedding/linked_models.h"
int main() {
  const auto linked = mace::embedding::GetLinkedModels();
  for (size_t i = 0; i < linked.count; ++i) {
    const auto &m = linked.models[i];
    std::printf("%s|%.*s|%d|%d|%d\\n", m.name, (int)m.graph.size(),
                (const char *)m.graph.begin, (int)m.weights.size(),
                m.weights.begin ? m.weights.begin[2] : -1,
                (int)((uintptr_t)m.weights.begin % 64));
  }
}
""",
    )
    assert found == "both|graph of both|3|3|0\ngraph_only|graph of graph_only|0|-1|0\n"


@needs_clang
def test_the_header_has_names_and_shapes(root: Path) -> None:
    found = _run(
        root,
        """
#include <cstdio>
#include "mace/public/both.h"
#include "mace/public/graph_only.h"
#include "mace/public/mace_engine_factory.h"
int main() {
  namespace m = mace::models::both;
  static_assert(m::kWeightsLinked);
  static_assert(!mace::models::graph_only::kWeightsLinked);
  std::printf("%s|%s|%s|%s|", m::ModelName().c_str(), m::InputNames()[0].c_str(),
              m::InputNames()[1].c_str(), m::OutputNames()[0].c_str());
  const auto shapes = m::InputShapes();
  for (auto d : shapes[0]) std::printf("%d,", (int)d);
  std::printf("|%d|%d", (int)m::InputShapes()[1].size(),
              (int)m::OutputShapes()[0][0]);
}
""",
    )
    assert found == f"both|{_ODD_NAME}|outer|y|1,-1,3,|0|2"


def test_the_package_names_the_files_that_are_linked(root: Path) -> None:
    text = (root / "mace/codegen/libraries/lib/BUILD.bazel").read_text()
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    (call,) = (c for c in calls if getattr(c.func, "id", "") == "linked_models")
    (linked,) = (k.value for k in call.keywords if k.arg == "bytes")
    assert ast.literal_eval(linked) == ["both.pb", "both.data", "graph_only.pb"]


def test_names_that_mace_has_a_header_of_are_refused() -> None:
    check_names(["mobilenet", "maces"])
    with pytest.raises(UsageError, match=r"models\.mace, models\.mace_c:.*rename"):
        check_names(["mace", "ok", "mace_c"])


@needs_clang
@pytest.mark.parametrize("name", ["int64_t", "string", "vector", "mace", "models"])
def test_a_header_may_be_named_after_what_it_uses(name: str, tmp_path: Path) -> None:
    package = tmp_path / "mace" / "codegen" / "libraries" / "lib"
    headers = tmp_path / "include" / "mace" / "public"
    package.mkdir(parents=True)
    headers.mkdir(parents=True)
    places = ModelPlaces(package / "m.pb", package / "m.data", True, True)
    model = LinkedModel(name, places, _message())
    write_sources(package, headers, [model], lambda path: path)
    _compile(headers / f"{name}.h", "-fsyntax-only", "-xc++")


@needs_clang
@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--target=i686-linux-gnu", "-ffreestanding", "-nostdinc"),
        ("--target=aarch64-linux-android21", "-ffreestanding", "-nostdinc"),
    ],
)
def test_no_model_is_named_like_a_macro(root: Path, flags: tuple[str, ...]) -> None:
    """Of the compiler, and of the headers that a generated one includes."""
    source = root / "macros.cc"
    include = "" if flags else '#include "mace/public/both.h"\n'
    source.write_text(include)
    text = _compile(
        source, "-dM", "-E", "-std=gnu++17", "-I", str(root / "include"), *flags
    )
    macros = [line.split()[1] for line in text.splitlines()]
    # Function-like ones do no harm without parentheses; the guard is the header's.
    guard = "MACE_PUBLIC_MODEL_both_H_"
    names = [macro for macro in macros if "(" not in macro and macro != guard]
    assert "linux" in names
    assert [name for name in names if not cpp_name_problem(name)] == []


def _compile(source: Path, *flags: str) -> str:
    assert _CLANG is not None
    done = subprocess.run(
        [_CLANG, *flags, str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_literals_end_where_they_should() -> None:
    # A digit after an escape does not become part of it.
    assert cpp_literal("\n1") == '"\\0121"'
    assert cpp_literal("") == '""'
