# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong in a deployment file, and how the message says it."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.problems import ConfigError, cited
from mace.python.tools.errors import MaceError

_GOOD = """library_name: lib
target_abis: [arm64-v8a]
model_graph_format: file
model_data_format: file
models:
  net:
    platform: onnx
    model_file_path: net.onnx
    subgraphs:
      - input_tensors: [a, b]
        input_shapes: ["1,2", "3,4"]
        output_tensors: y
        output_shapes: 1,3
    runtime: cpu
"""


def _problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_deployment_text(text, "d.yml")
    return [str(problem) for problem in caught.value.problems]


def _only_problem(old: str, new: str) -> str:
    assert _GOOD.count(old) == 1, old
    (problem,) = _problems(_GOOD.replace(old, new))
    return problem


def test_the_base_is_good() -> None:
    load_deployment_text(_GOOD)


# Each row: replaced text, its replacement, and what the one message must hold:
# the place, then what was found, what is accepted or which key was meant.
_ONE_PROBLEM = [
    ("library_name: lib\n", "", ["d.yml", "library_name", "is missing"]),
    ("library_name: lib", "library_name:", ["d.yml:1", "has no value"]),
    ("library_name: lib", "library_name: a/b", ["'a/b'", "letters"]),
    ("library_name: lib", "library_name: ..", ["'..'"]),
    ("library_name", "libary_name", ["d.yml:1", "did you mean library_name?"]),
    ("[arm64-v8a]", "[arm64-v8a, mips]", ["target_abis[1]", "'mips'"]),
    ("[arm64-v8a]", "[arm64_v8a]", ["did you mean arm64-v8a?"]),
    ("[arm64-v8a]", "[]", ["target_abis", "an empty list"]),
    ("[arm64-v8a]", "{a: b}", ["target_abis", "found a mapping"]),
    ("[arm64-v8a]", "[arm64-v8a, arm64-v8a]", ["twice"]),
    (
        "model_data_format: file",
        "model_data_format: code",
        ["d.yml:4", "model_graph_format is file"],
    ),
    (
        "model_graph_format: file",
        "model_graph_format: files",
        ["'files'", "file or code", "did you mean file?"],
    ),
    (
        "model_graph_format: file",
        "model_graph_format: file\nbuild_type: proto",
        ["d.yml:4: build_type", "also given (d.yml:3)"],
    ),
    ("runtime: cpu", "runtime: npu", ["d.yml:14", "models.net.runtime", "cpu"]),
    ("    runtime: cpu\n", "", ["models.net.runtime", "is missing"]),
    (
        "runtime: cpu",
        "runtime: gpu\n    data_type: bf16_fp32",
        ["d.yml:15", "models.net.data_type", "runtime gpu", "fp32_fp32"],
    ),
    (
        "runtime: cpu",
        "runtime: htp\n    data_type: fp16_fp16",
        ["models.net.data_type", "htp", "fp16_fp32 or fp32_fp32"],
    ),
    (
        "runtime: cpu",
        "runtime: cpu\n    data_type: uint8",
        ["models.net.data_type", "'uint8'", "bf16_fp32"],
    ),
    ("runtime: cpu", "runtme: cpu", ["unknown key", "did you mean runtime?"]),
    (
        "platform: onnx",
        "platform: torch",
        ["'torch'", "accepted: onnx, tensorflow, tflite, caffe, keras or pytorch"],
    ),
    (
        "platform: onnx",
        "platform: onnx\n    weight_file_path: w",
        ["weight_file_path", "only for Caffe"],
    ),
    ("platform: onnx", "platform: caffe", ["weight_file_path: is missing"]),
    (
        "platform: onnx",
        "platform: onnx\n    weight_sha256_checksum: " + "0" * 64,
        ["weight_sha256_checksum", "without weight_file_path"],
    ),
    ("net.onnx", "ftp://host/net.onnx", ["http://", "'ftp://host/net.onnx'"]),
    ("net.onnx", "http://", ["http://"]),
    ("net.onnx", "http:///net.onnx", ["'http:///net.onnx'"]),
    ("net.onnx", "'http://[::1/net.onnx'", ["'http://[::1/net.onnx'"]),
    ("net.onnx", "http://host:port/net.onnx", ["'http://host:port/net.onnx'"]),
    (
        "net.onnx",
        "http://host/net.onnx",
        ["models.net.model_sha256_checksum", "is missing", "sha256sum"],
    ),
    (
        "net.onnx",
        "net.onnx\n    model_sha256_checksum: abc",
        ["found 3 hexadecimal digits", "64"],
    ),
    ('["1,2", "3,4"]', '["1,2"]', ["1 value for 2 tensors", "for each"]),
    ('["1,2", "3,4"]', '["1,2", "0,4"]', ["d.yml:11", "input_shapes[1]"]),
    ('["1,2", "3,4"]', '["1,2", "1.5"]', ["'1.5'", "1,224,224,3"]),
    ('["1,2", "3,4"]', '["1,2", "-2"]', ["'-2'", "-1"]),
    ('["1,2", "3,4"]', '["1,2", "99999999999,1"]', ["99999999999"]),
    (
        '["1,2", "3,4"]',
        '["1,2", "1,1,1,1,1,1,1,1,1"]',
        ["9 dimensions", "at most 8"],
    ),
    ("[a, b]", "[a, a]", ["'a'", "twice"]),
    ("[a, b]", '[a, ""]', ["input_tensors[1]", "a name"]),
    ("[a, b]", "[a, b]\n        order: first", ["order", "'first'"]),
    ("[a, b]", "[a, ~]", ["input_tensors[1]", "an empty value"]),
    (
        "output_tensors: y",
        "output_tensors: y\n        input_data_types: [int32, float32, int8]",
        ["3 values for 2 tensors", "one for all"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        input_data_types: float64",
        ["'float64'", "float32"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        input_data_formats: NHCW",
        ["'NHCW'", "did you mean NHWC?"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        input_ranges: 1,-1",
        ["input_ranges", "lowest first"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        input_ranges: -inf,1",
        ["input_ranges", "lowest first"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        validation_threshold: {CPU: 1.01}",
        ["validation_threshold", "'1.01'", "1.0"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        validation_threshold: {DPS: 0.9}",
        ["'DPS'", "cpu, gpu, dsp"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        validation_threshold: 0.9",
        ["validation_threshold", "'0.9'", "mapping"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        check_tensors: c",
        ["check_shapes", "is missing"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        check_shapes: 1,2",
        ["check_shapes", "without check_tensors"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        validation_inputs_data: a.npy",
        ["1 value for 2 tensors"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        states: {c: y}",
        ["states", "'c' is not in input_tensors"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        states: {a: z}",
        ["states", "'z' is not in output_tensors"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        states: {a: [y]}",
        ["states.a: found a list", "a name"],
    ),
    (
        'input_shapes: ["1,2", "3,4"]',
        "input_shapes: [1, 1..512, 3]",
        ["found 3 values for 2 tensors", 'write "1,1..512,3" without [ ]'],
    ),
    (
        'input_shapes: ["1,2", "3,4"]',
        'input_shapes: ["1,2", "1,1..4"]\n        states: {b: y}',
        ["'b' needs a fixed shape, input_shapes says 1,1..4"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        input_ranges: 1",
        ["subgraphs[0].input_ranges: found '1'", "two numbers, lowest first"],
    ),
    (
        "output_tensors: y",
        'output_tensors: y\n        input_means: ["1,2", "1,2,3"]',
        ["input_means", "3 numbers for 'b'", "4 channels in input_shapes 3,4"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        input_means: red",
        ["input_means", "'red'", "one per channel such as 123.7,116.8,103.9"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        input_scales: [1, 0]",
        ["input_scales", "'0'", "other than 0"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        input_scales: 2\n        states: {b: y}",
        ["states", "'b' is not from the application, its input_scales must be 1"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        states: a",
        ["states", "'a'", "a mapping such as {state_in: state_out}"],
    ),
    (
        "output_tensors: y",
        "output_tensors: y\n        obfuscate: 1",
        ["subgraphs[0].obfuscate", "belongs with the model"],
    ),
    ("target_abis", "runtime: cpu\ntarget_abis", ["belongs with the model"]),
    (
        "output_tensors: y",
        "output_tensors: y\n        winograd: 6",
        ["'6'", "0 (off), 2 or 4"],
    ),
    ("runtime: cpu", "runtime: cpu\n    obfuscate: 2", ["'2'", "0 or 1"]),
    (
        "runtime: cpu",
        "runtime: cpu\n    opencl_queue_window_size: -1",
        ["'-1'", "0 or more"],
    ),
    ("runtime: cpu", "runtime: cpu\n    winogrid: 0", ["did you mean winograd"]),
    (
        "runtime: cpu",
        "runtime: cpu\n    micro: x",
        ["micro", "'x'", "a mapping with keys such as backend"],
    ),
    ("runtime: cpu", "runtime: cpu\n    runtime: cpu", ["twice", "line 14"]),
    ("library_name: lib", "library_name: !!binary aGk=", ["YAML tag"]),
    ("library_name: lib", "library_name: ${NOWHERE}", ["NOWHERE", "not set"]),
    ("library_name: lib", 'library_name: "\\ud800"', ["Unicode"]),
    ("library_name: lib", "? [a]\n: b\nlibrary_name: lib", ["plain word"]),
    ("library_name: lib", "<<: 3\nlibrary_name: lib", ["merge"]),
    ("library_name: lib", "library_name: lib\n\tx: 1", ["d.yml:2", "YAML"]),
]


@pytest.mark.parametrize(("old", "new", "parts"), _ONE_PROBLEM)
def test_one_mistake_one_message(old: str, new: str, parts: list[str]) -> None:
    problem = _only_problem(old, new)
    for part in parts:
        assert part in problem, problem
    assert problem.startswith("d.yml")
    assert "\n" not in problem


@pytest.mark.parametrize(
    ("subgraphs", "part"),
    [
        ("    subgraphs:\n", "has no value"),
        ("    subgraphs: []\n", "an empty list"),
        ("    subgraphs: {input_tensors: x}\n", "begin each entry of subgraphs with"),
        ("    subgraphs: [x]\n", "a mapping with keys"),
        ("", "is missing"),
    ],
)
def test_wrong_subgraphs(subgraphs: str, part: str) -> None:
    start = _GOOD.index("    subgraphs:")
    end = _GOOD.index("    runtime:")
    (problem,) = _problems(_GOOD[:start] + subgraphs + _GOOD[end:])
    assert part in problem
    assert "models.net.subgraphs" in problem


@pytest.mark.parametrize(
    ("models", "part"),
    [
        ("models:\n", "has no value"),
        ("models: {}\n", "an empty mapping"),
        ("models: [a]\n", "found a list"),
        ("models: {net: }\n", "found an empty value"),
        ("", "is missing"),
    ],
)
def test_wrong_models(models: str, part: str) -> None:
    (problem,) = _problems(_GOOD[: _GOOD.index("models:")] + models)
    assert part in problem
    assert "models" in problem


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("net-1", "not a C++ name"),
        ("1net", "not a C++ name"),
        ("class", "C++ keyword"),
        ("nét", "not a C++ name"),
        ("std", "namespace of the C++ library"),
        ("linux", "a macro of C++ systems"),
        ("EOF", "without small letters"),
        ("_net", 'begins with "_"'),
        ("my__net", 'has "__" in it'),
    ],
)
def test_model_name_must_be_a_cpp_name_for_code(name: str, part: str) -> None:
    text = _GOOD.replace("  net:", f"  {name}:")
    text = text.replace("graph_format: file", "graph_format: code")
    (problem,) = _problems(text)
    assert part in problem
    assert problem.startswith(f"d.yml:6: models.{name}: ")


def test_model_name_may_be_any_file_name_otherwise() -> None:
    load_deployment_text(_GOOD.replace("  net:", "  1-net.v2:"))
    (problem,) = _problems(_GOOD.replace("  net:", "  a b:"))
    assert "'a b'" in problem


def test_all_problems_come_at_once_in_line_order() -> None:
    text = (
        _GOOD.replace("library_name: lib", "library_name: a b")
        .replace('["1,2", "3,4"]', '["1,2"]')
        .replace("runtime: cpu", "runtime: xpu")
        .replace("output_shapes", "ouput_shapes")
    )
    with pytest.raises(ConfigError) as caught:
        load_deployment_text(text, "d.yml")
    assert str(caught.value).startswith("4 problems in d.yml:\n")
    keys = [problem.place.path for problem in caught.value.problems]
    assert keys == [
        "library_name",
        "models.net.subgraphs[0].input_shapes",
        "models.net.subgraphs[0].ouput_shapes",
        "models.net.runtime",
    ]


def test_every_message_names_file_and_line() -> None:
    text = _GOOD.replace("runtime: cpu", "runtime: xpu")
    (problem,) = _problems(text)
    assert re.match(r"d\.yml:14: models\.net\.runtime: ", problem)


def test_long_values_are_cut() -> None:
    problem = _only_problem("library_name: lib", "library_name: " + "x/" * 999)
    assert len(problem) < 300


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "is empty"),
        ("# only a comment\n", "is empty"),
        ("- a\n- b\n", "key: value"),
        ("just text", "key: value"),
        ("a: [1, 2", "not valid YAML"),
        ("a: &x [*x]", "refers to itself"),
        ("a: *x", "not valid YAML"),
        ("a: b\n---\nc: d\n", "not valid YAML"),
        ('a: "\x07"', "not valid YAML"),
    ],
)
def test_not_a_deployment_file_at_all(text: str, part: str) -> None:
    problems = _problems(text)
    assert part in problems[0]


def test_deep_nesting_and_alias_bombs_are_refused_quickly() -> None:
    assert "deep" in _problems("a: " + "[" * 200 + "]" * 200)[0]
    _problems("a: " + "[" * 100_000)
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    for i in range(1, 9):
        refs = ",".join([f"*a{i - 1}"] * 10)
        lines.append(f"a{i}: &a{i} [{refs}]")
    assert "more than 20000 keys and values" in _problems("\n".join(lines))[0]
    chain = ["a0: &a0 [x]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 50))]
    assert "nested more than 32 deep" in _problems("\n".join(chain))[0]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"k{i}: v" for i in range(350_000)),
        "a: [" + "x," * 400_000,
        "a: {" + "? " * 400_000,
        "- " * 500_000,
        "a: " + "x: " * 300_000,
        "a: " + "x " * 500_000,
        "a: |\n" + " x\n" * 300_000,
        "#\n" * 500_000,
        "\n" * 1_000_000,
        "a: " + "&" * 1_000_000,
        "a: '" + "''" * 500_000,
        "%TAG ! x\n" * 100_000,
        "--- a\n" * 100_000,
    ],
    ids=lambda text: text[:8],
)
def test_any_text_is_refused_within_seconds(text: str) -> None:
    # Of the processor, so that other work on the computer does not count.
    begin = time.process_time()
    _problems(text)
    # Without limits, PyYAML took 19 s for 350,000 keys.
    assert time.process_time() - begin < 10


@pytest.mark.parametrize("kind", ["missing", "folder", "binary", "huge"])
def test_file_that_cannot_be_read(tmp_path: Path, kind: str) -> None:
    from mace.python.tools.config.load import load_deployment

    path = tmp_path / "d.yml"
    expected = {
        "missing": "No such file",
        "folder": "directory",
        "binary": "not UTF-8",
        "huge": "larger than 1 MiB",
    }[kind]
    if kind == "folder":
        path.mkdir()
    elif kind == "binary":
        path.write_bytes(b"\x80\x02model")
    elif kind == "huge":
        path.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(ConfigError, match=expected) as caught:
        load_deployment(path)
    assert str(path) in str(caught.value)


def test_states_need_a_fixed_shape_and_outputs_of_their_own() -> None:
    text = _GOOD.replace("1,2", "-1,2").replace(
        "output_tensors: y", "states: {a: y, b: y}\n        output_tensors: y"
    )
    (message,) = _problems(text)
    assert "'a' needs a fixed shape, input_shapes says -1,2" in message
    assert "names 'y' twice" in message
    assert "names every input; one at least must come" in message


_TEXT = """library_name: lib
target_abis: host
models:
  m:
    runtime: cpu
    platform: onnx
    model_file_path: m.onnx
    subgraphs:
      - input_tensors: x
        input_shapes: 1,4
        output_tensors: y
        output_shapes: 1,4
  flat:
    runtime: cpu
    platform: onnx
    model_file_path: m.onnx
    input_nodes: x
    input_shapes: 1,4
    output_nodes: y
    output_shapes: 1,4
"""


@pytest.mark.parametrize(
    ("model", "message", "cited_as"),
    [
        ("m", "input_tensors: no 'z'", "d.yml:9: input_tensors: no 'z'"),
        ("m", "models.m: output_shapes says [1]", "d.yml:12: models.m: output_shapes"),
        ("m", "models.m.platform: not", "d.yml:6: models.m.platform: not"),
        ("m", "models.m.model_file_path: no", "d.yml:7: models.m.model_file_path"),
        ("m", "one\ninput_shapes: two", "one\nd.yml:10: input_shapes: two"),
        ("flat", "input_tensors: no 'z'", "d.yml:17: input_tensors: no 'z'"),
        ("m", "quantize: is not there", "quantize: is not there"),
        ("m", "the node input_tensors: odd", "the node input_tensors: odd"),
    ],
)
def test_a_message_that_begins_with_a_key_tells_its_line(
    model: str, message: str, cited_as: str
) -> None:
    deployment = load_deployment_text(_TEXT, "d.yml")
    with pytest.raises(MaceError) as error, cited(deployment.models[model]):
        raise MaceError(message)
    assert str(error.value).startswith(cited_as)
