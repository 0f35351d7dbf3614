// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_OPENCL_OP_STORED_ELEMENTS_H_
#define MACE_OPS_OPENCL_OP_STORED_ELEMENTS_H_

#include <cstddef>

#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

// A constant of float or half in the order of the model file, for CONST, in the
// type in which activations are stored: few models then need two programs
// because the converter leaves small constants in float. One that half can't
// hold stays float.
void AddStoredElements(const OpenclPlanContext &context,
                       const char *name,
                       size_t port,
                       Launch *launch);

}  // namespace mace

#endif  // MACE_OPS_OPENCL_OP_STORED_ELEMENTS_H_
