// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_DEFECTS_H_
#define TEST_OPENCL_DEFECTS_H_

#include "test/opencl/opencl_functions.h"

namespace mace {
namespace test_opencl {

// The defect in MACE_TEST_OPENCL_DEFECT, "EFFECT WHAT". The effect is that a
// launch is lost ("wrong"), ends the process ("abort"), or never returns
// ("hang"). It concerns kernels that store half ("half": an image of half, or a
// program that was built with a macro =BH or =DH), kernels with images
// ("images"), whose program was built with a macro of that value ("=NF"), or
// with one of the names ("a|b").
//
// True if the launch is to be lost.
bool LosesLaunch(cl_kernel kernel);

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_DEFECTS_H_
