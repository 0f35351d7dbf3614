# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which tests prove what the operator table says: each device, type and framework.

Nothing is listed by hand. The tests of a room, of all rooms and of importers are found
by their names and by what they contain; `proofs_test.py` fails if there is none for a
cell of the table.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.catalogue.schema import Catalogue, OpSchema
from mace.python.tools.custom_ops import (
    RARE_OPS,
    call_on_change,
    handler_modules,
    rare_modules,
)
from mace.python.tools.data_type import DataType

_ROOT = Path(__file__).resolve().parents[4]
_OPS = Path("mace/ops")
_TOOLS = Path("mace/python/tools")
_IMPORTERS = _TOOLS / "importers"

# Where a framework's name is not that of its folder with a capital letter.
_TITLES = {
    "onnx": "ONNX",
    "pytorch": "PyTorch",
    "tensorflow": "TensorFlow",
    "tflite": "TensorFlow Lite",
}
# Frameworks whose handlers are in a folder of another name.
_ELSEWHERE = {"standard": "onnx", "tf_operators": "tensorflow"}
# Runs random cases of every operator in Python and natively; fails for a type of the
# table that none of the cases has.
RULES = "test/conformance/op_rules_test.py"
# Begins the name of a test that fails for a handler of a framework that nothing has
# compared, for handlers without a test beside them.
_EVERY_HANDLER = "def test_every_handler_"
# Runs the tests of all rooms on the GPU runtime.
GPU_CASES = "//test/opencl:ops_test"
# The same on an emulated DSP.
DSP_CASES = "//test/hexagon:ops_test"
_ALL_OPS = "mace/ops/testing/all_ops_test.cc"
_HALF = {
    DataType.FLOAT16: f"{_ALL_OPS} (GiveTheSameInFloat16)",
    DataType.BFLOAT16: f"{_ALL_OPS} (GiveTheSameInBfloat16)",
}
_ISAS = Path("mace/kernels/cpu/isa.h")
# As the compiler calls the processors for which that file has lists.
_PROCESSORS = {"x86-64": "__x86_64__", "ARM 64": "__aarch64__", "ARM 32": "__arm__"}
# What runs a case on every instruction set that the processor has.
_ON_EVERY_ISA = re.compile(r"\b(RunEverywhere|ExpectFloats|ExpectValues?)\(")
# The ends of the names of tests of quantized operators.
_QUANTIZED_TESTS = "_quantized_test.cc"


@dataclass(frozen=True)
class Proof:
    """A cell of the operator table.

    Attributes:
        where: a device, or a framework whose operators become this one.
        what: an element type on the device; '' for a framework.
        tests: files from the root of the sources, perhaps with the name of a test, and
            targets of Bazel; empty if nothing proves the cell.
    """

    where: str
    what: str
    tests: tuple[str, ...]


def proofs_of(op: OpSchema, catalogue: Catalogue) -> list[Proof]:
    """Every cell of an operator, with the tests that prove it."""
    return [
        *_on_cpu(op, catalogue),
        *_on_instruction_sets(op, catalogue),
        *_on_gpu(op, catalogue),
        *_on_dsp(op, catalogue),
        *_from_frameworks(op),
    ]


def _on_cpu(op: OpSchema, catalogue: Catalogue) -> Iterator[Proof]:
    plain_tests = {
        f"{name[op.type]}_test.cc" for name in (catalogue.rooms, catalogue.names)
    }
    own = _room_tests(op.type, catalogue)
    plain = tuple(test for test in own if Path(test).name in plain_tests)
    if plain:
        plain += (f"{RULES} ({op.type})",)
    for dtype in op.outputs[0].types:
        yield Proof("CPU", dtype.value, plain)
    stored: dict[DataType, None] = {}
    for signature in op.signatures.get("cpu", ()):
        stored.update(dict.fromkeys(signature.floats))
    for dtype in stored:
        yield Proof("CPU", f"float32, stored as {dtype.value}", (_HALF[dtype],))
    for dtype in op.outputs[0].quantized:
        found = tuple(test for test in own if _is_quantized_test(test, dtype))
        yield Proof("CPU", f"quantized, {dtype.value}", found)


@functools.cache
def instruction_sets() -> Mapping[str, tuple[str, ...]]:
    """The instruction sets that kernels are compiled for, by processor, lowest first.

    Read from the list that the kernels themselves are chosen by.
    """
    text = (_ROOT / _ISAS).read_text(encoding="utf-8")
    found = {}
    for processor, macro in _PROCESSORS.items():
        block = text.partition(f"defined({macro})")[2].partition("\n#e")[0]
        every = re.findall(
            r"#define MACE_FOR_EACH_(?:ISA_AND_BASE|BF16_EXTENSION)\("
            r"[^\\\n]*(?:\\\n[^\\\n]*)*",
            block,
        )
        found[processor] = tuple(
            name for part in every for name in re.findall(r"X\((\w+), \w+,", part)
        )
    return found


def _on_instruction_sets(op: OpSchema, catalogue: Catalogue) -> Iterator[Proof]:
    """The tests of a room run each case on every set that the processor has."""
    own = _room_tests(op.type, catalogue)
    tests = tuple(
        test for test in own if _ON_EVERY_ISA.search((_ROOT / test).read_text("utf-8"))
    )
    for processor, names in instruction_sets().items():
        yield Proof(processor, ", ".join(names), tests)


