// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_MATRIX_UNITS_H_
#define TEST_OPENCL_MATRIX_UNITS_H_

// Emulates the matrix units of NVIDIA GPUs. A program that uses them (mma.sync)
// is compiled for this computer's processor, by clang, and the target's
// compiler gets it without. Its kernels run here, item by item: all items of a
// warp meet at a matrix instruction, all of a work group at a barrier. Buffers
// are the target's.

#include <string>

#include "test/opencl/launch.h"

namespace mace {
namespace test_opencl {

// Whether the source uses matrix units.
bool UsesMatrixUnits(const std::string &source);

// The source with functions in place of the instructions, which the target has
// to compile but never runs.
std::string WithoutMatrixUnits(const std::string &source);

// Appended to the options of such a program.
inline constexpr char kMatrixUnitsOptions[] = " -cl-kernel-arg-info";

// Whether a kernel, or the kernels of a program, are to be run here.
bool RunsOnMatrixUnits(const void *handle);

// Waits for the queue, and runs the kernel. What goes wrong is printed.
cl_int RunOnMatrixUnits(cl_command_queue queue,
                        cl_kernel kernel,
                        const LaunchRange &range);

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_MATRIX_UNITS_H_
