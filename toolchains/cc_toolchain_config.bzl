# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""One clang configuration for the host and for every cross target.

The tools are those of @mace_clang unless a target brings its own, as the NDK
of //toolchains/android does.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load(
    "@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl",
    "feature",
    "flag_group",
    "flag_set",
    "tool_path",
    "with_feature_set",
)
load("@mace_clang//:paths.bzl", "CLANG_BUILTIN_INCLUDES", "CLANG_TOOLS", "PLAIN_LLD")

_CXX = [
    ACTION_NAMES.cpp_compile,
    ACTION_NAMES.cpp_header_parsing,
    ACTION_NAMES.cpp_module_codegen,
    ACTION_NAMES.cpp_module_compile,
    ACTION_NAMES.linkstamp_compile,
]

_COMPILE = _CXX + [
    ACTION_NAMES.assemble,
    ACTION_NAMES.c_compile,
    ACTION_NAMES.preprocess_assemble,
]

_LINK = [
    ACTION_NAMES.cpp_link_dynamic_library,
    ACTION_NAMES.cpp_link_executable,
    ACTION_NAMES.cpp_link_nodeps_dynamic_library,
]

# What Bazel calls a tool, and the program of LLVM that is it. All but dwp, the
# one for split debug information, are in every tool chain.
_PROGRAMS = {
    "ar": "llvm-ar",
    "cpp": "clang",
    "dwp": "llvm-dwp",
    "gcc": "clang",
    "gcov": "llvm-cov",
    "ld": "ld.lld",
    "llvm-cov": "llvm-cov",
    "nm": "llvm-nm",
    "objcopy": "llvm-objcopy",
    "objdump": "llvm-objdump",
    "strip": "llvm-strip",
}

_OPT = [with_feature_set(
    features = ["opt"],
    not_features = ["asan", "ubsan", "tsan"],
)]

_SANITIZED = [
    with_feature_set(features = [name])
    for name in ["asan", "ubsan", "tsan"]
]

_UNSANITIZED = [with_feature_set(not_features = ["asan", "ubsan", "tsan"])]

# For objects that can be optimised where they are linked, and hold machine code
# for all that links them otherwise.
_LTO_COPTS = ["-flto", "-ffat-lto-objects"]

# Pieces of code that functions share cost more in unwinding tables, as functions
# of their own, than they save.
_LTO_LINKOPTS = [
    "-flto",
    "-Wl,--fat-lto-objects",
    "-Wl,-mllvm,-enable-machine-outliner=never",
    "-Wl,-mllvm,-inline-threshold=20",
]

# For a processor without an operating system: no C library, no C++ runtime.
_FREESTANDING_COPTS = [
    "-ffreestanding",
    "-nostdlibinc",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-stack-protector",
]

# Nobody relocates a program. A library lacks what the system that loads it has.
_FREESTANDING_PROGRAMS = ["-static", "-Wl,--no-pie"]
_FREESTANDING_LIBRARIES = ["-Wl,--hash-style=sysv"]

_DBG = [with_feature_set(features = ["dbg"])]

def _flags(actions, flags, with_features = []):
    return flag_set(
        actions = actions,
        flag_groups = [flag_group(flags = flags)] if flags else [],
        with_features = with_features,
    )

def _sanitizer(name, compile_flags, link_flags, runtimes):
    """Compiles with a sanitizer, and links its runtime.

    Args:
      name: of the feature.
      compile_flags: besides those that all sanitizers want.
      link_flags: by which clang links the runtime of its own.
      runtimes: attribute `sanitizer_runtimes`.
    """
    link = _flags(_LINK, link_flags)
    if name in runtimes:
        # In the program alone, as clang does it. All of it, and its symbols for
        # libraries that are loaded later.
        link = _flags([ACTION_NAMES.cpp_link_executable], [
            "-Wl,--whole-archive",
            runtimes[name],
            "-Wl,--no-whole-archive",
            "-Wl,--export-dynamic",
            "-ldl",
            "-lrt",
        ])

    # -O1 keeps stacks readable; assertions (MACE_DCHECK) stay on. Reports need
    # lines and no more of the debug information, which doubles the time to compile.
    return feature(name = name, flag_sets = [
        _flags(_COMPILE, compile_flags + [
            "-O1",
            "-gline-tables-only",
            "-fno-omit-frame-pointer",
            "-UNDEBUG",
        ]),
        link,
    ])

def _sanitizers(runtimes):
    """What looks on while a program runs, and what fuzzers need of one.

    Args:
      runtimes: attribute `sanitizer_runtimes`.
    """
    return [
        _sanitizer(
            "asan",
            ["-fsanitize=address", "-fsanitize-address-use-after-scope"],
            ["-fsanitize=address"],
            runtimes,
        ),
        # "function" and "vptr" need RTTI, which MACE is built without.
        _sanitizer(
            "ubsan",
            [
                "-fsanitize=undefined,float-cast-overflow",
                "-fno-sanitize=function,vptr",
                "-fno-sanitize-recover=all",
            ],
            ["-fsanitize=undefined", "-fno-sanitize=function,vptr"],
            runtimes,
        ),
        _sanitizer(
            "tsan",
            ["-fsanitize=thread"],
            ["-fsanitize=thread"],
            runtimes,
        ),
        # Objects that a fuzzer can be linked of; other programs can, too.
        feature(name = "fuzzable", flag_sets = [
            _flags(_COMPILE, ["-fsanitize=fuzzer-no-link"]),
        ]),
    ]

