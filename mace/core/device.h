// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_DEVICE_H_
#define MACE_CORE_DEVICE_H_

#include <memory>
#include <string>

#include "mace/core/op.h"
#include "mace/core/status.h"

namespace mace {

// A runtime that is linked into this program. Like OpRegistration a list of
// static objects: a build has a runtime if it links it.
class DeviceRegistration {
 public:
  // Starts the device, or says why it can't be used on this machine.
  using Factory = Result<std::unique_ptr<Device>> (*)();

  DeviceRegistration(DeviceType type, Factory factory);

  DeviceType type() const { return type_; }
  const DeviceRegistration *next() const { return next_; }

  static const DeviceRegistration *first();
  // Starts a device of that type; MACE_UNSUPPORTED, naming the runtimes that
  // are there, if this build has none.
  static Result<std::unique_ptr<Device>> Create(DeviceType type);

 private:
  DeviceType type_;
  Factory factory_;
  const DeviceRegistration *next_;
};

// "CPU", "GPU", ...
const char *DeviceName(DeviceType device);

}  // namespace mace

#endif  // MACE_CORE_DEVICE_H_
