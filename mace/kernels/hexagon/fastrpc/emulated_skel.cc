// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: emulated_skel FILE
//
// The library for FastRPC in a program for the emulator, with a DSP's system
// that writes down what is asked of it. FILE begins with an EmulatedMailbox.

#include "mace/kernels/hexagon/fastrpc/dsp_system.h"
#include "mace/kernels/hexagon/fastrpc/emulated_mailbox.h"
#include "mace/kernels/hexagon/platform/emulated.h"

namespace mace::hexagon {
namespace {

EmulatedMailbox *mailbox;

enum ExitStatus { kWrongArguments = 2, kNoFile = 3 };

int Serve(const char *path) {
  const int file = static_cast<int>(emulated::Open(path));
  if (file < 0) return kNoFile;
  void *first = emulated::MapShared(file, kEmulatedMailboxBytes);
  if (first == nullptr) return kNoFile;
  const uint32_t bytes = static_cast<EmulatedMailbox *>(first)->file_bytes;
  auto *data = static_cast<uint8_t *>(emulated::MapShared(file, bytes));
  if (data == nullptr) return kNoFile;
  mailbox = reinterpret_cast<EmulatedMailbox *>(data);
  return 0;
}

}  // namespace
}  // namespace mace::hexagon

extern "C" {

int mace_hexagon_skel_handle_invoke(uint64_t handle,
                                    uint32_t call,
                                    mace::hexagon::RemoteArgument *arguments);

int HAP_power_set(void *context, mace::hexagon::HapPowerRequest *request) {
  using namespace mace::hexagon;  // NOLINT: for the whole function
  if (context == nullptr) return -1;
  if (mailbox->power_requests == kMostPowerRequests) return 0;
  PowerRecord *record = &mailbox->power[mailbox->power_requests++];
  record->type = request->type;
  switch (request->type) {
    case kPowerVectors:
      record->vectors_on = request->vectors_on;
      break;
    case kPowerClass:
      record->client_class = request->client_class;
      break;
    case kPowerClocks:
      record->dcvs_enable = request->clocks.dcvs_enable;
      record->target = request->clocks.corners.target;
      record->least = request->clocks.corners.least;
      record->latency = request->clocks.latency;
      break;
    default:
      return -1;
  }
  return 0;
}

uint64_t HAP_perf_get_pcycles() {
  return mace::hexagon::emulated::PacketCount();
}

}  // extern "C"

int main(int count, char **words) {
  using namespace mace::hexagon;  // NOLINT: for the whole function
  if (count != 2) return kWrongArguments;
  const int failed = Serve(words[1]);
  if (failed != 0) return failed;
  auto *data = reinterpret_cast<uint8_t *>(mailbox);
  for (uint32_t done = 0;; ++done) {
    __atomic_store_n(&mailbox->reply, done + 1, __ATOMIC_RELEASE);
    emulated::Wake(&mailbox->reply);
    while (__atomic_load_n(&mailbox->request, __ATOMIC_ACQUIRE) == done) {
      emulated::WaitForChange(&mailbox->request, done);
    }
    const uint32_t buffers = InputsOf(mailbox->call) + OutputsOf(mailbox->call);
    const uint32_t all = buffers + HandlesOf(mailbox->call);
    RemoteArgument arguments[kMostArguments] = {};
    for (uint32_t i = 0; i < all && i < kMostArguments; ++i) {
      const auto &given = mailbox->arguments[i];
      if (i < buffers && given.bytes != 0) {
        arguments[i].buffer = {data + given.offset, given.bytes};
      }
    }
    mailbox->result = mace_hexagon_skel_handle_invoke(mailbox->handle,
                                                      mailbox->call, arguments);
    for (uint32_t i = buffers; i < all && i < kMostArguments; ++i) {
      mailbox->arguments[i] = {
          static_cast<uint32_t>(arguments[i].handle),
          static_cast<uint32_t>(arguments[i].handle >> 32)};
    }
  }
}
