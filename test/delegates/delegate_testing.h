// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Models that adapters are tested with, and the stand-ins' counters.

#ifndef TEST_DELEGATES_DELEGATE_TESTING_H_
#define TEST_DELEGATES_DELEGATE_TESTING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"

namespace mace::delegate_testing {

// A variable of the environment while this object lives.
class Environment {
 public:
  Environment(const std::string &name, const std::string &value);
  ~Environment();
  Environment(const Environment &) = delete;
  Environment &operator=(const Environment &) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

// The path of a library that was built beside the test.
std::string LibraryPath(const std::string &file);
// StandInCount of that library.
int64_t Count(const std::string &library, const char *name);

// x [1, 6, 6, 3] -> convolution, depthwise convolution, sum, pooling, mean over
// the image, product, Softmax -> y [1, 4]; all are common operators.
core_test::ModelBuilder FloatNetwork();
// The same without Softmax, in 8-bit integers. x and y are floats. Weights have
// a scale for each output, or one.
core_test::ModelBuilder QuantizedNetwork(DataType type, bool one_scale = false);
// FloatNetwork with an operator in its middle that no adapter has.
core_test::ModelBuilder InterruptedNetwork();
// y = relu(convolution(x)), or of int8 max-pool(convolution(x)); x of open
// height and width.
core_test::ModelBuilder OpenNetwork(bool quantized = false);

// The engine of a model for a runtime and the CPU.
core_test::MadeEngine MakeOn(
    RuntimeType runtime,
    const core_test::ModelBuilder &model,
    const MaceEngineConfig &config = MaceEngineConfig());
// The output "y", of `elements` floats.
std::vector<float> RunNetwork(const core_test::MadeEngine &made,
                              const core_test::Dims &shape,
                              int64_t elements,
                              MaceStatus *status = nullptr);
std::vector<float> OnCpu(const core_test::ModelBuilder &model,
                         const core_test::Dims &shape,
                         int64_t elements);
// How many operators the device has.
int OperatorsOn(const core_test::MadeEngine &made, DeviceType device);

void ExpectClose(const std::vector<float> &actual,
                 const std::vector<float> &expected,
                 float tolerance);

}  // namespace mace::delegate_testing

#endif  // TEST_DELEGATES_DELEGATE_TESTING_H_
