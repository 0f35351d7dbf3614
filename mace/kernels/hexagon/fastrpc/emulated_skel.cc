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

constexpr uint32_t kMostFastBytes = 1 << 20;

// Of a thread; its number is the index + 1.
constexpr uint32_t kMostThreads = 16;
uint32_t alive[kMostThreads];

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

// What follows is C for the linker alone.
using namespace mace::hexagon;  // NOLINT(google-build-using-namespace)

extern "C" {

int mace_hexagon_skel_handle_invoke(uint64_t handle,
                                    uint32_t call,
                                    mace::hexagon::RemoteArgument *arguments);

int HAP_power_set(void *context, mace::hexagon::HapPowerRequest *request) {
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

int HAP_query_total_VTCM(uint32_t *page_bytes, uint32_t *pages) {
  constexpr uint32_t kPage = 4096;
  *page_bytes = kPage;
  *pages = mace::hexagon::mailbox->described_fast_bytes / kPage;
  return 0;
}

void *HAP_request_VTCM(uint32_t bytes, uint32_t one_page) {
  alignas(128) static uint8_t memory[kMostFastBytes];
  ++mailbox->fast_requests;
  if (bytes > mailbox->fast_bytes || bytes > kMostFastBytes ||
      mailbox->fast_taken != 0 || one_page != 0) {
    return nullptr;
  }
  ++mailbox->fast_taken;
  return memory;
}

int HAP_release_VTCM(void *memory) {
  if (memory == nullptr) return -1;
  --mace::hexagon::mailbox->fast_taken;
  return 0;
}

uint64_t HAP_perf_get_pcycles() {
  return mace::hexagon::emulated::PacketCount();
}

int qurt_hvx_get_units() {
  return static_cast<int>(mace::hexagon::mailbox->contexts << 8);
}

int qurt_hvx_lock(uint32_t mode) {
  if (mode != 1) return -1;
  __atomic_add_fetch(&mailbox->all_locks, 1, __ATOMIC_RELAXED);
  for (;;) {
    uint32_t locks = __atomic_load_n(&mailbox->locks, __ATOMIC_RELAXED);
    if (locks < mailbox->contexts || mailbox->contexts == 0) {
      if (__atomic_compare_exchange_n(&mailbox->locks, &locks, locks + 1, false,
                                      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        return 0;
      }
    } else {
      emulated::WaitForChange(&mailbox->locks, locks);
    }
  }
}

int qurt_hvx_unlock() {
  __atomic_sub_fetch(&mailbox->locks, 1, __ATOMIC_RELEASE);
  emulated::Wake(&mailbox->locks);
  return 0;
}

int qurt_thread_create(uint32_t *thread,
                       mace::hexagon::QurtThreadAttributes *attributes,
                       void (*function)(void *),
                       void *argument) {
  if (mailbox->threads >= mailbox->most_threads || attributes->name[0] == 0 ||
      attributes->priority != 100) {
    return -1;
  }
  uint32_t index = 0;
  while (index < kMostThreads && alive[index] != 0) ++index;
  if (index == kMostThreads) return -1;
  alive[index] = 1;
  auto *stack = static_cast<uint8_t *>(attributes->stack);
  if (emulated::Clone(stack + attributes->stack_bytes, function, argument,
                      &alive[index]) < 0) {
    alive[index] = 0;
    return -1;
  }
  *thread = index + 1;
  ++mailbox->threads;
  ++mailbox->started_threads;
  return 0;
}

int qurt_thread_join(uint32_t thread, int *status) {
  uint32_t *word = &alive[thread - 1];
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != 0) {
    emulated::WaitForChange(word, 1);
  }
  --mailbox->threads;
  *status = 0;
  return 0;
}

void qurt_thread_exit(int) { mace::hexagon::emulated::ExitThread(); }

uint32_t qurt_thread_get_id() { return 0; }

int qurt_thread_get_priority(uint32_t) { return 100; }

int qurt_futex_wait(void *word, int value) {
  mace::hexagon::emulated::WaitForChange(static_cast<uint32_t *>(word),
                                         static_cast<uint32_t>(value));
  return 0;
}

int qurt_futex_wake(void *word, int) {
  mace::hexagon::emulated::Wake(static_cast<uint32_t *>(word));
  return 0;
}

}  // extern "C"

int main(int count, char **words) {
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
