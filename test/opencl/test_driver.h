// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_TEST_DRIVER_H_
#define TEST_OPENCL_TEST_DRIVER_H_

// The control interface of libmace_test_opencl.so, an OpenCL driver for tests.
// It forwards every call to a real driver (the target) and checks it on the
// way; on request it makes calls fail, or answers like another GPU.
//
// The library exports one more symbol than OpenCL has:
//
//   const MaceTestOpenclControl *mace_test_opencl_control(void);
//
// LoadTestDriver() of load_test_driver.h gets it. All functions may be called
// from any thread. Texts are the library's; those about calls and problems are
// valid until reset().

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MaceTestOpenclCall {
  uint64_t number;       // the first call after reset() has 1
  const char *function;  // "clCreateBuffer"
  // What a test may want to know of the arguments: the name of a kernel with
  // its global and local size and offset, the options of a build, the bytes of
  // a buffer, hints of a context or queue.
  const char *detail;
  int32_t result;    // as returned to the caller; 0 is success
  int32_t injected;  // 1: this driver made it fail; the target was not called
} MaceTestOpenclCall;

// How long a launch is to take, in nanoseconds, more than 0. `options`: of the
// build of the kernel's program, empty if it was built from a binary. Sizes
// have three numbers. It must not call this driver.
typedef uint64_t (*MaceTestOpenclKernelNanos)(const char *kernel,
                                              const char *options,
                                              const size_t *global,
                                              const size_t *local);

typedef struct MaceTestOpenclControl {
  // Why there is no target; NULL if there is one. Without a target, the driver
  // has no platform.
  const char *(*target_error)(void);

  // Forgets calls, counts, problems and failures, shows the target as it is,
  // and brings lost contexts back. Objects that exist are still checked, but
  // not reported as leaks.
  void (*reset)(void);

  // --- Emulation of other devices. ---

  // What the driver says of its first device, and its limits, are those of a
  // GPU in the table of families.cc, from the next call on; "target" ends it.
  // Set it before the code under test makes a context. Returns 0 if no family
  // has that name.
  int32_t (*set_family)(const char *name);
  // The name of family number `index`, or NULL beyond the last.
  const char *(*family_name)(size_t index);
  // Extensions that the target would have to implement (cl_khr_fp16, subgroups,
  // images from buffers, vendors' built-ins) are left out of a family's list if
  // the target lacks them. 1: they are listed in any case, as by a driver with
  // defects.
  void (*claim_all_extensions)(int32_t claim);
  // 1: a family with NVIDIA's matrix units has them, too. Programs that use
  // them are compiled by clang-19 and run here, a thousand times slower.
  void (*emulate_matrix_units)(int32_t emulate);
  // Profiled kernels take that long for each work group, one after the other,
  // whatever they really take; 0: the target's times.
  void (*set_kernel_times)(uint64_t nanos_per_group);

  // The events of kernels have the times that this function says, one after the
  // other; NULL: those of the target. Kernels without a local size keep the
  // target's.
  void (*set_kernel_nanos)(MaceTestOpenclKernelNanos nanos);

  // --- Failures. A call that fails is not forwarded, except for clRelease*,
  // which releases the object as well. ---

  // The n-th call from now (1: the next) returns `error`, or a code that is
  // plausible for its function if that is 0. clRelease* is not counted, because
  // there is nothing a caller could do about it.
  void (*fail_call)(uint64_t n, int32_t error);
  // The same for the n-th call of one function, which may be clRelease*.
  void (*fail_function)(const char *function, uint64_t n, int32_t error);
  // From the n-th counted call on, all contexts of that moment are lost: what
  // computes, copies, waits or allocates in them fails; clGet*, clRetain*,
  // clRelease* and clSetKernelArg still succeed, and events have an error
  // status. New contexts work.
  void (*lose_contexts)(uint64_t n);
  // The same, and no new context can be made.
  void (*lose_device)(uint64_t n);
  // Drops all of the above; lost contexts stay lost until reset().
  void (*stop_failing)(void);
  // How many calls failed because of the above.
  uint64_t (*failures)(void);
  // The plausible error codes of a function, from the most to the least likely;
  // 0 beyond the last.
  int32_t (*plausible_error)(const char *function, size_t index);

  // --- Calls. ---

  // Calls since reset(), of one function or of all (NULL).
  uint64_t (*calls)(const char *function);
  // The last 65536 calls are kept; `index` 0 is the oldest. log_entry() returns
  // 0 if there is none.
  size_t (*log_size)(void);
  int32_t (*log_entry)(size_t index, MaceTestOpenclCall *entry);

  // --- Objects. ---

  // What callers did wrong since reset(), a text each: objects used after their
  // release or released too often, unset kernel arguments, sizes beyond a
  // limit, a buffer used while it is mapped for writing, and every other call
  // that the target refused with CL_INVALID_*.
  size_t (*problems)(void);
  const char *(*problem)(size_t index);
  // Adds a problem for each object that exists, and for each mapped pointer,
  // and returns how many. For the moment at which all should be released.
  size_t (*check_leaks)(void);
  // How many exist: "context", "queue", "buffer", "image", "sampler",
  // "program", "kernel", "event", "device" (made by clCreateSubDevices),
  // "recording" (also a command buffer), "mapping", or NULL for all.
  size_t (*live_objects)(const char *kind);
  // Bytes of buffers and images: now, and the most since reset(). Parts of
  // buffers and images in a buffer's memory are not counted.
  uint64_t (*memory_bytes)(void);
  uint64_t (*peak_memory_bytes)(void);
} MaceTestOpenclControl;

typedef const MaceTestOpenclControl *(*MaceTestOpenclControlFunction)(void);

#ifdef __cplusplus
}
#endif

#endif  // TEST_OPENCL_TEST_DRIVER_H_
