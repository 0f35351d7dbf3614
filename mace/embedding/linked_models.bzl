# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""A mace_run that contains the models of a deployment."""

load("//mace:mace.bzl", "mace_cc_binary", "mace_cc_library")

def linked_models(name, srcs, bytes, hdrs = [], prefix = ""):
    """The target `mace_run`.

    Args:
        name: of the library of models.
        srcs: the source that includes the headers.
        bytes: the files of the models that are linked in.
        hdrs: the headers of the models.
        prefix: of their symbols, as the headers have it.
    """

    # Converted by an earlier version: //... can be built; convert it again.
    if not prefix:
        return

    # Not part of //...: what a user converted is nothing to test here.
    tags = ["manual"]
    writer = "//mace/python/tools:linkable"
    native.genrule(
        name = name + "_archive",
        tags = tags,
        srcs = bytes,
        outs = [name + "_bytes.a"],
        cmd = "$(location %s) --prefix %s --machine " % (writer, prefix) +
              select({
                  "//toolchains:arm64": "aarch64",
                  "//toolchains:arm32": "arm",
                  "//conditions:default": "x86_64",
              }) + " --out $@ $(SRCS)",
        message = "Writing models as objects",
        tools = [writer],
    )
    native.cc_import(
        name = name + "_bytes",
        tags = tags,
        static_library = name + "_bytes.a",
    )
    mace_cc_library(
        name = name,
        tags = tags,
        srcs = srcs,
        hdrs = hdrs,
        # Nothing but the program's start calls what makes the models known.
        alwayslink = True,
        deps = [
            ":%s_bytes" % name,
            "//mace/embedding",
        ],
    )
    mace_cc_binary(
        name = "mace_run",
        tags = tags,
        deps = [
            ":" + name,
            "//mace",
            "//mace/tools:mace_run_linked",
        ],
    )