def _later_compile_flags(flags):
    """Flags after those of the targets, which otherwise have the last word."""
    return [
        feature(name = "user_compile_flags", enabled = True, flag_sets = [flag_set(
            actions = _COMPILE,
            flag_groups = [flag_group(
                flags = ["%{user_compile_flags}"],
                iterate_over = "user_compile_flags",
                expand_if_available = "user_compile_flags",
            )],
        )]),
        feature(name = "later_compile_flags", enabled = True, flag_sets = [
            _flags(_COMPILE, flags),
            # A sanitizer checks each element, so loops are not vectorised.
            _flags(_COMPILE, ["-Wno-pass-failed"], _SANITIZED),
        ]),
        # Optimising a test takes up to half of the compiler's time, which is more than
        # most tests run.
        feature(name = "seldom_run", flag_sets = [
            _flags(_COMPILE, ["-O0"]),
        ]),
        # Code that is compiled once per instruction set asks for -O3. Under a
        # sanitizer that takes minutes per file, and so do checks that are inlined
        # at each of thousands of unrolled accesses, instead of called.
        feature(name = "kernel_code", flag_sets = [
            _flags(_COMPILE, ["-O1"], _SANITIZED),
            _flags(
                _COMPILE,
                ["-mllvm", "-asan-instrumentation-with-call-threshold=0"],
                [with_feature_set(features = ["asan"])],
            ),
        ]),
        # Where a source is compiled once more, for another instruction set: how it finds
        # its addresses is the same, and checking that takes a third of the time.
        feature(name = "addresses_checked_elsewhere", flag_sets = [
            _flags(
                _COMPILE,
                ["-fno-sanitize=pointer-overflow"],
                [with_feature_set(features = ["ubsan"])],
            ),
        ]),
    ]

def _impl(ctx):
    target = ["--target=" + ctx.attr.triple] if ctx.attr.triple else []
    tools = ctx.attr.tools or CLANG_TOOLS
    base = feature(name = "default_flags", enabled = True, flag_sets = [
        _flags(_COMPILE, target + [
            "-U_FORTIFY_SOURCE",
        ] + (_FREESTANDING_COPTS if ctx.attr.freestanding else ["-fstack-protector"]) + [
            "-fno-omit-frame-pointer",
            "-fcolor-diagnostics",
            "-no-canonical-prefixes",
            # Same sources, same bytes.
            "-Wno-builtin-macro-redefined",
            "-D__DATE__=\"redacted\"",
            "-D__TIMESTAMP__=\"redacted\"",
            "-D__TIME__=\"redacted\"",
        ] + ctx.attr.copts),
        _flags(_COMPILE, [
            "-O2",
            "-DNDEBUG",
            "-ffunction-sections",
            "-fdata-sections",
            "-fomit-frame-pointer",
        ], _OPT),
        _flags(_COMPILE, ["-O0", "-g"], _DBG),
        _flags(_CXX, ["-std=c++17"]),
        _flags(_LINK, target + [
            "-fuse-ld=" + (PLAIN_LLD if ctx.attr.freestanding else tools["ld.lld"]),
            "-no-canonical-prefixes",
        ] + (["-nostdlib"] if ctx.attr.freestanding else ["-pthread"] + ctx.attr.cxx_runtime + [
            "-lm",
            "-Wl,-z,relro,-z,now",
        ]) + [
            "-Wl,--build-id=sha1",
        ] + ctx.attr.linkopts),
        _flags(
            [ACTION_NAMES.cpp_link_executable],
            _FREESTANDING_PROGRAMS if ctx.attr.freestanding else [],
        ),
        _flags(
            [ACTION_NAMES.cpp_link_dynamic_library],
            _FREESTANDING_LIBRARIES if ctx.attr.freestanding else [],
        ),
        _flags(_LINK, ["-Wl,--gc-sections"], _OPT),
        # What a library lacks would otherwise fail in the user's program; a
        # sanitizer's runtime is in the program, not in its libraries.
        _flags(
            [ACTION_NAMES.cpp_link_dynamic_library],
            [] if ctx.attr.freestanding else ["-Wl,--no-undefined"],
            _UNSANITIZED,
        ),
    ])
    tool_paths = {
        name: tools[program]
        for name, program in _PROGRAMS.items()
        if program in tools
    }

    # A build for the host with sanitizers has programs for other processors in it,
    # which are without: these stay as they are in every other build.
    sanitizers = [] if ctx.attr.freestanding else _sanitizers(ctx.attr.sanitizer_runtimes)
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        abi_libc_version = "unknown",
        abi_version = "unknown",
        compiler = "clang",
        cxx_builtin_include_directories = (
            ([] if ctx.attr.tools else CLANG_BUILTIN_INCLUDES) + ctx.attr.builtin_includes
        ),
        features = [
            feature(name = "supports_pic", enabled = True),
            feature(name = "supports_dynamic_linker", enabled = True),
            feature(name = "dbg"),
            feature(name = "fastbuild"),
            feature(name = "opt"),
            base,
            # For code that runs once per operator, not once per element; after
            # `base`, whose -O2 it replaces. Exceptions need to know the frames
            # at calls only, not at each instruction. With -Oz, clang saves registers
            # by functions of its library, which freestanding programs lack.
            feature(name = "small_code", flag_sets = [
                _flags(_COMPILE, [
                    "-Os" if ctx.attr.freestanding else "-Oz",
                    "-fno-asynchronous-unwind-tables",
                ], _OPT),
            ]),
            # Code that can be optimised together with the rest of a library
            # (lto_object), and a library where it is (lto_link). Programs and
            # tests take the machine code that such objects hold besides.
            feature(name = "lto_object", flag_sets = [
                _flags(_CXX, _LTO_COPTS if ctx.attr.lto else [], _OPT),
            ]),
            feature(name = "lto_link", flag_sets = [
                _flags(_LINK, _LTO_LINKOPTS if ctx.attr.lto else [], _OPT),
            ]),
            # Only what carries MACE_API leaves the library (300 KB less).
            feature(name = "symbol_hidden", enabled = True, flag_sets = [
                _flags(_COMPILE, ["-fvisibility=hidden"]),
                _flags(_CXX, ["-fvisibility-inlines-hidden"]),
            ]),
            # One file to push to a device.
            feature(name = "static_exe", flag_sets = [
                _flags([ACTION_NAMES.cpp_link_executable], ["-static"]),
            ]),
        ] + sanitizers + _later_compile_flags(ctx.attr.later_copts),
        host_system_name = "local",
        target_cpu = ctx.attr.cpu,
        target_libc = ctx.attr.libc,
        target_system_name = ctx.attr.triple or "local",
        tool_paths = [
            tool_path(name = name, path = path)
            for name, path in tool_paths.items()
        ],
        toolchain_identifier = ctx.label.name,
    )

