// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A second device for tests, registered as the APU. The CPU computes its
// operators, but it behaves like a separate device: its tensors are in memory
// that faults when the host accesses it, work is done only when someone waits
// for it, and any call can be made to fail.

#ifndef MACE_RUNTIMES_TESTING_FAKE_DEVICE_H_
#define MACE_RUNTIMES_TESTING_FAKE_DEVICE_H_

#include <cstddef>
#include <cstdint>

#include "mace/core/graph/graph.h"

namespace mace {
namespace core_test {

// Settings of all fake devices of the process; set them before creating an
// engine.
struct FakeDeviceSettings {
  // Whether the device takes a node, given its index in the graph.
  bool (*takes)(size_t index, const GraphNode &node) = nullptr;
  // Whether it runs an operator whose first output has this shape, which it may
  // learn only when it is prepared. Null: any.
  bool (*fits)(const Shape &output) = nullptr;
  // Estimated times of an operator and of a copy.
  double operator_nanos = 1;
  double copy_nanos = 0;
  // Number of the call that fails, from 1; later calls do not fail. 0: none.
  int64_t failing_call = 0;
};

// Of a device that takes these nodes.
FakeDeviceSettings Taking(bool (*takes)(size_t, const GraphNode &));

class FakeDeviceControl {
 public:
  // The destructor restores the default settings.
  explicit FakeDeviceControl(const FakeDeviceSettings &settings);
  ~FakeDeviceControl();
  FakeDeviceControl(const FakeDeviceControl &) = delete;
  FakeDeviceControl &operator=(const FakeDeviceControl &) = delete;

  // Number of calls of devices since the constructor.
  static int64_t calls();
  // Makes the call with that number fail, counted from now on, from 1.
  static void FailCall(int64_t number);
};

// Every second operator, from the first.
bool TakesEverySecond(size_t index, const GraphNode &node);
bool TakesAll(size_t index, const GraphNode &node);

}  // namespace core_test
}  // namespace mace

#endif  // MACE_RUNTIMES_TESTING_FAKE_DEVICE_H_
