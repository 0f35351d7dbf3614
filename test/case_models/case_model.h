// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Cases of the operators' tests as models of one operator, which a device
// runs.

#ifndef TEST_CASE_MODELS_CASE_MODEL_H_
#define TEST_CASE_MODELS_CASE_MODEL_H_

#include <map>
#include <memory>
#include <string>

#include "mace/core/testing/engine_maker.h"
#include "mace/ops/testing/op_runner.h"
#include "mace/public/mace.h"

namespace mace {
namespace case_models {

// A model of one operator and its engine.
class CaseModel {
 public:
  // As RunModel says it.
  CaseModel(const op_test::OpCase &op_case,
            const op_test::OpResult &wanted,
            RuntimeType runtime,
            const std::string &data_type,
            bool wrap);

  // Of the engine's creation.
  const MaceStatus &status() const { return made_.status; }
  MaceEngine *engine() { return made_.engine.get(); }
  // `metadata` may be null.
  MaceStatus Run(RunMetadata *metadata);
  // By name, "output0".
  const std::map<std::string, MaceTensor> &outputs() const { return outputs_; }

 private:
  core_test::MadeEngine made_;
  std::map<std::string, MaceTensor> inputs_;
  std::map<std::string, MaceTensor> outputs_;
};

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
