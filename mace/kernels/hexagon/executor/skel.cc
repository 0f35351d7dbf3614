// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: mace_hexagon_skel FILE [parts]
//
// The DSP's part in the emulator. FILE begins with a mailbox; it runs the
// programs that come by it, until the process that started it has ended. With
// "parts", one thread computes the parts of three, one after the other.

#include "mace/kernels/hexagon/executor/executor.h"
#include "mace/kernels/hexagon/executor/workers.h"
#include "mace/kernels/hexagon/packing.h"
#include "mace/kernels/hexagon/platform/emulated.h"
#include "mace/kernels/hexagon/platform/memory.h"
#include "mace/kernels/hexagon/program/mailbox.h"

namespace mace::hexagon {
namespace {

enum ExitStatus {
  kDone = 0,
  kWrongArguments = 2,
  kNoFile = 3,
  kNoMemory = 4,
  kWrongVersion = 5,
};

// The emulator's number of packets.
uint64_t Packets() { return emulated::PacketCount(); }

// The last one first.
constexpr int kParts = 3;
void DivideBackwards(int64_t count,
                     int64_t unit,
                     WorkPart part,
                     const void *work) {
  const int64_t units = (count + unit - 1) / unit;
  for (int64_t i = kParts; i-- > 0;) {
    const int64_t begin = units * i / kParts * unit;
    const int64_t last = units * (i + 1) / kParts * unit;
    const int64_t end = last < count ? last : count;
    if (begin < end) part(work, begin, end);
  }
}

// What stands for VTCM.
Memory fast;

// Has nothing of the last call.
Memory TakeFast(uint32_t bytes) {
  if (bytes > fast.bytes) return {};
  constexpr int kOther = 0xa5;
  memset(fast.data, kOther, bytes);
  return {fast.data, bytes};
}

void ReturnFast(const Memory & /*memory*/) {}

// What a range of the file is; without an address if it is not in the file.
Memory Find(uint8_t *file, uint32_t file_bytes, const FileRange &range) {
  if (range.offset % kVectorBytes != 0 || range.offset < kMailboxBytes ||
      range.offset > file_bytes || range.bytes > file_bytes - range.offset) {
    return {};
  }
  return {file + range.offset, range.bytes};
}

void Answer(uint8_t *file, uint32_t file_bytes, bool parts, Mailbox *box) {
  ProgramCall call;
  call.program = Find(file, file_bytes, box->program);
  for (uint32_t i = 0; i < kAreas; ++i) {
    call.areas[i] = Find(file, file_bytes, box->areas[i]);
  }
  call.counter = Packets;
  call.take_fast = TakeFast;
  call.return_fast = ReturnFast;
  if (parts) {
    call.divide = DivideBackwards;
    call.threads = kParts;
  } else {
    call.threads = StartWorkers(box->threads);
    if (call.threads > 1) call.divide = DivideWork;
  }
  box->result = RunProgram(call);
}

int Serve(const char *path, bool parts) {
  const long parent = emulated::Parent();
  const long file = emulated::Open(path);
  if (file < 0) return kNoFile;
  auto *box = static_cast<Mailbox *>(
      emulated::MapShared(static_cast<int>(file), kMailboxBytes));
  if (box == nullptr) return kNoMemory;
  if (box->magic != kProgramMagic) return kWrongArguments;
  const uint32_t bytes = box->file_bytes;
  auto *all = static_cast<uint8_t *>(
      emulated::MapShared(static_cast<int>(file), bytes));
  if (all == nullptr) return kNoMemory;
  box = reinterpret_cast<Mailbox *>(all);
  box->skel_version = kProgramVersion;
  if (box->fast_bytes != 0) {
    fast.data = static_cast<uint8_t *>(emulated::MapOwn(box->fast_bytes));
    fast.bytes = fast.data == nullptr ? 0 : box->fast_bytes;
    box->fast_bytes = fast.bytes;
  }
  uint32_t done = 0;
  for (;;) {
    __atomic_store_n(&box->reply, done + 1, __ATOMIC_RELEASE);
    emulated::Wake(&box->reply);
    if (box->version != kProgramVersion) return kWrongVersion;
    while (__atomic_load_n(&box->request, __ATOMIC_ACQUIRE) == done) {
      emulated::WaitForChange(&box->request, done);
      if (emulated::Parent() != parent) return kDone;
    }
    done = __atomic_load_n(&box->request, __ATOMIC_ACQUIRE);
    Answer(all, bytes, parts, box);
  }
}

}  // namespace
}  // namespace mace::hexagon

int main(int count, char **arguments) {
  if (count != 2 && count != 3) return mace::hexagon::kWrongArguments;
  return mace::hexagon::Serve(arguments[1], count == 3);
}
