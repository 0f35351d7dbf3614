# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Models of a deployment as an archive, and a mace_run that contains them."""

load("//mace:mace.bzl", "mace_cc_binary", "mace_cc_library")
load("//mace:standalone.bzl", "merged_object", "object_archive")

def linked_models(name, srcs, bytes):
    """The targets `<name>.a`, for applications, and `mace_run`.

    Args:
        name: of the library of models.
        srcs: the generated table and the assembler file that includes the bytes.
        bytes: the files that it includes.
    """
    # Not part of //...: what a user converted is nothing to test here.
    tags = ["manual"]
    mace_cc_library(
        name = name,
        tags = tags,
        srcs = srcs,
        textual_hdrs = bytes,
        deps = ["//mace/embedding"],
    )

    # Without libmace, which the application links itself.
    merged_object(
        name = name + "_object",
        tags = tags,
        deps = [":" + name],
    )
    object_archive(
        name = name + ".a",
        tags = tags,
        object = ":" + name + "_object",
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