def _on_dsp(op: OpSchema, catalogue: Catalogue) -> Iterator[Proof]:
    if "HEXAGON" not in catalogue.devices.get(op.type, ()):
        return
    own = _room_tests(op.type, catalogue)
    # It computes in integers, and moves elements of any type.
    quantized = [test for test in own if test.endswith(_QUANTIZED_TESTS)]
    tests = tuple(f"{DSP_CASES} ({Path(test).name})" for test in quantized or own)
    yield Proof("DSP", "integers", tests)


def _on_gpu(op: OpSchema, catalogue: Catalogue) -> Iterator[Proof]:
    if "GPU" not in catalogue.devices.get(op.type, ()):
        return
    own = _room_tests(op.type, catalogue)
    # The GPU computes in floats.
    plain = [test for test in own if not test.endswith(_QUANTIZED_TESTS)]
    tests = tuple(f"{GPU_CASES} ({Path(test).name})" for test in plain)
    yield Proof("GPU", "floats in 32 and 16 bits", tests)


def _from_frameworks(op: OpSchema) -> Iterator[Proof]:
    makers = _makers().get(op.type, {})
    for framework, title in frameworks().items():
        files = makers.get(framework, ())
        if files:
            tests = dict.fromkeys(handler_test(framework, file) for file in files)
            missing = "" in tests
            yield Proof(title, "", () if missing else tuple(tests))
    if not makers:
        yield Proof("made by the converter", "", _tests_that_name(op.type))


def handler_test(framework: str, handlers: str) -> str:
    """The test of a file of handlers; '' if there is none.

    Args:
        handlers: the name of the file, without its ending; with its folder if that is
            a user's own, or the one of rare operators.
    """
    if Path(handlers).is_absolute():
        test = Path(f"{handlers}_test.py")
        if test.is_file():
            return _place(test)
        return shared_test(framework) if RARE_OPS in test.parents else ""
    own = handlers_of(framework) / f"{handlers}_test.py"
    return own.as_posix() if (_ROOT / own).is_file() else shared_test(framework)


def handlers_of(framework: str) -> Path:
    """The folder with the handlers of a framework, from the root of the sources."""
    folders = {name: folder for folder, name in _ELSEWHERE.items()}
    return _IMPORTERS / folders.get(framework, framework) / "handlers"


@functools.cache
def shared_test(framework: str) -> str:
    """The test of all handlers of a framework; '' if there is none."""
    for folder in (_IMPORTERS / framework, Path("test/conformance") / framework):
        for path in sorted((_ROOT / folder).glob("*_test.py")):
            if _EVERY_HANDLER in path.read_text(encoding="utf-8"):
                return path.relative_to(_ROOT).as_posix()
    return ""


@functools.cache
def frameworks() -> Mapping[str, str]:
    """The names of the frameworks that have handlers, by their short ones."""
    folders = sorted((_ROOT / _IMPORTERS).glob("*/handlers"))
    names = sorted(_ELSEWHERE.get(f.parent.name, f.parent.name) for f in folders)
    return {name: _TITLES.get(name, name.capitalize()) for name in names}


@functools.cache
def _makers() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """By operator and framework, the files of handlers that name the operator."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for framework in frameworks():
        folder = _ROOT / handlers_of(framework)
        for path in sorted(folder.glob("*.py")):
            if path.stem.endswith("_test") or path.stem == "__init__":
                continue
            for word in _words(path):
                files = found.setdefault(word, {})
                files[framework] = (*files.get(framework, ()), path.stem)
        for _, path in (*rare_modules(framework), *handler_modules(framework)):
            for word in _words(path):
                files = found.setdefault(word, {})
                name = str(path.with_suffix(""))
                files[framework] = (*files.get(framework, ()), name)
    return found


call_on_change(_makers.cache_clear)


def _words(path: Path) -> set[str]:
    """The texts in a file of Python."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _room_tests(op_type: str, catalogue: Catalogue) -> list[str]:
    own = _ROOT / _OPS / catalogue.rooms[op_type]
    files = sorted(catalogue.custom.get(op_type, own).glob("*_test.cc"))
    # A room may hold several operators.
    alone = list(catalogue.rooms.values()).count(catalogue.rooms[op_type]) == 1
    return [
        _place(path)
        for path in files
        if alone or f'"{op_type}"' in path.read_text(encoding="utf-8")
    ]


def _place(path: Path) -> str:
    """A file from the root of the sources; absolute if it is a user's own."""
    return str(path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else path)


def _is_quantized_test(test: str, dtype: DataType) -> bool:
    name = Path(test).name
    if not name.endswith(_QUANTIZED_TESTS):
        return False
    text = (_ROOT / test).read_text(encoding="utf-8")
    return f"DataType::{dtype.cpp_name}" in text


def _tests_that_name(op_type: str) -> tuple[str, ...]:
    """The tests of the converter that name an operator."""
    return tuple(name for name, words in _converter_tests().items() if op_type in words)


@functools.cache
def _converter_tests() -> Mapping[str, set[str]]:
    folders = (_TOOLS / "passes", _TOOLS / "quantize", _TOOLS / "ir", _IMPORTERS)
    paths = [
        path
        for folder in (*folders, Path("test/conformance"))
        for path in sorted((_ROOT / folder).rglob("*_test.py"))
    ]
    return {path.relative_to(_ROOT).as_posix(): _words(path) for path in paths}
