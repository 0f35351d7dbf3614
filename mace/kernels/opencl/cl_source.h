// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_KERNELS_OPENCL_CL_SOURCE_H_
#define MACE_KERNELS_OPENCL_CL_SOURCE_H_

#include <cstddef>

namespace mace {

// The text of an OpenCL C file, embedded by embed_cl.py.
struct ClSource {
  const char *name;  // of the file, without its ending
  const char *text;
  // The files that come before the text, each with those that it includes.
  const ClSource *const *includes;
  size_t include_count;
};

}  // namespace mace

#endif  // MACE_KERNELS_OPENCL_CL_SOURCE_H_