cc_toolchain_config = rule(
    implementation = _impl,
    attrs = {
        "builtin_includes": attr.string_list(),
        "copts": attr.string_list(),
        "cpu": attr.string(mandatory = True),
        "cxx_runtime": attr.string_list(default = ["-lstdc++"]),
        "freestanding": attr.bool(
            doc = "Whether there is no C library and no C++ runtime.",
        ),
        "later_copts": attr.string_list(
            doc = "Compile flags after those of the target.",
        ),
        "libc": attr.string(default = "glibc"),
        "linkopts": attr.string_list(),
        "lto": attr.bool(
            default = True,
            doc = "Whether the compiler has _LTO_COPTS: clang 17 and later.",
        ),
        "sanitizer_runtimes": attr.string_dict(
            doc = "Library by sanitizer, where clang has none for the target.",
        ),
        "tools": attr.string_dict(
            doc = "Paths by program of LLVM; empty: those of @mace_clang.",
        ),
        "triple": attr.string(),
    },
    provides = [CcToolchainConfigInfo],
)

def clang_cc_toolchain(name, cpu, files = ":empty", visibility = None, **kwargs):
    """The compiler of one target, without a word on when it is chosen.

    Args:
      name: of the cc_toolchain.
      cpu: names the output folder.
      files: inputs of every compilation and link, besides the sources: what
        fails to load when the sysroot is missing, or changes with it.
      visibility: of the cc_toolchain.
      **kwargs: attributes of cc_toolchain_config.
    """
    cc_toolchain_config(name = name + "_config", cpu = cpu, **kwargs)
    native.cc_toolchain(
        name = name,
        all_files = files,
        ar_files = files,
        as_files = files,
        compiler_files = files,
        dwp_files = files,
        linker_files = files,
        objcopy_files = files,
        strip_files = files,
        supports_param_files = 1,
        toolchain_config = name + "_config",
        visibility = visibility,
    )

def clang_platform(name, constraints, cc):
    """A platform, and the C++ compiler that builds for it.

    Args:
      name: of the platform, as in --platforms=//toolchains:<name>.
      constraints: what the platform is.
      cc: label of the cc_toolchain, loaded only when the platform is built for.
    """
    native.toolchain(
        name = name + "_toolchain",
        exec_compatible_with = [
            "@platforms//cpu:x86_64",
            "@platforms//os:linux",
        ],
        target_compatible_with = constraints,
        toolchain = cc,
        toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
    )
    native.platform(name = name, constraint_values = constraints)

def clang_toolchain(name, constraints, sysroot_files = None, **kwargs):
    """A platform, and the tool chain of @mace_clang that builds for it.

    Args:
      name: of the platform, as in --platforms=//toolchains:<name>.
      constraints: what the platform is.
      sysroot_files: a label that fails to load when the sysroot is missing.
      **kwargs: cpu, triple, copts, linkopts, builtin_includes.
    """
    clang_cc_toolchain(
        name = name + "_cc",
        files = sysroot_files or ":empty",
        **kwargs
    )
    clang_platform(name, constraints, name + "_cc")
