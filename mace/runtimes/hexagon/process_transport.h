// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// A DSP that an emulator is: a process that maps the same file as this one
// (mace/kernels/hexagon/program/mailbox.h).

#ifndef MACE_RUNTIMES_HEXAGON_PROCESS_TRANSPORT_H_
#define MACE_RUNTIMES_HEXAGON_PROCESS_TRANSPORT_H_

#include <sys/types.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/kernels/hexagon/program/mailbox.h"
#include "mace/runtimes/hexagon/hexagon_settings.h"
#include "mace/runtimes/hexagon/transport.h"

namespace mace {

// A file in memory that another process can map, and allocations in it.
class SharedFile {
 public:
  // Pages have no memory until they are written.
  static Result<std::shared_ptr<SharedFile>> Create(size_t bytes);
  ~SharedFile();
  SharedFile(const SharedFile &) = delete;
  SharedFile &operator=(const SharedFile &) = delete;

  int descriptor() const { return descriptor_; }
  uint8_t *data() const { return data_; }
  size_t bytes() const { return bytes_; }

  // Whole pages of zeros; null if none are left.
  uint8_t *Allocate(size_t bytes);
  // Gives their memory back.
  void Free(uint8_t *data, size_t bytes);

 private:
  SharedFile() = default;

  struct Gap {
    size_t offset;
    size_t bytes;
  };

  int descriptor_ = -1;
  uint8_t *data_ = nullptr;
  size_t bytes_ = 0;
  std::mutex mutex_;
  std::vector<Gap> gaps_;  // in order; none touches the next one
};

class ProcessTransport final : public HexagonTransport {
 public:
  // Starts the emulator.
  static Result<std::shared_ptr<HexagonTransport>> Open();
  ~ProcessTransport() override;

  std::string Name() const override { return "the emulator " + emulator_; }
  bool is_emulated() const override { return true; }
  size_t fast_bytes() const override { return fast_bytes_; }
  Result<std::unique_ptr<HexagonMemory>> Allocate(size_t bytes) override;
  Result<hexagon::ProgramReply> Run(const HexagonCall &call) override;

 private:
  ProcessTransport() = default;
  hexagon::Mailbox *mailbox() const;
  // A range of the file; false if the memory is that of another transport.
  bool Locate(const HexagonRange &range, hexagon::FileRange *found) const;
  MaceStatus Start();
  // Waits for the reply of that number.
  MaceStatus WaitFor(uint32_t reply, const char *what);
  // How the process ended; empty if it runs.
  std::string Ended();
  void Stop();

  std::mutex mutex_;
  std::string emulator_;  // a path
  std::string skel_;
  int64_t millis_ = 0;  // that a call may take
  HexagonSettings settings_;
  size_t fast_bytes_ = 0;
  std::shared_ptr<SharedFile> file_;
  pid_t process_ = -1;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_HEXAGON_PROCESS_TRANSPORT_H_
