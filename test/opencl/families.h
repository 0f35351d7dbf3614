// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_FAMILIES_H_
#define TEST_OPENCL_FAMILIES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "test/opencl/opencl_functions.h"

namespace mace {
namespace test_opencl {

// What a device and its platform say of themselves.
struct Family {
  const char *name;

  const char *platform_name;
  const char *platform_vendor;
  const char *platform_version;

  const char *device_name;
  const char *device_vendor;
  const char *device_version;
  const char *driver_version;
  const char *c_version;
  const char *extensions;
  cl_uint vendor_id;
  int version;    // of device_version: 12 is 1.2
  bool embedded;  // the profile whose limits may be lower

  cl_uint compute_units;
  cl_uint clock_mhz;
  size_t work_group_size;
  size_t work_item_sizes[3];
  // What a kernel of any size may have; 0: work_group_size.
  size_t kernel_work_group_size;
  size_t work_group_multiple;
  size_t max_groups[3];  // of a launch; 0: any number

  uint64_t global_bytes;
  uint64_t allocation_bytes;
  uint64_t local_bytes;
  bool local_is_own;  // memory of its own, not a part of global memory
  uint64_t constant_bytes;
  uint64_t cache_bytes;
  cl_uint cache_line;
  cl_uint address_align_bits;
  bool unified;

  bool images;
  size_t image2d[2];
  size_t image3d[3];
  size_t image_array;
  size_t image_buffer;
  cl_uint pitch_align_pixels;  // of images in a buffer's memory
  cl_uint base_align_pixels;

  size_t timer_ns;

  size_t most_items_of_kernel() const {
    return kernel_work_group_size != 0 ? kernel_work_group_size
                                       : work_group_size;
  }
};

// Null beyond the last.
const Family *FamilyAt(size_t index);
const Family *FindFamily(const std::string &name);

// The extensions of a family without those that only the target could implement
// and that are not in `of_target`; all of them if `claim_all`.
std::string Extensions(const Family &family,
                       const std::string &of_target,
                       bool claim_all);

bool HasExtension(const std::string &extensions, const std::string &name);

// Answers of a family. Each returns true if the answer is the family's own; it
// is then in `result`, as the function has to return it.
struct Answer {
  size_t capacity;
  void *value;
  size_t *size;
};
bool AnswerPlatformInfo(const Family &family,
                        cl_platform_info name,
                        const std::string &extensions,
                        const Answer &answer,
                        cl_int *result);
bool AnswerDeviceInfo(const Family &family,
                      cl_device_info name,
                      const std::string &extensions,
                      const Answer &answer,
                      cl_int *result);

// Writes a value as clGet*Info functions do.
cl_int Give(const void *value, size_t bytes, const Answer &answer);
cl_int Give(const std::string &text, const Answer &answer);

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_FAMILIES_H_
