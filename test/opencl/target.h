// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_TARGET_H_
#define TEST_OPENCL_TARGET_H_

#include <string>

#include "test/opencl/opencl_functions.h"

namespace mace {
namespace test_opencl {

// The real driver: its functions, all of which are there if `error` is empty.
struct Target {
#define MACE_DECLARE_FUNCTION(name) decltype(&::name) name = nullptr;
  MACE_OPENCL_FUNCTIONS(MACE_DECLARE_FUNCTION)
#undef MACE_DECLARE_FUNCTION
  std::string error;
};

// Ends what is said about a missing driver.
constexpr char kInstall[] =
    "; run 'bash tools/setup.sh --for test', which installs PoCL";

// Loaded at the first call from MACE_TEST_OPENCL_TARGET, by default
// libOpenCL.so.1, and never unloaded.
const Target &target();

// The extensions of its first device; empty if it does not tell them.
std::string TargetExtensions();

// The function of this library with that name, or null.
void *FindOwnFunction(const char *name);

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_TARGET_H_
