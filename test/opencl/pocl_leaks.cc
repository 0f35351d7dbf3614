// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What the sanitizers are told in each program that PoCL is loaded into.

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
// PoCL and its LLVM keep memory until the process ends. To see that a leak is
// theirs, frames without a frame pointer have to be walked, too. That makes
// PoCL's compiler 10 times slower with stacks of 30 frames (the default), and
// 2.5 times with 5. For more of a leak of ours:
// ASAN_OPTIONS=malloc_context_size=30.
extern "C" __attribute__((visibility("default"))) const char *
__lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libOpenCL\n";
}
extern "C" __attribute__((visibility("default"))) const char *
__asan_default_options() {
  return "fast_unwind_on_malloc=0:malloc_context_size=5";
}
#endif
#endif
