// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A second device for tests, registered as the APU. The CPU computes for it,
// but as a device apart: its tensors lie in memory that faults when the host
// touches it, work is done no sooner than somebody waits for it, and any call
// can be made to fail.

#ifndef MACE_RUNTIMES_TESTING_FAKE_DEVICE_H_
#define MACE_RUNTIMES_TESTING_FAKE_DEVICE_H_

#include <cstddef>
#include <cstdint>

#include "mace/core/graph/graph.h"

namespace mace {
namespace core_test {

// What all fake devices of the process do; set before an engine is made.
struct FakeDeviceSettings {
  // Whether the device takes a node, given its index in the graph.
  bool (*takes)(size_t index, const GraphNode &node) = nullptr;
  // Estimated times of an operator and of a copy.
  double operator_nanos = 1;
  double copy_nanos = 0;
  // The call of that number, from 1, fails, and those after it do not; 0: none.
  int64_t failing_call = 0;
};

class FakeDeviceControl {
 public:
  // Sets everything back when it goes.
  explicit FakeDeviceControl(const FakeDeviceSettings &settings);
  ~FakeDeviceControl();
  FakeDeviceControl(const FakeDeviceControl &) = delete;
  FakeDeviceControl &operator=(const FakeDeviceControl &) = delete;

  // Calls of devices since then.
  static int64_t calls();
  // Fails the call of that number from now on, from 1.
  static void FailCall(int64_t number);
};

// Every second operator, from the first.
bool TakesEverySecond(size_t index, const GraphNode &node);
bool TakesAll(size_t index, const GraphNode &node);

}  // namespace core_test
}  // namespace mace

#endif  // MACE_RUNTIMES_TESTING_FAKE_DEVICE_H_
