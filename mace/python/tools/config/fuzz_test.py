# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""No text whatever makes the reader raise anything but ConfigError."""

from __future__ import annotations

import contextlib
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.keys import keys_of
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.problems import ConfigError
from mace.python.tools.config.subgraph import SubgraphConfig

_TESTDATA = Path(__file__).parent / "testdata"
_SEEDS = tuple(sorted(path.read_text() for path in _TESTDATA.glob("*.yml")))
# derandomize: the same inputs on every run, so a failure is everyone's.
_SETTINGS = settings(
    derandomize=True,
    max_examples=400,
)


def _read(text: str, replaced: dict[str, str] | None = None) -> None:
    with contextlib.suppress(ConfigError) as _:
        deployment = load_deployment_text(text, "f.yml", replaced, env={})
        # What loads has a normal form with at least one of everything.
        assert deployment.models and deployment.target_abis
        assert all(m.subgraphs[0].inputs for m in deployment.models.values())
        return
    # The message can always be built and printed.
    try:
        load_deployment_text(text, "f.yml", replaced, env={})
    except ConfigError as error:
        str(error).encode("utf-8")
        assert error.problems


@_SETTINGS
@given(st.text())
def test_any_text(text: str) -> None:
    _read(text)


@_SETTINGS
@given(st.text(alphabet=" \n-:[]{}&*!|>'\"%@`#,?<a1$.\\xu0~"))
def test_text_of_yaml_characters(text: str) -> None:
    _read(text)


_WORDS = st.sampled_from(
    [
        "0",
        "1",
        "-1",
        "on",
        "~",
        "",
        "cpu",
        "cpu_gpu",
        "dsp",
        "fp32",
        "uint8",
        "code",
        "file",
        "host",
        "all",
        "1,2,3",
        "-1.0,1.0",
        "nan,inf",
        '"x"',
        "${X}",
        "http://[::1",
        "http://h/x",
        "2019-01-01",
        "1:30",
        "=",
        "!!python/object:os.system x",
        '"\\ud800"',
        '"\\0"',
    ]
)
_VALUES: st.SearchStrategy[str] = st.recursive(
    _WORDS | st.integers().map(str),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda i: f"[{', '.join(i)}]"),
        st.lists(st.tuples(st.sampled_from("abc"), inner), max_size=3).map(
            lambda i: "{" + ", ".join(f"{k}: {v}" for k, v in i) + "}"
        ),
    ),
    max_leaves=4,
)


def _section(keys: tuple[str, ...], indent: str) -> st.SearchStrategy[str]:
    lines = st.tuples(st.sampled_from(keys), _VALUES).map(
        lambda kv: f"{indent}{kv[0]}: {kv[1]}\n"
    )
    return st.lists(lines, max_size=6).map("".join)


@_SETTINGS
@given(
    _section(tuple(keys_of(Deployment))[:-1], ""),
    _section(tuple(keys_of(ModelConfig)), "    "),
    _section(tuple(keys_of(SubgraphConfig)), "        "),
)
def test_known_keys_with_odd_values(top: str, model: str, sub: str) -> None:
    _read(
        f"{top}models:\n  m:\n    platform: onnx\n{model}"
        f"    subgraphs:\n      - input_tensors: x\n{sub}"
    )


@_SETTINGS
@given(
    st.sampled_from(_SEEDS),
    st.integers(0, 10_000),
    st.integers(0, 40),
    st.one_of(_VALUES, st.text(max_size=8)),
)
def test_mutated_good_files(seed: str, start: int, length: int, new: str) -> None:
    start %= len(seed)
    _read(seed[:start] + new + seed[start + length :])


@_SETTINGS
@given(st.text(), st.text())
def test_any_override(abis: str, graph_format: str) -> None:
    _read(
        _SEEDS[0],
        {"target_abis": abis, "model_graph_format": graph_format},
    )
