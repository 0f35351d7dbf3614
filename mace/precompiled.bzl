# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Headers that many sources include, read by the compiler once.

A source of a test takes the compiler two seconds, of which reading googletest and the
standard library is more than half. With those headers precompiled, it doesn't read them
again. A source includes what it uses all the same: which headers are precompiled is
nothing that it may rely on, and changes no object.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

# For targets that have precompiled_headers in `deps` and `toolchains`. Files are named
# from the folder where the compiler runs, as Bazel needs it.
PRECOMPILED_COPTS = ["-include-pch", "$(MACE_PRECOMPILED)", "-isysroot", "."]

def _impl(ctx):
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.write(
        header,
        "".join(["#include %s\n" % name for name in ctx.attr.includes]),
    )
    info = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    context = info.compilation_context
    toolchain = find_cpp_toolchain(ctx)
    configuration = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    fragment = ctx.fragments.cpp
    flags = cc_common.get_memory_inefficient_command_line(
        feature_configuration = configuration,
        action_name = ACTION_NAMES.cpp_compile,
        variables = cc_common.create_compile_variables(
            cc_toolchain = toolchain,
            feature_configuration = configuration,
            include_directories = context.includes,
            preprocessor_defines = context.defines,
            quote_include_directories = context.quote_includes,
            system_include_directories = context.system_includes,
            use_pic = True,
            user_compile_flags = fragment.copts + fragment.cxxopts + ctx.attr.copts,
        ),
    )
    precompiled = ctx.actions.declare_file(ctx.label.name + ".pch")
    ctx.actions.run(
        arguments = flags + [
            "-fpch-instantiate-templates",
            "-relocatable-pch",
            "-isysroot",
            "/proc/self/cwd",
            # Same sources, same bytes.
            "-Xclang",
            "-fno-pch-timestamp",
            "-x",
            "c++-header",
            header.path,
            "-o",
            precompiled.path,
        ],
        # As for every compilation: paths that no sandbox is part of.
        env = {"PWD": "/proc/self/cwd"},
        executable = toolchain.compiler_executable,
        inputs = depset([header], transitive = [context.headers, toolchain.all_files]),
        mnemonic = "CppPrecompile",
        outputs = [precompiled],
        progress_message = "Precompiling " + str(ctx.label),
    )
    own = CcInfo(compilation_context = cc_common.create_compilation_context(
        # The compiler looks whether a header has changed since.
        headers = depset([precompiled, header]),
    ))
    return [
        cc_common.merge_cc_infos(cc_infos = [own, info]),
        platform_common.TemplateVariableInfo({"MACE_PRECOMPILED": precompiled.path}),
    ]

precompiled_headers = rule(
    implementation = _impl,
    attrs = {
        "copts": attr.string_list(
            doc = "Those of what compiles with it.",
        ),
        "deps": attr.label_list(
            doc = "Libraries that have the headers.",
            providers = [CcInfo],
        ),
        "includes": attr.string_list(
            doc = "The headers, as sources include them.",
            mandatory = True,
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    doc = """Headers, precompiled for sources with the same `copts` and `features`.

    See PRECOMPILED_COPTS.""",
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
