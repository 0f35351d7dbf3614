// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/testing/fake_device.h"

namespace mace {
namespace core_test {
namespace {

FakeDeviceSettings EverySecond() {
  FakeDeviceSettings settings;
  settings.takes = TakesEverySecond;
  return settings;
}

const FakeDeviceControl control(EverySecond());

}  // namespace
}  // namespace core_test
}  // namespace mace
