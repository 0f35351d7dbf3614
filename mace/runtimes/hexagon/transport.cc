// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/transport.h"

#include <cstdlib>
#include <mutex>

#include "mace/runtimes/hexagon/fastrpc_transport.h"
#include "mace/runtimes/hexagon/process_transport.h"

namespace mace {

namespace {

Result<std::shared_ptr<HexagonTransport>> Open(const HexagonOptions &options) {
  // Before FastRPC is looked for, which a program that is linked statically
  // can't.
  const char *emulator = std::getenv("MACE_HEXAGON_EMULATOR");
  if (emulator != nullptr && *emulator != 0) return ProcessTransport::Open();
  Result<std::shared_ptr<HexagonTransport>> real =
      FastRpcTransport::Open(options);
  // Not if there is a DSP, and it only cannot be used.
  if (real.ok() || real.status().code() != MaceStatus::MACE_UNSUPPORTED) {
    return real;
  }
  Result<std::shared_ptr<HexagonTransport>> emulated = ProcessTransport::Open();
  if (emulated.ok()) return emulated;
  return RuntimeError(real.status().information(), "; nor is one emulated: ",
                      emulated.status().information());
}

}  // namespace

Result<std::shared_ptr<HexagonTransport>> OpenHexagonTransport(
    const HexagonOptions &options) {
  static std::mutex mutex;
  static std::weak_ptr<HexagonTransport> opened;
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<HexagonTransport> transport = opened.lock();
  if (transport != nullptr) {
    transport->SetPower(options);
    return transport;
  }
  MACE_ASSIGN_OR_RETURN(transport, Open(options));
  opened = transport;
  return transport;
}

}  // namespace mace
