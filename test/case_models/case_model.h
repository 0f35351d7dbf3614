// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Cases of the operators' tests as models of one operator, which a device
// runs.

#ifndef TEST_CASE_MODELS_CASE_MODEL_H_
#define TEST_CASE_MODELS_CASE_MODEL_H_

#include <string>

#include "mace/ops/testing/op_runner.h"
#include "mace/public/mace.h"

namespace mace {
namespace case_models {

// Creates an engine for `runtime` and the CPU, and runs the case. `wanted`, the
// result of the operator alone, says how much room the results need.
// `data_type`: of the deployment, empty for its default. `wrap`: the
// operator's floats are copied by other operators, so that it reads and writes
// tensors as the device stores them. `placement`: where the
// operator ran, and why not elsewhere.
op_test::OpResult RunModel(const op_test::OpCase &op_case,
                           const op_test::OpResult &wanted,
                           RuntimeType runtime,
                           const std::string &data_type,
                           bool wrap,
                           OperatorPlacement *placement);

}  // namespace case_models
}  // namespace mace

#endif  // TEST_CASE_MODELS_CASE_MODEL_H_
