// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of OpenCL C that kernels call in their loops, as code that a
// compiler without a library of them can count. Images are plain memory.

#define image2d_t __global float4 *
#define __read_only
#define __write_only
#define read_imagef(image, sampler, at) \
  ((image)[(uint)((at).y * 16384 + (at).x)])
#define write_imagef(image, at, v) \
  (image)[(uint)((at).y * 16384 + (at).x)] = (v)

#define BUILTIN __attribute__((overloadable, always_inline))

BUILTIN float4 mad(float4 a, float4 b, float4 c) {
  return __builtin_elementwise_fma(a, b, c);
}
BUILTIN float4 convert_float4(float4 v) { return v; }
BUILTIN float4 convert_float4(char4 v) {
  return __builtin_convertvector(v, float4);
}
BUILTIN int min(int a, int b) { return a < b ? a : b; }
BUILTIN float4 select(float4 a, float4 b, int4 c) { return c < 0 ? b : a; }
BUILTIN float4 vload_half4(size_t i, const __private half *p) {
  return __builtin_convertvector(*(const __private half4 *)(p + 4 * i), float4);
}
BUILTIN void vstore_half4_rte(float4 v, size_t i, __private half *p) {
  *(__private half4 *)(p + 4 * i) = __builtin_convertvector(v, half4);
}
#ifdef REAL_HALF
BUILTIN half4 mad(half4 a, half4 b, half4 c) {
  return __builtin_elementwise_fma(a, b, c);
}
BUILTIN float4 convert_float4(half4 v) {
  return __builtin_convertvector(v, float4);
}
BUILTIN half4 convert_half4(half4 v) { return v; }
BUILTIN half4 convert_half4(float4 v) {
  return __builtin_convertvector(v, half4);
}
#endif

BUILTIN size_t get_local_id(uint axis) {
  return axis == 0   ? __builtin_amdgcn_workitem_id_x()
         : axis == 1 ? __builtin_amdgcn_workitem_id_y()
                     : __builtin_amdgcn_workitem_id_z();
}
BUILTIN size_t get_group_id(uint axis) {
  return axis == 0   ? __builtin_amdgcn_workgroup_id_x()
         : axis == 1 ? __builtin_amdgcn_workgroup_id_y()
                     : __builtin_amdgcn_workgroup_id_z();
}
BUILTIN size_t get_global_id(uint axis) {
  return get_group_id(axis) * (axis == 0   ? 16
                               : axis == 1 ? 4
                                           : 1) +
         get_local_id(axis);
}
BUILTIN void barrier(cl_mem_fence_flags flags) { __builtin_amdgcn_s_barrier(); }
