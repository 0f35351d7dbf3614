# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Targets for the DSP, which other platforms skip."""

load("//mace:mace.bzl", "mace_cc_library")

_DSP = ["//toolchains/hexagon:hexagon"]

def mace_hexagon_library(name, copts = [], **kwargs):
    """A library that runs on the DSP: all of it is kernels, whose loops are unrolled."""
    mace_cc_library(
        name = name,
        copts = ["-funroll-loops"] + copts,
        target_compatible_with = _DSP,
        **kwargs
    )

def mace_hexagon_binary(name, **kwargs):
    """A program for the DSP, or for its emulator."""
    native.cc_binary(name = name, target_compatible_with = _DSP, **kwargs)

def mace_hexagon_test(name, **kwargs):
    """A program that its emulator runs; it passes if it ends with 0."""
    native.cc_test(name = name, target_compatible_with = _DSP, **kwargs)

# Whatever the host's flags are, the same objects in the same folder: features that are
# sanitizers are none of the DSP's tool chain.
def _dsp_transition_impl(settings, attr):
    version = attr.version
    return {
        "//command_line_option:compilation_mode": "opt",
        "//mace/kernels/cpu:one_isa": False,
        "//command_line_option:platform_suffix": "-hexagon-" + version,
        "//command_line_option:platforms": ["//toolchains/hexagon:" + version],
    }

_dsp_transition = transition(
    implementation = _dsp_transition_impl,
    inputs = [],
    outputs = [
        "//command_line_option:compilation_mode",
        "//command_line_option:platform_suffix",
        "//command_line_option:platforms",
        "//mace/kernels/cpu:one_isa",
    ],
)

def _dsp_file_impl(ctx):
    source = ctx.executable.program
    out = ctx.actions.declare_file("%s/%s" % (ctx.attr.version, source.basename))
    ctx.actions.symlink(output = out, target_file = source)
    return [DefaultInfo(
        files = depset([out]),
        runfiles = ctx.runfiles([out]),
    )]

dsp_file = rule(
    implementation = _dsp_file_impl,
    doc = "A program for the DSP, <version>/<name>, in builds for the host.",
    attrs = {
        "program": attr.label(
            cfg = _dsp_transition,
            executable = True,
            mandatory = True,
        ),
        "version": attr.string(
            default = "v67",
            doc = "As in //toolchains/hexagon.",
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
