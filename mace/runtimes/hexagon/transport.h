// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the host reaches a DSP: memory that both see, and calls. Engines of a
// process share one transport; all functions may be called by any thread.

#ifndef MACE_RUNTIMES_HEXAGON_TRANSPORT_H_
#define MACE_RUNTIMES_HEXAGON_TRANSPORT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mace/core/base/status.h"
#include "mace/kernels/hexagon/program/program.h"
#include "mace/runtimes/devices/device_options.h"

namespace mace {

// Memory that the host and the DSP see. It may outlive the transport. Its bytes
// are 0 at first, and are kept when the DSP is lost.
class HexagonMemory {
 public:
  virtual ~HexagonMemory() = default;
  uint8_t *data() const { return data_; }  // at a multiple of 128
  size_t bytes() const { return bytes_; }

 protected:
  HexagonMemory(uint8_t *data, size_t bytes) : data_(data), bytes_(bytes) {}

 private:
  uint8_t *data_;
  size_t bytes_;
};

// A part of such memory. `offset` is a multiple of 128. An area that a program
// does not use has no memory.
struct HexagonRange {
  const HexagonMemory *memory = nullptr;
  size_t offset = 0;
  size_t bytes = 0;
};

// One call: the program (mace/kernels/hexagon/program) and its areas.
struct HexagonCall {
  HexagonRange program;
  std::array<HexagonRange, hexagon::kAreas> areas;
};

class HexagonTransport {
 public:
  virtual ~HexagonTransport() = default;
  // What the DSP's clock should do, if the options say so.
  virtual void SetPower(const HexagonOptions &options) {}
  // What it is, for messages: "the emulator qemu-hexagon".
  virtual std::string Name() const = 0;
  // Whether times say nothing of a DSP's. All operators that can run there are
  // then placed there.
  virtual bool is_emulated() const { return false; }
  // How much VTCM programs may use. A program that gets none computes the same.
  virtual size_t fast_bytes() const { return 0; }
  // At least one byte. OUT_OF_RESOURCES if there is not enough memory.
  virtual Result<std::unique_ptr<HexagonMemory>> Allocate(size_t bytes) = 0;
  // Runs a program, and waits until it is done. The DSP has what the host wrote
  // before, and the reverse. A failure says that the DSP did not answer: it
  // ended, or took too long. The next call then tries to start it again.
  virtual Result<hexagon::ProgramReply> Run(const HexagonCall &call) = 0;
};

// The transport of this process, which is opened if no engine has it yet, and
// closed after the last one: to the emulator that MACE_HEXAGON_EMULATOR names,
// else to the DSP of this device, else to an emulator. RUNTIME_ERROR says why
// this machine has none.
Result<std::shared_ptr<HexagonTransport>> OpenHexagonTransport(
    const HexagonOptions &options);

}  // namespace mace

#endif  // MACE_RUNTIMES_HEXAGON_TRANSPORT_H_
