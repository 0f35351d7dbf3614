# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of `operators.py` on sequences: recurrent layers, attention, Einsum."""

from __future__ import annotations

from typing import Any

from onnx import helper

from benchmarks.operator_case import Case, floats, ints, one, scalar, tensors


def _recurrent() -> list[Case]:
    """With as many inputs as units."""
    cases = []
    for op, gates, directions, batch, units, steps in (
        ("LSTM", 4, 1, 1, 128, 64),
        ("LSTM", 4, 1, 1, 256, 64),
        ("LSTM", 4, 1, 1, 512, 64),
        ("LSTM", 4, 1, 1, 1024, 16),
        ("LSTM", 4, 1, 4, 128, 64),
        ("LSTM", 4, 1, 4, 512, 16),
        ("LSTM", 4, 1, 8, 128, 64),
        ("LSTM", 4, 1, 8, 256, 64),
        ("LSTM", 4, 1, 8, 512, 64),
        ("LSTM", 4, 1, 32, 128, 64),
        ("LSTM", 4, 1, 32, 512, 16),
        ("LSTM", 4, 2, 1, 256, 64),
        ("GRU", 3, 1, 1, 128, 64),
        ("GRU", 3, 1, 1, 256, 64),
        ("GRU", 3, 1, 1, 512, 64),
        ("GRU", 3, 1, 1, 1024, 16),
        ("GRU", 3, 1, 4, 512, 16),
        ("GRU", 3, 1, 8, 256, 64),
        ("GRU", 3, 1, 8, 128, 64),
        ("GRU", 3, 1, 32, 128, 64),
        ("GRU", 3, 1, 32, 512, 16),
        ("RNN", 1, 1, 1, 256, 64),
        ("RNN", 1, 1, 8, 256, 64),
    ):
        rows = (directions, gates * units)
        attributes: dict[str, Any] = {"hidden_size": units}
        if op == "GRU":  # as PyTorch has it
            attributes["linear_before_reset"] = 1
        if directions == 2:
            attributes["direction"] = "bidirectional"
        both = ", both directions" if directions == 2 else ""
        cases.append(
            one(
                f"{op} of {units} units, batch {batch}{both}",
                op,
                (steps, batch, units),
                constants={
                    "w": floats(*rows, units),
                    "r": floats(*rows, units),
                    "bias": floats(directions, 2 * gates * units),
                },
                images=False,
                **attributes,
            )
        )
    return cases


def _written_out(tokens: int) -> Case:
    """Self-attention as exporters write it."""
    heads, depth = 12, 64
    make = helper.make_node
    moved = [
        node
        for operand, perm in zip("qkv", ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        for node in (
            make("Reshape", [operand, "split"], [f"{operand}_heads"]),
            make("Transpose", [f"{operand}_heads"], [f"{operand}_turned"], perm=perm),
        )
    ]
    rest = [
        make("MatMul", ["q_turned", "k_turned"], ["scores"]),
        make("Mul", ["scores", "scale"], ["scaled"]),
        make("Add", ["scaled", "mask"], ["masked"]),
        make("Softmax", ["masked"], ["weights"], axis=-1),
        make("MatMul", ["weights", "v_turned"], ["results"]),
        make("Transpose", ["results"], ["back"], perm=[0, 2, 1, 3]),
        make("Reshape", ["back", "joined"], ["y"]),
    ]
    shape = (1, tokens, heads * depth)
    return Case(
        f"attention, 12 heads, {tokens} tokens",
        [*moved, *rest],
        {"q": shape, "k": shape, "v": shape, "mask": (1, 1, 1, tokens)},
        tensors(
            {
                "split": ints(0, 0, heads, depth),
                "joined": ints(0, 0, heads * depth),
                "scale": scalar(depth**-0.5),
            }
        ),
        images=False,
    )


def _attention(
    name: str,
    queries: int,
    keys: int,
    heads: tuple[int, int] = (12, 12),
    depth: int = 64,
    **attributes: Any,
) -> Case:
    """The operator Attention; heads of queries, and of keys and values."""
    return one(
        f"attention operator, {name}",
        "Attention",
        (1, heads[0], queries, depth),
        (1, heads[1], keys, depth),
        (1, heads[1], keys, depth),
        images=False,
        opset=23,
        **attributes,
    )


def _attentions() -> list[Case]:
    return [
        _attention("128 tokens", 128, 128),
        _attention("512 tokens, causal", 512, 512, is_causal=1),
        _attention("2048 tokens, causal", 2048, 2048, (4, 4), is_causal=1),
        _attention("2048 tokens", 2048, 2048, (4, 4)),
        _attention("32 heads, 8 of keys, 256 tokens", 256, 256, (32, 8), is_causal=1),
        _attention("heads of 128, 256 tokens", 256, 256, (8, 8), 128),
        _attention("1 token beside 1024 keys", 1, 1024),
        _attention("1 token beside 1024 keys, 32 heads to 8", 1, 1024, (32, 8)),
    ]


_EQUATIONS = (
    ("matrices", "ij,jk->ik", (256, 256), (256, 256)),
    ("scores of heads", "bhid,bhjd->bhij", (1, 12, 128, 64), (1, 12, 128, 64)),
    ("values of heads", "bhij,bhjd->bhid", (1, 12, 128, 128), (1, 12, 128, 64)),
    ("scores, heads last", "bihd,bjhd->bhij", (1, 128, 12, 64), (1, 128, 12, 64)),
    ("values, heads last", "bhij,bjhd->bihd", (1, 12, 128, 128), (1, 128, 12, 64)),
    ("projection to heads", "bsd,dhe->bshe", (1, 128, 256), (256, 4, 64)),
    ("outer product", "i,j->ij", (512,), (512,)),
    ("inner products", "bi,bi->b", (256, 768), (256, 768)),
    ("matrix and vectors", "ij,bj->bi", (768, 768), (1, 768)),
    ("channels of an image", "nchw,kc->nkhw", (1, 64, 56, 56), (64, 64)),
    ("transpose", "ij->ji", (768, 768), None),
    ("sum of rows", "ij->i", (768, 768), None),
)


def _einsums() -> list[Case]:
    return [
        one(
            f"einsum {equation}, {name}",
            "Einsum",
            *([a] if b is None else [a, b]),
            images=False,
            equation=equation,
        )
        for name, equation, a, b in _EQUATIONS
    ]


SEQUENCES = (
    *(_written_out(tokens) for tokens in (128, 384)),
    *_attentions(),
    *_einsums(),
    *_recurrent(),
)
