# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Embeds OpenCL C files; see embed_cl.py."""

def embed_cl(name, src):
    """<stem>_cl.h of <stem>.cl, in the same folder; <stem>_clh.h of <stem>.clh."""
    stem, ending = src.rsplit(".", 1)
    native.genrule(
        name = name,
        srcs = [src],
        outs = ["%s_%s.h" % (stem, ending)],
        cmd = "$(location @mace//mace/kernels/opencl:embed_cl) --source $< --out $@",
        message = "Embedding OpenCL",
        tools = ["@mace//mace/kernels/opencl:embed_cl"],
    )
