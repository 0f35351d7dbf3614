# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The generated files, compiled where a compiler is the judge."""

from __future__ import annotations

import ast
import itertools
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.config.deployment import Deployment, cpp_name_problem
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.errors import UsageError
from mace.python.tools.export.places import ModelPlaces
from mace.python.tools.export.sources import (
    LinkedModel,
    array_name,
    check_names,
    cpp_literal,
    write_archives,
    write_binary_code,
    write_sources,
)
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


def _library(root: Path, library: str, names: dict[str, bool]) -> Path:
    """Writes the sources and the archive of models as code; returns the headers' root.

    Args:
        names: of the models, and whether their weights are linked in.
    """
    package = root / "mace" / "codegen" / "libraries" / library
    headers = root / library / "include" / "mace" / "public"
    package.mkdir(parents=True)
    headers.mkdir(parents=True)
    models = []
    for name, linked in names.items():
        graph, data = package / f"{name}.pb", package / f"{name}.data"
        places = ModelPlaces(graph, data, True, linked)
        graph.write_bytes(f"{library}'s graph of {name}".encode())
        data.write_bytes(b"\x01\x02\x03")
        models.append(LinkedModel(name, places, _message(), graph, data))
    write_sources(library, package, headers, models, lambda path: path)
    for header in (_ROOT / "mace" / "public").glob("*.h"):
        # That of the models is generated.
        if header.name != "mace_engine_factory.h":
            shutil.copy(header, headers)
    deployment = Deployment.model_construct(
        library_name=library, target_abis=(Abi.HOST,)
    )
    write_archives(deployment, root / library, models, lambda path: _made(path))
    return headers.parents[1]


def _made(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with two libraries of models as code."""
    _library(tmp_path, "lib", {"both": True, "graph_only": False})
    _library(tmp_path, "other-lib", {"third": True})
    return tmp_path


def _run(root: Path, program: str, libraries: Sequence[str] = ("lib",)) -> list[str]:
    """Compiles a program with libraries and runs it, linked with them in every order.

    Returns what it prints, each time the same.
    """
    (root / "main.cc").write_text(program)
    flags = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-c")
    includes = [f"-I{root / library}/include" for library in libraries]
    command = [str(_CLANG), *flags, *includes, "main.cc"]
    subprocess.run(command, cwd=root, check=True)
    printed = []
    for order in itertools.permutations(libraries):
        archives = [f"{library}/host/{library}.a" for library in order]
        command = [str(_CLANG), "main.o", *archives, "-lstdc++", "-o", "program"]
        subprocess.run(command, cwd=root, check=True)
        done = subprocess.run([root / "program"], check=True, capture_output=True)
        printed.append(done.stdout.decode("utf-8"))
    assert printed[1:] == printed[:-1]
    return sorted(printed[0].splitlines())


_PRINT_ALL = """
#include <cstdint>
#include <cstdio>
#include "mace/public/mace_engine_factory.h"
int main() {
  const auto *m = mace::embedding::NewestModel().load();
  for (; m != nullptr; m = m->next) {
    std::printf("%s|%.*s|%d|%d|%d\\n", m->name, (int)m->graph.size(),
                (const char *)m->graph.begin, (int)m->weights.size(),
                m->weights.begin ? m->weights.begin[2] : -1,
                (int)((uintptr_t)m->weights.begin % 64));
  }
}
"""
_ALL_OF_LIB = [
    "both|lib's graph of both|3|3|0",
    "graph_only|lib's graph of graph_only|0|-1|0",
]


@needs_clang
def test_a_program_has_the_bytes_of_the_files(root: Path) -> None:
    # The header of the deployment names all its models, as older sources expect.
    assert _run(root, _PRINT_ALL) == _ALL_OF_LIB


@needs_clang
def test_a_program_may_have_two_libraries(root: Path) -> None:
    text = '#include "mace/public/third.h"\n' + _PRINT_ALL
    third = "third|other-lib's graph of third|3|3|0"
    assert _run(root, text, ("lib", "other-lib")) == [*_ALL_OF_LIB, third]


@needs_clang
def test_two_models_of_one_name_are_refused(root: Path) -> None:
    _library(root, "twin", {"both": True})
    source = root / "main.cc"
    source.write_text(
        f'#include "{root}/lib/include/mace/public/both.h"\n'
        f'#include "{root}/twin/include/mace/public/both.h"\n'
    )
    command = [str(_CLANG), f"-I{root}/lib/include", "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "two libraries have a model both; rename one of them" in done.stderr
    assert done.returncode != 0


@needs_clang
def test_the_header_has_names_and_shapes(root: Path) -> None:
    found = _run(
        root,
        """
#include <cstdio>
#include "mace/public/both.h"
#include "mace/public/graph_only.h"
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
    assert found == sorted(f"both|{_ODD_NAME}|outer|y|1,-1,3,|0|2".splitlines())


def test_the_package_names_the_files_that_are_linked(root: Path) -> None:
    text = (root / "mace/codegen/libraries/lib/BUILD.bazel").read_text()
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    (call,) = (c for c in calls if getattr(c.func, "id", "") == "linked_models")
    (linked,) = (k.value for k in call.keywords if k.arg == "bytes")
    assert ast.literal_eval(linked) == ["both.pb", "both.data", "graph_only.pb"]


def test_names_that_mace_has_a_header_of_are_refused() -> None:
    check_names(["mobilenet", "maces"])
    headers = [path.stem for path in (_ROOT / "mace" / "public").glob("*.h")]
    assert "mace_tensor" in headers
    for name in headers:
        with pytest.raises(UsageError, match=rf"models\.{name}:.*rename"):
            check_names(["ok", name])
    with pytest.raises(UsageError, match=r"models\.mace, models\.mace_c:.*rename"):
        check_names(["mace", "ok", "mace_c"])


@needs_clang
def test_a_header_may_be_named_after_what_it_uses(tmp_path: Path) -> None:
    names = ("int64_t", "string", "vector", "models", "embedding")
    include = _library(tmp_path, "lib", dict.fromkeys(names, True))
    header = include / "mace" / "public" / "mace_engine_factory.h"
    _compile(header, "-fsyntax-only", "-xc++", f"-I{include}", "-std=c++17")


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
        source, "-dM", "-E", "-std=gnu++17", f"-I{root}/lib/include", *flags
    )
    macros = [line.split()[1] for line in text.splitlines()]
    # Function-like ones do no harm without parentheses; guards are the headers'.
    guards = [f"MACE_PUBLIC_MODEL_{name}_H_" for name in ("both", "graph_only")]
    names = [macro for macro in macros if "(" not in macro and macro not in guards]
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


