// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_NATIVE_WINDOW_H_
#define TEST_OPENCL_NATIVE_WINDOW_H_

// libmace_test_native_window.so stands in for Android's libnativewindow.so: an
// AHardwareBuffer is memory of the process. What is below is written after the
// NDK's <android/hardware_buffer.h>, which is not there to include.
//
// A buffer whose last reference was released stays where it is, so that every
// use of it is found.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AHardwareBuffer AHardwareBuffer;

typedef struct AHardwareBuffer_Desc {
  uint32_t width; /* of a BLOB: bytes */
  uint32_t height;
  uint32_t layers;
  uint32_t format;
  uint64_t usage;
  uint32_t stride;
  uint32_t rfu0;
  uint64_t rfu1;
} AHardwareBuffer_Desc;

enum {
  AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM = 1,
  AHARDWAREBUFFER_FORMAT_BLOB = 0x21
};
enum {
  AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN = 3,
  AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN = 3 << 4,
  AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER = 1 << 24
};

/* What only the stand-in has. All functions may be called from any thread. */
typedef struct MaceTestNativeWindow {
  int (*allocate)(const AHardwareBuffer_Desc *desc, AHardwareBuffer **buffer);
  void (*acquire)(AHardwareBuffer *buffer);
  void (*release)(AHardwareBuffer *buffer);
  void (*describe)(const AHardwareBuffer *buffer, AHardwareBuffer_Desc *desc);
  /* The memory, with 4096 bytes of 0xEE behind it; NULL if it is no buffer or
   * has no reference. */
  void *(*memory)(AHardwareBuffer *buffer);
  /* 0 of one that was released, or is none. */
  int (*references)(const AHardwareBuffer *buffer);
  /* How often a function was given something that is no buffer, or was released
   * by all. */
  int (*misuses)(void);
} MaceTestNativeWindow;

/* The one exported function that Android's library lacks is
 * mace_test_native_window. */
typedef const MaceTestNativeWindow *(*MaceTestNativeWindowFunction)(void);

#ifdef __cplusplus
}
#endif

#endif  // TEST_OPENCL_NATIVE_WINDOW_H_
