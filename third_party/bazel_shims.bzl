# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Stand-ins for repositories that Bazel would download.

Bazel 4.2 requires rules_cc, rules_java and remote_coverage_tools whenever a C++
rule, a Java tool or a test is analysed, even if a build uses nothing but the rules
that are built in.
"""

def _shim_impl(ctx):
    ctx.file("BUILD.bazel", ctx.attr.build_file)
    for name, rules in ctx.attr.rules.items():
        ctx.file(name + "/BUILD.bazel")
        lines = ["%s = native.%s\n" % (rule, rule) for rule in rules]
        ctx.file(name + "/defs.bzl", "".join(lines))

_shim = repository_rule(
    implementation = _shim_impl,
    doc = "A repository that hands on rules that are built into Bazel.",
    attrs = {
        "build_file": attr.string(doc = "Its BUILD file."),
        "rules": attr.string_list_dict(
            doc = "By a folder, the rules that its defs.bzl has.",
        ),
    },
)

def bazel_shims():
    """Makes the repositories."""
    _shim(
        name = "rules_cc",
        rules = {"cc": [
            "cc_binary",
            "cc_import",
            "cc_library",
            "cc_proto_library",
            "cc_test",
            "cc_toolchain",
            "cc_toolchain_suite",
            "fdo_prefetch_hints",
            "fdo_profile",
            "objc_import",
            "objc_library",
        ]},
    )

    # For Bazel's own tools; MACE builds no Java by it.
    _shim(
        name = "rules_java",
        rules = {"java": [
            "java_binary",
            "java_import",
            "java_library",
            "java_lite_proto_library",
            "java_package_configuration",
            "java_plugin",
            "java_proto_library",
            "java_runtime",
            "java_test",
            "java_toolchain",
        ]},
    )

    # An implicit dependency of every test, which 'bazel coverage' alone runs.
    _shim(
        name = "remote_coverage_tools",
        build_file = """\
filegroup(
    name = "coverage_report_generator",
    visibility = ["//visibility:public"],
)
""",
    )
