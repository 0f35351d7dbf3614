// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The activation attributes that many operators share.

#ifndef MACE_OPS_CPU_OP_ACTIVATION_PARAMS_H_
#define MACE_OPS_CPU_OP_ACTIVATION_PARAMS_H_

#include "mace/core/model/op.h"
#include "mace/kernels/cpu/activation/activation.h"
#include "mace/ops/op_enums.h"

namespace mace {

// Kernels do not use the generated enumeration; the order of both must be the
// same.
static_assert(static_cast<int>(activation::Kind::kNone) ==
              static_cast<int>(Activation::NONE));
static_assert(static_cast<int>(activation::Kind::kPrelu) ==
              static_cast<int>(Activation::PRELU));
static_assert(static_cast<int>(activation::Kind::kGeluTanh) ==
              static_cast<int>(Activation::GELU_TANH));

// Reads activation, activation_limit, activation_alpha and activation_beta.
template <typename Attributes>
activation::Params ActivationParams(const Attributes &attributes) {
  activation::Params params;
  params.kind = static_cast<activation::Kind>(attributes.activation);
  params.limit = attributes.activation_limit;
  params.alpha = attributes.activation_alpha;
  params.beta = attributes.activation_beta;
  return params;
}

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_ACTIVATION_PARAMS_H_