@pytest.mark.parametrize("size", [0, 1, 16, 1000])
def test_the_array_has_the_bytes_of_the_file(tmp_path: Path, size: int) -> None:
    data = bytes((7 * i) % 256 for i in range(size))
    binary = tmp_path / "lib_compiled_opencl_kernel.MI6.msm8998.bin"
    binary.write_bytes(data)
    code = write_binary_code(binary)
    assert code == tmp_path / f"{binary.name}.cc"
    text = code.read_text()
    values = re.findall(r"0x([0-9a-f]{2}),", text)
    assert bytes(int(value, 16) for value in values) == data
    assert "lib_compiled_opencl_kernel_MI6_msm8998_size = " + str(size) in text


@pytest.mark.parametrize("compiler", ["clang++-19", "g++"])
def test_an_application_links_with_it(tmp_path: Path, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    binary = tmp_path / "3d-net_tuned_opencl_parameter.Mi+.sdm660.bin"
    binary.write_bytes(b"\x01\x00\xff")
    name = array_name(binary)
    assert name == "_3d_net_tuned_opencl_parameter_Mi_sdm660"
    code = write_binary_code(binary)
    declared = re.search(r"//   namespace mace \{\n(//.*\n)+", code.read_text())
    assert declared
    main = tmp_path / "main.cc"
    main.write_text(
        re.sub("^//", "", declared[0], flags=re.MULTILINE)
        + f"int main() {{ return mace::{name}_size == 3 && mace::{name}[2] == 255\n"
        "    ? 0 : 1; }\n"
    )
    program = tmp_path / "program"
    flags = ("-Wall", "-Wextra", "-Werror")
    command = [compiler, *flags, str(main), str(code), "-o", str(program)]
    subprocess.run(command, check=True)
    subprocess.run([program], check=True)
