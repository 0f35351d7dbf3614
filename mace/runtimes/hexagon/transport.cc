// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/transport.h"

#include <mutex>

#include "mace/runtimes/hexagon/process_transport.h"

namespace mace {

Result<std::shared_ptr<HexagonTransport>> OpenHexagonTransport() {
  static std::mutex mutex;
  static std::weak_ptr<HexagonTransport> opened;
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<HexagonTransport> transport = opened.lock();
  if (transport != nullptr) return transport;
  MACE_ASSIGN_OR_RETURN(transport, ProcessTransport::Open());
  opened = transport;
  return transport;
}

}  // namespace mace
