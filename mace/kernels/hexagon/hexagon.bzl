# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Targets for the DSP, which other platforms skip."""

load("//mace:mace.bzl", "mace_cc_library")

_DSP = ["//toolchains/hexagon:hexagon"]

def mace_hexagon_library(name, **kwargs):
    """A library that runs on the DSP."""
    mace_cc_library(name = name, target_compatible_with = _DSP, **kwargs)

def mace_hexagon_binary(name, **kwargs):
    """A program for the DSP, or for its emulator."""
    native.cc_binary(name = name, target_compatible_with = _DSP, **kwargs)

def mace_hexagon_test(name, **kwargs):
    """A program that its emulator runs; it passes if it ends with 0."""
    native.cc_test(name = name, target_compatible_with = _DSP, **kwargs)
