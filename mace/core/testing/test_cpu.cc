// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A CPU that runs the operators for tests, and the operators that the library
// has: TestLeftOut and TestMissing exist, but not in this program.

#include "mace/core/device.h"
#include "mace/core/op.h"

namespace mace {
namespace core_test {
namespace {

class TestCpu final : public Device {
 public:
  DeviceType type() const override { return CPU; }
};

// As a library with some operators only has it.
constexpr const char *kAllTypes[] = {"TestAffine", "TestLeftOut",
                                     "TestMissing"};
const OpSelection selection(kAllTypes, 3);

const DeviceRegistration cpu(CPU, []() -> Result<std::unique_ptr<Device>> {
  return std::unique_ptr<Device>(std::make_unique<TestCpu>());
});

}  // namespace
}  // namespace core_test
}  // namespace mace
