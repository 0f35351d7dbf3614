// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The DSP of a phone, by FastRPC (mace/kernels/hexagon/fastrpc).

#ifndef MACE_RUNTIMES_HEXAGON_FASTRPC_TRANSPORT_H_
#define MACE_RUNTIMES_HEXAGON_FASTRPC_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "mace/kernels/hexagon/fastrpc/interface.h"
#include "mace/runtimes/hexagon/fastrpc_api.h"
#include "mace/runtimes/hexagon/hexagon_settings.h"
#include "mace/runtimes/hexagon/transport.h"
#include "mace/runtimes/hexagon/watched_calls.h"

namespace mace {

class FastRpcTransport final : public HexagonTransport {
 public:
  // UNSUPPORTED if this device has no FastRPC; RUNTIME_ERROR if its DSP cannot
  // be used, and why.
  static Result<std::shared_ptr<HexagonTransport>> Open(
      const HexagonOptions &options);
  ~FastRpcTransport() override;

  std::string Name() const override;
  void SetPower(const HexagonOptions &options) override;
  size_t fast_bytes() const override { return fast_bytes_; }
  Result<std::unique_ptr<HexagonMemory>> Allocate(size_t bytes) override;
  Result<hexagon::ProgramReply> Run(const HexagonCall &call) override;

 private:
  FastRpcTransport() = default;
  // Calls of FastRPC have no limit of time. These are given up after one: the
  // DSP's process is then killed, or, where the system cannot do that, the call
  // is left alone, and others are refused until it returns. `call` owns what it
  // uses. The result is that of the call; `what` names it for messages.
  Result<int> Call(const char *what, std::function<int()> call);
  // Of the DSP; 0 if it does not say.
  uint32_t Ask(FastRpcAttribute attribute) const;
  MaceStatus CheckVectors() const;
  // Asks for a process for unsigned code.
  MaceStatus ChooseProcess(bool must_be_unsigned);
  MaceStatus Connect();
  // Unless a call is stuck: closing would wait for it.
  void Disconnect();
  void SendPower();
  // How much VTCM the DSP has; 0 if it does not say.
  size_t AskForVtcm();

  std::mutex mutex_;
  // Memory may outlive the transport.
  std::shared_ptr<const FastRpcApi> api_;
  std::unique_ptr<WatchedCalls> calls_;
  bool is_unsigned_ = false;
  bool is_open_ = false;
  bool is_lost_ = false;  // it is to be closed before anything else
  uint64_t handle_ = 0;
  HexagonOptions power_;
  HexagonSettings settings_;
  size_t fast_bytes_ = 0;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_HEXAGON_FASTRPC_TRANSPORT_H_
