// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_ON_TEST_DRIVER_H_
#define TEST_OPENCL_ON_TEST_DRIVER_H_

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "test/opencl/load_test_driver.h"

namespace mace {
namespace test_opencl {

// All tests of the program run on the test driver, which must find no leak and
// no wrong call; or on MACE_OPENCL_LIBRARY, if that is set.
class OnTestDriver : public ::testing::Environment {
 public:
  void SetUp() override {
    if (std::getenv("MACE_OPENCL_LIBRARY") != nullptr) return;
    std::string why;
    driver_ = LoadTestDriver(&why);
    ASSERT_NE(driver_, nullptr) << why;
  }
  void TearDown() override {
    if (driver_ == nullptr) return;
    driver_->check_leaks();
    EXPECT_EQ(Problems(*driver_), "");
  }

 private:
  const MaceTestOpenclControl *driver_ = nullptr;
};

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_ON_TEST_DRIVER_H_
