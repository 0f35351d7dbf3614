// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/opencl/families.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <sstream>

namespace mace {
namespace test_opencl {
namespace {

constexpr uint64_t kKb = uint64_t{1} << 10;
constexpr uint64_t kMb = uint64_t{1} << 20;
constexpr uint64_t kGb = uint64_t{1} << 30;

constexpr char kBasicExtensions[] =
    "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
    "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics "
    "cl_khr_byte_addressable_store";

#define MACE_ATOMICS                                                       \
  "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics " \
  "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics "

// The drivers of Adreno 5xx and 6xx; newer ones have more.
#define MACE_ADRENO_EXTENSIONS                                               \
  "cl_khr_3d_image_writes cl_img_egl_image cl_khr_byte_addressable_store "   \
  "cl_khr_depth_images cl_khr_egl_event cl_khr_egl_image cl_khr_fp16 "       \
  "cl_khr_gl_sharing " MACE_ATOMICS                                          \
  "cl_khr_image2d_from_buffer cl_khr_mipmap_image cl_khr_srgb_image_writes " \
  "cl_khr_subgroups cl_qcom_create_buffer_from_image cl_qcom_ext_host_ptr "  \
  "cl_qcom_ion_host_ptr cl_qcom_perf_hint cl_qcom_other_image "              \
  "cl_qcom_subgroup_shuffle cl_qcom_vector_image_ops "                       \
  "cl_qcom_extract_image_plane cl_qcom_android_native_buffer_host_ptr "      \
  "cl_qcom_protected_context cl_qcom_priority_hint "                         \
  "cl_qcom_compressed_yuv_image_read cl_qcom_compressed_image "

#define MACE_MALI_EXTENSIONS                                               \
  MACE_ATOMICS                                                             \
  "cl_khr_byte_addressable_store cl_khr_3d_image_writes "                  \
  "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_fp16 "   \
  "cl_khr_icd cl_khr_egl_image cl_khr_image2d_from_buffer cl_arm_core_id " \
  "cl_arm_printf cl_arm_thread_limit_hint "                                \
  "cl_arm_non_uniform_work_group_size cl_arm_import_memory "

Family Adreno630() {
  Family f{};
  f.name = "adreno_630";
  f.platform_name = "QUALCOMM Snapdragon(TM)";
  f.platform_vendor = "QUALCOMM";
  f.platform_version =
      "OpenCL 2.0 QUALCOMM build: commit #1fdb8d6 changeid #I9a4bdda9d4 Date: "
      "12/10/18 Mon Local Branch:  Remote Branch: ";
  // Without its number, which only device_version has.
  f.device_name = "QUALCOMM Adreno(TM)";
  f.device_vendor = "QUALCOMM";
  f.device_version = "OpenCL 2.0 Adreno(TM) 630";
  f.driver_version =
      "OpenCL 2.0 QUALCOMM build: commit #1fdb8d6 changeid #I9a4bdda9d4 Date: "
      "12/10/18 Mon Local Branch:  Remote Branch:  Compiler E031.36.02.00";
  f.c_version = "OpenCL C 2.0 Adreno(TM) 630";
  f.extensions = MACE_ADRENO_EXTENSIONS;
  f.vendor_id = 0xbf4d3c4b;
  f.version = 20;
  f.compute_units = 2;
  f.clock_mhz = 1;  // so says the driver
  f.work_group_size = 1024;
  std::fill_n(f.work_item_sizes, 3, 1024);
  f.work_group_multiple = 128;
  f.global_bytes = 2816 * kMb;
  f.allocation_bytes = 1 * kGb;
  f.local_bytes = 32 * kKb;
  f.local_is_own = true;
  f.constant_bytes = 64 * kKb;
  f.cache_bytes = 128 * kKb;
  f.cache_line = 64;
  f.address_align_bits = 1024;
  f.unified = true;
  f.images = true;
  std::fill_n(f.image2d, 2, 16384);
  f.image3d[0] = f.image3d[1] = 16384;
  f.image3d[2] = 2048;
  f.image_array = 2048;
  f.image_buffer = size_t{1} << 27;
  f.pitch_align_pixels = 64;
  f.base_align_pixels = 64;
  f.timer_ns = 1000;
  return f;
}

Family Adreno506() {
  Family f = Adreno630();
  f.name = "adreno_506";
  f.platform_version =
      "OpenCL 2.0 QUALCOMM build: commit #a7f70d7 changeid #I06947f1a28 Date: "
      "11/19/18 Mon Local Branch:  Remote Branch: ";
  f.device_version = "OpenCL 2.0 Adreno(TM) 506";
  f.driver_version =
      "OpenCL 2.0 QUALCOMM build: commit #a7f70d7 changeid #I06947f1a28 Date: "
      "11/19/18 Mon Local Branch:  Remote Branch:  Compiler E031.36.02.00";
  f.c_version = "OpenCL C 2.0 Adreno(TM) 506";
  f.compute_units = 1;
  f.work_group_size = 1024;
  // Kernels with many registers get fewer items than the device says.
  f.kernel_work_group_size = 256;
  f.work_group_multiple = 32;
  f.global_bytes = 1380 * kMb;
  f.allocation_bytes = 345 * kMb;
  f.cache_bytes = 64 * kKb;
  return f;
}

Family Adreno740() {
  Family f = Adreno630();
  f.name = "adreno_740";
  f.platform_version = "OpenCL 3.0 QUALCOMM build: commit unknown";
  f.device_name = "QUALCOMM Adreno(TM) 740";
  f.device_version = "OpenCL 3.0 Adreno(TM) 740";
  f.driver_version =
      "OpenCL 3.0 QUALCOMM build: commit unknown Compiler E031.41.03.44";
  f.c_version = "OpenCL C 3.0 Adreno(TM) 740";
  f.extensions = MACE_ADRENO_EXTENSIONS
      "cl_ext_image_from_buffer cl_ext_image_requirements_info "
      "cl_khr_integer_dot_product cl_qcom_accelerated_image_ops "
      "cl_qcom_dot_product8 cl_qcom_ml_ops cl_qcom_recordable_queues "
      "cl_qcom_reqd_sub_group_size cl_qcom_onchip_global_memory "
      "cl_qcom_android_ahardwarebuffer_host_ptr "
      "cl_qcom_large_buffer";
  f.vendor_id = 0x5143;
  f.version = 30;
  f.compute_units = 6;
  f.global_bytes = 5630 * kMb;
  f.cache_bytes = 128 * kKb;
  return f;
}

Family MaliG72() {
  Family f{};
  f.name = "mali_g72";
  f.platform_name = "ARM Platform";
  f.platform_vendor = "ARM";
  f.platform_version = "OpenCL 2.0 v1.r16p0-01rel0.0123456789abcdef";
  f.device_name = "Mali-G72";
  f.device_vendor = "ARM";
  f.device_version = "OpenCL 2.0 v1.r16p0-01rel0.0123456789abcdef";
  f.driver_version = "2.0";
  f.c_version = "OpenCL C 2.0 v1.r16p0-01rel0.0123456789abcdef";
  f.extensions = MACE_MALI_EXTENSIONS
      "cl_khr_depth_images cl_khr_subgroups cl_khr_create_command_queue "
      "cl_arm_shared_virtual_memory";
  f.vendor_id = 0x62210001;
  f.version = 20;
  f.compute_units = 12;
  f.clock_mhz = 767;
  f.work_group_size = 384;
  std::fill_n(f.work_item_sizes, 3, 384);
  f.work_group_multiple = 4;
  f.global_bytes = 3700 * kMb;
  f.allocation_bytes = 3700 * kMb;
  f.local_bytes = 32 * kKb;
  f.local_is_own = false;
  f.constant_bytes = 64 * kKb;
  f.cache_bytes = 512 * kKb;
  f.cache_line = 64;
  f.address_align_bits = 1024;
  f.unified = true;
  f.images = true;
  std::fill_n(f.image2d, 2, 65536);
  std::fill_n(f.image3d, 3, 65536);
  f.image_array = 2048;
  f.image_buffer = 65536;
  f.pitch_align_pixels = 16;
  f.base_align_pixels = 32;
  f.timer_ns = 1000;
  return f;
}

Family MaliT880() {
  Family f = MaliG72();
  f.name = "mali_t880";
  f.platform_version = "OpenCL 1.2 v1.r12p1-04dev0.0123456789abcdef";
  f.device_name = "Mali-T880";
  f.device_version = "OpenCL 1.2 v1.r12p1-04dev0.0123456789abcdef";
  f.driver_version = "1.2";
  f.c_version = "OpenCL C 1.2 v1.r12p1-04dev0.0123456789abcdef";
  f.extensions =
      MACE_MALI_EXTENSIONS "cl_khr_fp64 cl_khr_gl_sharing cl_khr_egl_event";
  f.vendor_id = 0x8800002;
  f.version = 12;
  f.compute_units = 4;
  f.clock_mhz = 900;
  f.work_group_size = 256;
  std::fill_n(f.work_item_sizes, 3, 256);
  // 64 with more than 8 registers, 128 with more than 4.
  f.kernel_work_group_size = 64;
  f.global_bytes = 2860 * kMb;
  f.allocation_bytes = 715 * kMb;
  f.cache_bytes = 256 * kKb;
  return f;
}

Family MaliG710() {
  Family f = MaliG72();
  f.name = "mali_g710";
  f.platform_version = "OpenCL 3.0 v1.r38p1-01eac0.0123456789abcdef";
  f.device_name = "Mali-G710 r0p0";
  f.device_version = "OpenCL 3.0 v1.r38p1-01eac0.0123456789abcdef";
  f.driver_version = "3.0";
  f.c_version = "OpenCL C 3.0 v1.r38p1-01eac0.0123456789abcdef";
  f.extensions = MACE_MALI_EXTENSIONS
      "cl_khr_depth_images cl_khr_subgroups cl_khr_subgroup_shuffle "
      "cl_khr_create_command_queue cl_khr_priority_hints cl_khr_il_program "
      "cl_khr_extended_versioning cl_khr_integer_dot_product "
      "cl_arm_shared_virtual_memory cl_arm_integer_dot_product_int8 "
      "cl_arm_integer_dot_product_accumulate_int8 cl_arm_scheduling_controls "
      "cl_arm_controlled_kernel_termination "
      "cl_arm_import_memory_android_hardware_buffer";
  f.vendor_id = 0xa8620000;
  f.version = 30;
  f.compute_units = 7;
  f.clock_mhz = 848;
  f.work_group_size = 1024;
  std::fill_n(f.work_item_sizes, 3, 1024);
  f.work_group_multiple = 16;
  f.global_bytes = 7500 * kMb;
  f.allocation_bytes = 7500 * kMb;
  f.cache_bytes = 1 * kMb;
  f.timer_ns = 38;
  return f;
}

Family PowerVrGe8320() {
  Family f{};
  f.name = "powervr_ge8320";
  f.platform_name = "PowerVR Rogue";
  f.platform_vendor = "Imagination Technologies";
  f.platform_version = "OpenCL 1.2 ";
  f.device_name = "PowerVR Rogue GE8320";
  f.device_vendor = "Imagination Technologies";
  f.device_version = "OpenCL 1.2 ";
  f.driver_version = "1.11@5425693";
  f.c_version = "OpenCL C 1.2 ";
  f.extensions =
      "cl_khr_icd " MACE_ATOMICS
      "cl_khr_byte_addressable_store cl_khr_egl_image cl_khr_fp16 "
      "cl_khr_mipmap_image cl_khr_mipmap_image_writes cl_img_yuv_image "
      "cl_img_generate_mipmap cl_img_mem_properties";
  f.vendor_id = 0x1010;
  f.version = 12;
  f.embedded = true;
  f.compute_units = 1;
  f.clock_mhz = 650;
  f.work_group_size = 512;
  std::fill_n(f.work_item_sizes, 3, 512);
  f.work_group_multiple = 32;
  f.global_bytes = 1900 * kMb;
  f.allocation_bytes = 475 * kMb;
  f.local_bytes = 4 * kKb;
  f.local_is_own = true;
  f.constant_bytes = 64 * kKb;
  f.cache_bytes = 64 * kKb;
  f.cache_line = 64;
  f.address_align_bits = 1024;
  f.unified = true;
  f.images = true;
  std::fill_n(f.image2d, 2, 8192);
  std::fill_n(f.image3d, 3, 2048);
  f.image_array = 2048;
  f.image_buffer = 65536;
  f.timer_ns = 1000;
  return f;
}

Family NvidiaH100() {
  Family f{};
  f.name = "nvidia_h100";
  f.platform_name = "NVIDIA CUDA";
  f.platform_vendor = "NVIDIA Corporation";
  f.platform_version = "OpenCL 3.0 CUDA 13.0.97";
  f.device_name = "NVIDIA H100 80GB HBM3";
  f.device_vendor = "NVIDIA Corporation";
  f.device_version = "OpenCL 3.0 CUDA";
  f.driver_version = "580.159.04";
  f.c_version = "OpenCL C 1.2 ";
  f.extensions = MACE_ATOMICS
      "cl_khr_fp64 cl_khr_3d_image_writes cl_khr_byte_addressable_store "
      "cl_khr_icd cl_khr_gl_sharing cl_nv_compiler_options "
      "cl_nv_device_attribute_query cl_nv_pragma_unroll cl_nv_copy_opts "
      "cl_nv_create_buffer cl_khr_int64_base_atomics "
      "cl_khr_int64_extended_atomics cl_nv_kernel_attribute "
      "cl_khr_device_uuid cl_khr_pci_bus_info cl_khr_external_semaphore "
      "cl_khr_external_memory";
  f.vendor_id = 0x10de;
  f.version = 30;
  f.compute_units = 132;
  f.clock_mhz = 1980;
  f.work_group_size = 1024;
  f.work_item_sizes[0] = f.work_item_sizes[1] = 1024;
  f.work_item_sizes[2] = 64;
  f.max_groups[1] = f.max_groups[2] = 65535;
  f.work_group_multiple = 32;
  f.global_bytes = 79 * kGb;
  f.allocation_bytes = 19 * kGb;
  f.local_bytes = 48 * kKb;
  f.local_is_own = true;
  f.constant_bytes = 64 * kKb;
  f.cache_bytes = 4224 * kKb;
  f.cache_line = 128;
  f.address_align_bits = 4096;
  f.unified = false;
  f.images = true;
  std::fill_n(f.image2d, 2, 32768);
  std::fill_n(f.image3d, 3, 16384);
  f.image_array = 2048;
  f.image_buffer = 268435456;
  f.timer_ns = 1000;
  return f;
}

Family IntelUhd770() {
  Family f{};
  f.name = "intel_uhd770";
  f.platform_name = "Intel(R) OpenCL Graphics";
  f.platform_vendor = "Intel(R) Corporation";
  f.platform_version = "OpenCL 3.0 ";
  f.device_name = "Intel(R) UHD Graphics 770";
  f.device_vendor = "Intel(R) Corporation";
  f.device_version = "OpenCL 3.0 NEO ";
  f.driver_version = "25.18.33578.6";
  f.c_version = "OpenCL C 1.2 ";
  f.extensions =
      "cl_khr_byte_addressable_store cl_khr_device_uuid cl_khr_fp16 "
      "cl_khr_icd " MACE_ATOMICS
      "cl_intel_command_queue_families cl_intel_subgroups "
      "cl_intel_required_subgroup_size cl_intel_subgroups_short "
      "cl_intel_accelerator cl_khr_priority_hints cl_khr_throttle_hints "
      "cl_khr_create_command_queue cl_khr_il_program "
      "cl_khr_subgroup_shuffle cl_khr_image2d_from_buffer "
      "cl_khr_depth_images cl_khr_3d_image_writes cl_khr_integer_dot_product "
      "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics "
      "cl_khr_subgroups";
  f.vendor_id = 0x8086;
  f.version = 30;
  f.compute_units = 32;
  f.clock_mhz = 1550;
  f.work_group_size = 512;
  std::fill_n(f.work_item_sizes, 3, 512);
  f.work_group_multiple = 8;
  f.global_bytes = 12 * kGb;
  f.allocation_bytes = 4 * kGb;
  f.local_bytes = 64 * kKb;
  f.local_is_own = true;
  f.constant_bytes = 4 * kGb;
  f.cache_bytes = 1920 * kKb;
  f.cache_line = 64;
  f.address_align_bits = 1024;
  f.unified = true;
  f.images = true;
  std::fill_n(f.image2d, 2, 16384);
  f.image3d[0] = f.image3d[1] = 16384;
  f.image3d[2] = 2048;
  f.image_array = 2048;
  f.image_buffer = 268435456;
  f.pitch_align_pixels = 4;
  f.base_align_pixels = 4;
  f.timer_ns = 52;
  return f;
}

// A device of OpenCL 1.2 that has just what the full profile asks for, and from
// which the adverse ones differ in one point.
Family Least() {
  Family f{};
  f.name = "least_1_2";
  f.platform_name = "Test platform";
  f.platform_vendor = "Test vendor";
  f.platform_version = "OpenCL 1.2 test";
  f.device_name = "Test device";
  f.device_vendor = "Test vendor";
  f.device_version = "OpenCL 1.2 test";
  f.driver_version = "1.0";
  f.c_version = "OpenCL C 1.2 test";
  f.extensions = kBasicExtensions;
  f.vendor_id = 0x7e57;
  f.version = 12;
  f.compute_units = 1;
  f.clock_mhz = 100;
  f.work_group_size = 256;
  std::fill_n(f.work_item_sizes, 3, 256);
  f.work_group_multiple = 1;
  f.global_bytes = 1 * kGb;
  f.allocation_bytes = 256 * kMb;
  f.local_bytes = 32 * kKb;
  f.local_is_own = true;
  f.constant_bytes = 64 * kKb;
  f.cache_bytes = 0;
  f.cache_line = 0;
  f.address_align_bits = 1024;
  f.unified = true;
  f.images = true;
  std::fill_n(f.image2d, 2, 8192);
  std::fill_n(f.image3d, 3, 2048);
  f.image_array = 2048;
  f.image_buffer = 65536;
  f.timer_ns = 1000;
  return f;
}

template <typename Change>
Family Adverse(const char *name, Change change) {
  Family f = Least();
  f.name = name;
  change(&f);
  return f;
}

const Family *Families(size_t *count) {
  static const Family families[] = {
      Adreno506(),
      Adreno630(),
      Adreno740(),
      MaliT880(),
      MaliG72(),
      MaliG710(),
      PowerVrGe8320(),
      NvidiaH100(),
      IntelUhd770(),
      Least(),
      Adverse("opencl_1_1",
              [](Family *f) {
                f->version = 11;
                f->platform_version = "OpenCL 1.1 test";
                f->device_version = "OpenCL 1.1 test";
                f->c_version = "OpenCL C 1.1 test";
              }),
      Adverse("no_images",
              [](Family *f) {
                f->images = false;
                std::fill_n(f->image2d, 2, 0);
                std::fill_n(f->image3d, 3, 0);
                f->image_array = f->image_buffer = 0;
              }),
      Adverse("image_256", [](Family *f) { std::fill_n(f->image2d, 2, 256); }),
      Adverse("local_8k",
              [](Family *f) {
                f->local_bytes = 8 * kKb;
                f->local_is_own = false;
              }),
      Adverse("work_group_64",
              [](Family *f) {
                f->work_group_size = 64;
                std::fill_n(f->work_item_sizes, 3, 64);
              }),
      // As of kernels with many registers: the device itself says 256.
      Adverse("kernel_work_group_16",
              [](Family *f) { f->kernel_work_group_size = 16; }),
      Adverse("work_items_flat",
              [](Family *f) {
                f->work_item_sizes[1] = 8;
                f->work_item_sizes[2] = 1;
              }),
      Adverse("allocation_1m",
              [](Family *f) { f->allocation_bytes = 1 * kMb; }),
      Adverse("memory_4m",
              [](Family *f) {
                f->global_bytes = 4 * kMb;
                f->allocation_bytes = 4 * kMb;
              }),
      Adverse("discrete", [](Family *f) { f->unified = false; }),
      // Names that nobody foresaw, in a cache's key or a report.
      Adverse("odd_texts",
              [](Family *f) {
                f->device_name = " \tTest \"device\"/..\\\xe4\xf6 %s\n";
                f->device_vendor = "";
                f->driver_version = "";
                f->platform_name = "";
                f->extensions = "  cl_khr_byte_addressable_store  ";
              }),
  };
  *count = std::size(families);
  return families;
}

// What a family may have though the target does not: promises about speed or
// sharing, hints, and what any program of OpenCL C 1.2 can use.
bool NeedsNothingOfTarget(const std::string &extension) {
  static const char *const kNames[] = {
      "cl_khr_byte_addressable_store",
      "cl_khr_icd",
      "cl_khr_egl_image",
      "cl_khr_egl_event",
      "cl_khr_gl_sharing",
      "cl_khr_create_command_queue",
      "cl_khr_extended_versioning",
      "cl_khr_device_uuid",
      "cl_khr_pci_bus_info",
      "cl_img_egl_image",
      "cl_qcom_perf_hint",
      "cl_qcom_priority_hint",
      "cl_qcom_recordable_queues",   // emulated: api_recording.cc
      "cl_khr_image2d_from_buffer",  // emulated: api_memory.cc
      // Emulated, of an AHardwareBuffer: api_import.cc.
      "cl_arm_import_memory",
      "cl_arm_import_memory_android_hardware_buffer",
      "cl_qcom_android_ahardwarebuffer_host_ptr",
      "cl_khr_priority_hints",
      "cl_khr_throttle_hints",
      "cl_nv_compiler_options",
      "cl_nv_pragma_unroll",
      "cl_arm_thread_limit_hint",
  };
  if (extension.find("_int32_") != std::string::npos) return true;
  return std::find(std::begin(kNames), std::end(kNames), extension) !=
         std::end(kNames);
}

std::string Profile(const Family &family) {
  return family.embedded ? "EMBEDDED_PROFILE" : "FULL_PROFILE";
}

template <typename Value>
cl_int GiveValue(Value value, const Answer &answer) {
  return Give(&value, sizeof value, answer);
}

// Whether a family of that version knows a parameter of clGetDeviceInfo.
bool Knows(const Family &family, cl_device_info name) {
  const bool from_buffer =
      family.version >= 20 ||
      HasExtension(family.extensions, "cl_khr_image2d_from_buffer");
  // The numbers of the core's parameters rise from version to version.
  if (name == 0x104A || name == 0x104B) return from_buffer;
  if (name >= 0x104C && name <= 0x105A) return family.version >= 20;
  if (name >= 0x105B && name <= 0x105D) return family.version >= 21;
  if (name >= 0x105E && name <= 0x1072) return family.version >= 30;
  if (family.version < 12 && name >= 0x103E && name <= 0x1049) return false;
  return true;
}

}  // namespace

const Family *FamilyAt(size_t index) {
  size_t count;
  const Family *families = Families(&count);
  return index < count ? &families[index] : nullptr;
}

const Family *FindFamily(const std::string &name) {
  size_t count;
  const Family *families = Families(&count);
  const Family *found =
      std::find_if(families, families + count,
                   [&](const Family &family) { return family.name == name; });
  return found == families + count ? nullptr : found;
}

bool HasExtension(const std::string &extensions, const std::string &name) {
  std::istringstream words(extensions);
  return std::find(std::istream_iterator<std::string>(words), {}, name) !=
         std::istream_iterator<std::string>();
}

std::string Extensions(const Family &family,
                       const std::string &of_target,
                       bool claim_all) {
  if (claim_all) return family.extensions;
  // Blanks stay as they are: some families have them where nobody expects them.
  std::string kept;
  const std::string all = family.extensions;
  for (size_t at = 0; at < all.size();) {
    const size_t blank = std::min(all.find(' ', at), all.size());
    const std::string word = all.substr(at, blank - at);
    if (word.empty() || NeedsNothingOfTarget(word) ||
        HasExtension(of_target, word)) {
      kept += word;
      if (blank < all.size()) kept += ' ';
    }
    at = blank + 1;
  }
  return kept;
}

cl_int Give(const void *value, size_t bytes, const Answer &answer) {
  if (answer.value != nullptr) {
    if (answer.capacity < bytes) return CL_INVALID_VALUE;
    std::memcpy(answer.value, value, bytes);
  }
  if (answer.size != nullptr) *answer.size = bytes;
  return CL_SUCCESS;
}

cl_int Give(const std::string &text, const Answer &answer) {
  return Give(text.c_str(), text.size() + 1, answer);
}

bool AnswerPlatformInfo(const Family &family,
                        cl_platform_info name,
                        const std::string &extensions,
                        const Answer &answer,
                        cl_int *result) {
  switch (name) {
    case CL_PLATFORM_NAME:
      *result = Give(std::string(family.platform_name), answer);
      return true;
    case CL_PLATFORM_VENDOR:
      *result = Give(std::string(family.platform_vendor), answer);
      return true;
    case CL_PLATFORM_VERSION:
      *result = Give(std::string(family.platform_version), answer);
      return true;
    case CL_PLATFORM_PROFILE:
      *result = Give(Profile(family), answer);
      return true;
    case CL_PLATFORM_EXTENSIONS:
      // Qualcomm's platform has none besides its device's.
      *result = Give(std::string(family.platform_vendor) == "QUALCOMM"
                         ? std::string(" ")
                         : extensions,
                     answer);
      return true;
    default:
      return false;
  }
}

bool AnswerDeviceInfo(const Family &family,
                      cl_device_info name,
                      const std::string &extensions,
                      const Answer &answer,
                      cl_int *result) {
  const auto text = [&](const std::string &value) {
    *result = Give(value, answer);
    return true;
  };
  const auto value = [&](auto number) {
    *result = GiveValue(number, answer);
    return true;
  };
  if (!Knows(family, name)) {
    *result = CL_INVALID_VALUE;
    return true;
  }
  switch (name) {
    case CL_DEVICE_NAME:
      return text(family.device_name);
    case CL_DEVICE_VENDOR:
      return text(family.device_vendor);
    case CL_DEVICE_VERSION:
      return text(family.device_version);
    case CL_DRIVER_VERSION:
      return text(family.driver_version);
    case CL_DEVICE_OPENCL_C_VERSION:
      return text(family.c_version);
    case CL_DEVICE_PROFILE:
      return text(Profile(family));
    case CL_DEVICE_EXTENSIONS:
      return text(extensions);
    case CL_DEVICE_TYPE:
      return value(cl_device_type{CL_DEVICE_TYPE_GPU});
    case CL_DEVICE_VENDOR_ID:
      return value(family.vendor_id);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
      return value(family.compute_units);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
      return value(family.clock_mhz);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
      return value(family.work_group_size);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
      return value(cl_uint{3});
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
      *result =
          Give(family.work_item_sizes, sizeof family.work_item_sizes, answer);
      return true;
    case CL_DEVICE_GLOBAL_MEM_SIZE:
      return value(cl_ulong{family.global_bytes});
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
      return value(cl_ulong{family.allocation_bytes});
    case CL_DEVICE_LOCAL_MEM_SIZE:
      return value(cl_ulong{family.local_bytes});
    case CL_DEVICE_LOCAL_MEM_TYPE:
      return value(cl_device_local_mem_type{
          family.local_is_own ? cl_device_local_mem_type{CL_LOCAL}
                              : cl_device_local_mem_type{CL_GLOBAL}});
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
      return value(cl_ulong{family.constant_bytes});
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
      return value(cl_ulong{family.cache_bytes});
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
      return value(family.cache_line);
    case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE:
      return value(family.cache_bytes == 0
                       ? cl_device_mem_cache_type{CL_NONE}
                       : cl_device_mem_cache_type{CL_READ_WRITE_CACHE});
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
      return value(family.address_align_bits);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
      return value(
          cl_bool{family.unified ? cl_bool{CL_TRUE} : cl_bool{CL_FALSE}});
    case CL_DEVICE_IMAGE_SUPPORT:
      return value(
          cl_bool{family.images ? cl_bool{CL_TRUE} : cl_bool{CL_FALSE}});
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
      return value(family.image2d[0]);
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
      return value(family.image2d[1]);
    case CL_DEVICE_IMAGE3D_MAX_WIDTH:
      return value(family.image3d[0]);
    case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
      return value(family.image3d[1]);
    case CL_DEVICE_IMAGE3D_MAX_DEPTH:
      return value(family.image3d[2]);
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
      return value(family.image_array);
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
      return value(family.image_buffer);
    case CL_DEVICE_IMAGE_PITCH_ALIGNMENT:
      return value(family.pitch_align_pixels);
    case CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT:
      return value(family.base_align_pixels);
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
      return value(family.timer_ns);
    case 0x105E:  // CL_DEVICE_NUMERIC_VERSION
      return value(cl_uint(family.version / 10) << 22 |
                   cl_uint(family.version % 10) << 12);
    default:
      return false;
  }
}

}  // namespace test_opencl
}  // namespace mace
