# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""The C++ compilers of an Android NDK, r21 to r27, as ANDROID_NDK_HOME names it.

All these releases have one clang with its sysroot in
toolchains/llvm/prebuilt/<host>. They differ in

* binutils: until r22 some are GNU's, one per target (aarch64-linux-android-nm),
  from r23 on all are LLVM's;
* the compiler's runtime: libgcc until r22, compiler-rt and libunwind since;
* where clang keeps its headers (lib64/clang or lib/clang).

The second is clang's own business, which is why it is left to drive the link
and to say where its headers are.
"""

# What an application of the year 2014 runs on, and the lowest that r26 and
# later can build for.
_API = 21

_OLDEST = 21

# Has clang 17, and with it link-time optimisation of objects that hold machine
# code too.
_LTO = 26
_HOST = "linux-x86_64"

# With the GNU tools that stand in for them in r21 and r22.
_TOOLS = {
    "clang": None,
    "ld.lld": None,
    "llvm-ar": "ar",
    "llvm-cov": "gcov",
    "llvm-nm": "nm",
    "llvm-objcopy": "objcopy",
    "llvm-objdump": "objdump",
    "llvm-strip": "strip",
}

# Phones with 16 KiB pages load nothing that is aligned to less; crash reports
# of Android before 10 cannot be unwound when code has a segment of its own.
_LINKOPTS = [
    "-Wl,-z,max-page-size=16384",
    "-Wl,--no-rosegment",
]

_ABIS = {
    "arm64-v8a": struct(
        binutils = "aarch64-linux-android",
        copts = ["-march=armv8-a"],
        triple = "aarch64-linux-android%d" % _API,
    ),
    # Every phone of this ABI has VFPv3-D16; NEON is a kernel ISA.
    "armeabi-v7a": struct(
        binutils = "arm-linux-androideabi",
        copts = [
            "-march=armv7-a",
            "-mfpu=vfpv3-d16",
            "-mfloat-abi=softfp",
            # As for other 32-bit ARM, see toolchains/BUILD.bazel.
            "-Wno-pass-failed",
        ],
        triple = "armv7a-linux-androideabi%d" % _API,
    ),
}

_REMEDY = "unpack an Android NDK (r21 to r27, for Linux) and export ANDROID_NDK_HOME=<its folder>"

_BUILD = """\
load("@mace//toolchains:cc_toolchain_config.bzl", "clang_cc_toolchain")

# Another NDK in the same place is another tool chain.
filegroup(
    name = "revision",
    srcs = ["source.properties"],
)
"""

_TOOLCHAIN = """
clang_cc_toolchain(
    name = {abi},
    builtin_includes = {includes},
    copts = {copts},
    cpu = {abi},
    cxx_runtime = [
        "--driver-mode=g++",
        "-static-libstdc++",
    ],
    files = ":revision",
    # The NDK's clang may be newer or older than the one whose warnings count.
    later_copts = ["-Wno-error", "-Wno-unknown-warning-option"],
    libc = "bionic",
    linkopts = {linkopts},
    lto = {lto},
    tools = {tools},
    triple = {triple},
    visibility = ["//visibility:public"],
)
"""

def _fail(text):
    fail("building for Android: %s; %s" % (text, _REMEDY))

def _revision(ctx, home):
    """The number of the release."""
    properties = home.get_child("source.properties")
    if not properties.exists:
        _fail("ANDROID_NDK_HOME=%s holds no NDK (no source.properties there)" % home)
    for line in ctx.read(properties).splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "Pkg.Revision":
            major = value.strip().split(".")[0]
            if major.isdigit():
                return int(major)
    _fail("ANDROID_NDK_HOME=%s: its source.properties names no Pkg.Revision" % home)
    return 0

def _prebuilt(home):
    """The folder of the compiler."""
    folder = home.get_child("toolchains").get_child("llvm").get_child("prebuilt")
    prebuilt = folder.get_child(_HOST)
    if prebuilt.exists:
        return prebuilt
    hosts = [entry.basename for entry in folder.readdir()] if folder.exists else []
    _fail("ANDROID_NDK_HOME=%s is an NDK for %s, not for %s" % (
        home,
        ", ".join(hosts) or "no computer",
        _HOST,
    ))
    return None

def _tools(prebuilt, abi):
    """Paths of the programs, and the names of missing ones."""
    bin = prebuilt.get_child("bin")
    found = {}
    missing = []
    for name, gnu in _TOOLS.items():
        candidates = [name] + (["%s-%s" % (abi.binutils, gnu)] if gnu else [])
        for candidate in candidates:
            path = bin.get_child(candidate)
            if path.exists:
                found[name] = str(path)
                break
        if name not in found and name != "llvm-cov":
            missing.append(" or ".join(candidates))

    # Bazel wants one named; coverage is not measured on phones.
    found.setdefault("llvm-cov", "/bin/false")
    return found, missing

def _ndk_repository_impl(ctx):
    value = ctx.os.environ.get("ANDROID_NDK_HOME", "")
    if not value:
        _fail("ANDROID_NDK_HOME is not set")
    home = ctx.path(value)
    if not home.exists:
        _fail("ANDROID_NDK_HOME=%s: no such folder" % value)
    revision = _revision(ctx, home)
    if revision < _OLDEST:
        _fail("ANDROID_NDK_HOME=%s is NDK r%d, which is too old" % (value, revision))
    prebuilt = _prebuilt(home)
    text = _BUILD
    for name, abi in _ABIS.items():
        tools, missing = _tools(prebuilt, abi)
        if missing:
            _fail("ANDROID_NDK_HOME=%s is not complete: %s lacks %s" % (
                value,
                prebuilt.get_child("bin"),
                ", ".join(missing),
            ))
        asked = ctx.execute([tools["clang"], "-print-resource-dir"])
        if asked.return_code:
            _fail("%s does not run: %s" % (tools["clang"], asked.stderr.strip()))
        resources = asked.stdout.strip()
        text += _TOOLCHAIN.format(
            abi = repr(name),
            copts = repr(abi.copts),
            includes = repr([
                str(prebuilt.get_child("sysroot").get_child("usr").get_child("include")),
                # libc++, until r25.
                str(prebuilt.get_child("include")),
                resources,
                # Both spellings, where it is a link.
                str(ctx.path(resources).realpath),
            ]),
            linkopts = repr(_LINKOPTS),
            lto = repr(revision >= _LTO),
            tools = repr(tools),
            triple = repr(abi.triple),
        )
    ctx.symlink(home.get_child("source.properties"), "source.properties")
    ctx.file("BUILD.bazel", text)

ndk_repository = repository_rule(
    implementation = _ndk_repository_impl,
    local = True,
    environ = ["ANDROID_NDK_HOME"],
    doc = "A cc_toolchain for each Android ABI, of the NDK in ANDROID_NDK_HOME.",
)
