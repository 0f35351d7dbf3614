// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_LOAD_TEST_DRIVER_H_
#define TEST_OPENCL_LOAD_TEST_DRIVER_H_

#include <string>

#include "test/opencl/native_window.h"
#include "test/opencl/test_driver.h"

namespace mace {
namespace test_opencl {

// Loads libmace_test_opencl.so, which depending on
// //test/opencl:load_test_driver puts beside a test, and makes
// MACE_OPENCL_LIBRARY name it, so that libmace takes it for the GPU's driver.
// Call it before libmace looks for a driver. Of a driver that OCL_ICD_VENDORS
// does not choose, it makes the loader take PoCL, and has PoCL keep its
// compiled kernels in the test's folder unless POCL_CACHE_DIR is set.
//
// Returns null, and in `why` the reason, if the library cannot be loaded or if
// there is no driver that it could forward to. The library stays loaded.
const MaceTestOpenclControl *LoadTestDriver(std::string *why);

// The path of the library; empty if it is not beside the program.
std::string TestDriverPath();

// The same for libmace_test_native_window.so and MACE_NATIVE_WINDOW_LIBRARY, by
// which libmace and the test driver find AHardwareBuffer. Call it after
// LoadTestDriver.
const MaceTestNativeWindow *LoadTestNativeWindow(std::string *why);

// All problems, a line each.
std::string Problems(const MaceTestOpenclControl &control);

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_LOAD_TEST_DRIVER_H_
