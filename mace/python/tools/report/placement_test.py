# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A placement read from a report made up by hand."""

from __future__ import annotations

from typing import Any

from mace.python.tools.report.placement import (
    Copy,
    Refusal,
    graph_places,
    placement_of,
)
from mace.python.tools.report.testing import placed, two_devices


def test_a_report_without_placement_has_none() -> None:
    assert placement_of({}) is None
    empty: dict[str, Any] = {"operators": [], "copies": [], "left_out": []}
    assert placement_of({"placement": empty}) is None


def test_operators_copies_and_refusals() -> None:
    found = placement_of(two_devices())
    assert found is not None
    assert [op.device for op in found.operators] == ["gpu", "cpu", "gpu"]
    assert found.counts == {"gpu": 2, "cpu": 1}
    assert found.operators[1].refusals == (Refusal("gpu", "no <kernel> of rank 5"),)
    assert found.copies_before(1) == (Copy("b", "gpu", "cpu", 400, 1),)
    assert found.copies_before(0) == ()
    assert found.copied_bytes == 800
    assert found.left_out == (Refusal("apu", "this build has no APU runtime"),)
    assert found.estimated_us == 6.0


def test_an_estimate_of_nothing_is_not_known() -> None:
    report = two_devices()
    report["placement"]["operators"][0]["estimated_us"] = 0.0
    found = placement_of(report)
    assert found is not None
    assert found.operators[0].estimated_us is None
    assert found.estimated_us is None


def test_measured_times_are_those_of_the_same_operator() -> None:
    report = two_devices()
    operators = report["placement"]["operators"]
    # A conversion that a device added, and a name that is given twice.
    operators.insert(0, placed("conv", "Cast", "gpu"))
    operators.append(placed("add", "Eltwise", "cpu"))
    times = (("conv", "Conv2D", 0.5), ("conv", "Cast", 0.25), ("add", "Eltwise", 1.0))
    ops = [{"name": n, "type": t, "median_ms": ms} for n, t, ms in times]
    report["benchmark"] = {"ops": [*ops, {**ops[2], "median_ms": 2.0}]}
    found = placement_of(report)
    assert found is not None
    measured = [op.measured_us for op in found.operators]
    assert measured == [250.0, 500.0, None, 1000.0, 2000.0]
    assert found.measured_us is None


def test_places_for_a_drawing() -> None:
    found = placement_of(two_devices())
    assert found is not None
    places = graph_places(found)
    assert places.copies == {("b", "gpu", "cpu"): 400, ("c", "cpu", "gpu"): 400}
    relu = places.operators["relu", "Activation"]
    assert (relu.device, relu.time) == ("cpu", "estimated 2.0 \u00b5s")
    assert relu.details["not on gpu"] == "no <kernel> of rank 5"


def test_a_drawing_shows_both_times_of_a_benchmark() -> None:
    op = {"name": "relu", "type": "Activation", "median_ms": 0.25}
    found = placement_of({**two_devices(), "benchmark": {"ops": [op]}})
    assert found is not None
    relu = graph_places(found).operators["relu", "Activation"]
    assert relu.time == "measured 250.0 \u00b5s, estimated 2.0 \u00b5s"
    assert relu.details["measured"] == "250.0 \u00b5s"
    assert relu.details["estimated"] == "2.0 \u00b5s"
