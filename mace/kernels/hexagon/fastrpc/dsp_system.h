// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the DSP's system has for a library that FastRPC loads, by its public
// documentation: declarations of our own. Sizes are those of Hexagon, whose
// enumerations have the fewest bytes that hold their values.

#ifndef MACE_KERNELS_HEXAGON_FASTRPC_DSP_SYSTEM_H_
#define MACE_KERNELS_HEXAGON_FASTRPC_DSP_SYSTEM_H_

#include <stddef.h>
#include <stdint.h>

namespace mace::hexagon {

// An argument of a remote call: a buffer or a handle.
union RemoteArgument {
  struct {
    void *data;
    uint32_t bytes;
  } buffer;
  uint64_t handle;
};
static_assert(sizeof(RemoteArgument) == 8);

// The parts of a call's number.
constexpr uint32_t MethodOf(uint32_t call) { return (call >> 24) & 0x1f; }
constexpr uint32_t InputsOf(uint32_t call) { return (call >> 16) & 0xff; }
constexpr uint32_t OutputsOf(uint32_t call) { return (call >> 8) & 0xff; }
constexpr uint32_t HandlesOf(uint32_t call) { return call & 0xff; }

// Results of remote calls.
enum RemoteStatus : uint32_t {
  kSuccess = 0,
  kVersionNotSupported = 0x80000404,
  kBadParameter = 0x8000040e,
  kUnsupported = 0x80000414,
};

enum PowerRequestType : uint8_t {
  kPowerVectors = 2,
  kPowerClass = 3,
  kPowerClocks = 7,
};

constexpr uint8_t kComputeClass = 4;

constexpr uint8_t kPowerSaver = 0x04;
constexpr uint8_t kPerformance = 0x10;

struct PowerClocks {
  uint8_t dcvs_enable;
  uint8_t dcvs_option;
  uint8_t set_latency;
  uint32_t latency;
  uint8_t set_corners;
  struct {
    uint8_t target;
    uint8_t least;
    uint8_t most;
    uint32_t reserved[3];
  } corners;
};
static_assert(offsetof(PowerClocks, latency) == 4);
static_assert(offsetof(PowerClocks, corners) == 12);
static_assert(sizeof(PowerClocks) == 28);

struct alignas(8) HapPowerRequest {
  uint8_t type;
  uint8_t unused[7];
  union {
    uint8_t vectors_on;
    uint8_t client_class;
    PowerClocks clocks;
    // More than all requests of today.
    uint8_t bytes[248];
  };
};
static_assert(offsetof(HapPowerRequest, bytes) == 8);

// How a thread is made. Names of later systems have more at the end, of which 0
// is the default.
struct QurtThreadAttributes {
  char name[16];
  uint8_t unused[2];
  uint16_t priority;  // 0 is the highest
  uint8_t address_space;
  uint8_t bus_priority;  // 255: the default
  uint16_t test_id;      // 0xfffe: the default
  uint32_t stack_bytes;
  void *stack;
  uint32_t reserved[8];
};
static_assert(offsetof(QurtThreadAttributes, priority) == 18);
static_assert(offsetof(QurtThreadAttributes, stack) == 28);

}  // namespace mace::hexagon

extern "C" {

// Asks for power; `context` tells clients apart. 0 if it was granted.
int HAP_power_set(void *context, mace::hexagon::HapPowerRequest *request);

// Cycles of the processor's clock.
uint64_t HAP_perf_get_pcycles();

// VTCM. HAP_request_VTCM gives so many bytes, as one page or not, or null;
// HAP_query_total_VTCM says how much the DSP has. 0: it succeeded. DSPs without
// VTCM lack them.
__attribute__((weak)) void *HAP_request_VTCM(uint32_t bytes, uint32_t one_page);
__attribute__((weak)) int HAP_release_VTCM(void *memory);
__attribute__((weak)) int HAP_query_total_VTCM(uint32_t *page_bytes,
                                               uint32_t *pages);

// Gives the calling thread vectors of 128 bytes (mode 1), on DSPs where threads
// do not get them when they use them first. Others may lack both functions.
__attribute__((weak)) int qurt_hvx_lock(uint32_t mode);
__attribute__((weak)) int qurt_hvx_unlock();

// What the DSP has for vectors: in bits 8 to 15, how many threads can use those
// of 128 bytes at the same time.
__attribute__((weak)) int qurt_hvx_get_units();

// Threads. If one of these functions is missing, there is one thread.
__attribute__((weak)) int qurt_thread_create(
    uint32_t *thread,
    mace::hexagon::QurtThreadAttributes *attributes,
    void (*function)(void *),
    void *argument);
__attribute__((weak)) int qurt_thread_join(uint32_t thread, int *status);
__attribute__((weak)) void qurt_thread_exit(int status);
__attribute__((weak)) uint32_t qurt_thread_get_id();
__attribute__((weak)) int qurt_thread_get_priority(uint32_t thread);
// Waits while *word is `value`.
__attribute__((weak)) int qurt_futex_wait(void *word, int value);
__attribute__((weak)) int qurt_futex_wake(void *word, int threads);

}  // extern "C"

#endif  // MACE_KERNELS_HEXAGON_FASTRPC_DSP_SYSTEM_H_
