// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Commands of queues, besides kernels.

#include <string>

#include "test/opencl/call.h"

using mace::test_opencl::Call;
using mace::test_opencl::Kind;
using mace::test_opencl::Object;
using mace::test_opencl::State;
using mace::test_opencl::target;

namespace {

void AddMapping(const void *memory, const void *pointer, cl_map_flags flags) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (Object *object = state.account.Find(memory)) {
    object->mappings.emplace(
        pointer,
        (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0);
  }
}

// Whether the pointer was mapped; it no longer is.
bool TakeMapping(const void *memory, const void *pointer) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  Object *object = state.account.Find(memory);
  if (object == nullptr) return true;  // said by Call::Uses
  const auto found = object->mappings.find(pointer);
  if (found == object->mappings.end()) return false;
  object->mappings.erase(found);
  return true;
}

void *Mapped(Call *call,
             cl_command_queue queue,
             cl_mem memory,
             cl_map_flags flags,
             const cl_event *event,
             void *pointer,
             cl_int error,
             cl_int *errcode_ret) {
  if (error == CL_SUCCESS) AddMapping(memory, pointer, flags);
  if (errcode_ret != nullptr) *errcode_ret = error;
  call->Enqueued(error, queue, event);
  return pointer;
}

}  // namespace

// What all commands with a wait list check.
#define MACE_CHECK_COMMAND()              \
  call.Uses(Kind::kQueue, command_queue); \
  call.Waits(num_events_in_wait_list, event_wait_list)

// And how they end: `forward` calls the target with `event` as its last
// argument.
#define MACE_END_COMMAND(forward)              \
  if (!call.forwards()) return call.Refused(); \
  return call.Enqueued(target().forward, command_queue, event)

cl_int clEnqueueReadBuffer(cl_command_queue command_queue,
                           cl_mem buffer,
                           cl_bool blocking_read,
                           size_t offset,
                           size_t size,
                           void *ptr,
                           cl_uint num_events_in_wait_list,
                           const cl_event *event_wait_list,
                           cl_event *event) {
  Call call("clEnqueueReadBuffer");
  call.Detail(std::to_string(size) + " bytes");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kBuffer, buffer);
  MACE_END_COMMAND(clEnqueueReadBuffer(
      command_queue, buffer, blocking_read, offset, size, ptr,
      num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueReadBufferRect(cl_command_queue command_queue,
                               cl_mem buffer,
                               cl_bool blocking_read,
                               const size_t *buffer_origin,
                               const size_t *host_origin,
                               const size_t *region,
                               size_t buffer_row_pitch,
                               size_t buffer_slice_pitch,
                               size_t host_row_pitch,
                               size_t host_slice_pitch,
                               void *ptr,
                               cl_uint num_events_in_wait_list,
                               const cl_event *event_wait_list,
                               cl_event *event) {
  Call call("clEnqueueReadBufferRect");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kBuffer, buffer);
  MACE_END_COMMAND(clEnqueueReadBufferRect(
      command_queue, buffer, blocking_read, buffer_origin, host_origin, region,
      buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch,
      ptr, num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueWriteBuffer(cl_command_queue command_queue,
                            cl_mem buffer,
                            cl_bool blocking_write,
                            size_t offset,
                            size_t size,
                            const void *ptr,
                            cl_uint num_events_in_wait_list,
                            const cl_event *event_wait_list,
                            cl_event *event) {
  Call call("clEnqueueWriteBuffer");
  call.Detail(std::to_string(size) + " bytes");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kBuffer, buffer);
  MACE_END_COMMAND(clEnqueueWriteBuffer(
      command_queue, buffer, blocking_write, offset, size, ptr,
      num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueWriteBufferRect(cl_command_queue command_queue,
                                cl_mem buffer,
                                cl_bool blocking_write,
                                const size_t *buffer_origin,
                                const size_t *host_origin,
                                const size_t *region,
                                size_t buffer_row_pitch,
                                size_t buffer_slice_pitch,
                                size_t host_row_pitch,
                                size_t host_slice_pitch,
                                const void *ptr,
                                cl_uint num_events_in_wait_list,
                                const cl_event *event_wait_list,
                                cl_event *event) {
  Call call("clEnqueueWriteBufferRect");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kBuffer, buffer);
  MACE_END_COMMAND(clEnqueueWriteBufferRect(
      command_queue, buffer, blocking_write, buffer_origin, host_origin, region,
      buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch,
      ptr, num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueFillBuffer(cl_command_queue command_queue,
                           cl_mem buffer,
                           const void *pattern,
                           size_t pattern_size,
                           size_t offset,
                           size_t size,
                           cl_uint num_events_in_wait_list,
                           const cl_event *event_wait_list,
                           cl_event *event) {
  Call call("clEnqueueFillBuffer");
  call.Detail(std::to_string(size) + " bytes");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kBuffer, buffer);
  MACE_END_COMMAND(clEnqueueFillBuffer(
      command_queue, buffer, pattern, pattern_size, offset, size,
      num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueCopyBuffer(cl_command_queue command_queue,
                           cl_mem src_buffer,
                           cl_mem dst_buffer,
                           size_t src_offset,
                           size_t dst_offset,
                           size_t size,
                           cl_uint num_events_in_wait_list,
                           const cl_event *event_wait_list,
                           cl_event *event) {
  Call call("clEnqueueCopyBuffer");
  call.Detail(std::to_string(size) + " bytes");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kBuffer, src_buffer);
  call.Accesses(Kind::kBuffer, dst_buffer);
  MACE_END_COMMAND(clEnqueueCopyBuffer(
      command_queue, src_buffer, dst_buffer, src_offset, dst_offset, size,
      num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueCopyBufferRect(cl_command_queue command_queue,
                               cl_mem src_buffer,
                               cl_mem dst_buffer,
                               const size_t *src_origin,
                               const size_t *dst_origin,
                               const size_t *region,
                               size_t src_row_pitch,
                               size_t src_slice_pitch,
                               size_t dst_row_pitch,
                               size_t dst_slice_pitch,
                               cl_uint num_events_in_wait_list,
                               const cl_event *event_wait_list,
                               cl_event *event) {
  Call call("clEnqueueCopyBufferRect");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kBuffer, src_buffer);
  call.Accesses(Kind::kBuffer, dst_buffer);
  MACE_END_COMMAND(clEnqueueCopyBufferRect(
      command_queue, src_buffer, dst_buffer, src_origin, dst_origin, region,
      src_row_pitch, src_slice_pitch, dst_row_pitch, dst_slice_pitch,
      num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueReadImage(cl_command_queue command_queue,
                          cl_mem image,
                          cl_bool blocking_read,
                          const size_t *origin,
                          const size_t *region,
                          size_t row_pitch,
                          size_t slice_pitch,
                          void *ptr,
                          cl_uint num_events_in_wait_list,
                          const cl_event *event_wait_list,
                          cl_event *event) {
  Call call("clEnqueueReadImage");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kImage, image);
  MACE_END_COMMAND(clEnqueueReadImage(
      command_queue, image, blocking_read, origin, region, row_pitch,
      slice_pitch, ptr, num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueWriteImage(cl_command_queue command_queue,
                           cl_mem image,
                           cl_bool blocking_write,
                           const size_t *origin,
                           const size_t *region,
                           size_t input_row_pitch,
                           size_t input_slice_pitch,
                           const void *ptr,
                           cl_uint num_events_in_wait_list,
                           const cl_event *event_wait_list,
                           cl_event *event) {
  Call call("clEnqueueWriteImage");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kImage, image);
  MACE_END_COMMAND(clEnqueueWriteImage(
      command_queue, image, blocking_write, origin, region, input_row_pitch,
      input_slice_pitch, ptr, num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueFillImage(cl_command_queue command_queue,
                          cl_mem image,
                          const void *fill_color,
                          const size_t *origin,
                          const size_t *region,
                          cl_uint num_events_in_wait_list,
                          const cl_event *event_wait_list,
                          cl_event *event) {
  Call call("clEnqueueFillImage");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kImage, image);
  MACE_END_COMMAND(clEnqueueFillImage(command_queue, image, fill_color, origin,
                                      region, num_events_in_wait_list,
                                      event_wait_list, event));
}

cl_int clEnqueueCopyImage(cl_command_queue command_queue,
                          cl_mem src_image,
                          cl_mem dst_image,
                          const size_t *src_origin,
                          const size_t *dst_origin,
                          const size_t *region,
                          cl_uint num_events_in_wait_list,
                          const cl_event *event_wait_list,
                          cl_event *event) {
  Call call("clEnqueueCopyImage");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kImage, src_image);
  call.Accesses(Kind::kImage, dst_image);
  MACE_END_COMMAND(clEnqueueCopyImage(
      command_queue, src_image, dst_image, src_origin, dst_origin, region,
      num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue command_queue,
                                  cl_mem src_image,
                                  cl_mem dst_buffer,
                                  const size_t *src_origin,
                                  const size_t *region,
                                  size_t dst_offset,
                                  cl_uint num_events_in_wait_list,
                                  const cl_event *event_wait_list,
                                  cl_event *event) {
  Call call("clEnqueueCopyImageToBuffer");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kImage, src_image);
  call.Accesses(Kind::kBuffer, dst_buffer);
  MACE_END_COMMAND(clEnqueueCopyImageToBuffer(
      command_queue, src_image, dst_buffer, src_origin, region, dst_offset,
      num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue command_queue,
                                  cl_mem src_buffer,
                                  cl_mem dst_image,
                                  size_t src_offset,
                                  const size_t *dst_origin,
                                  const size_t *region,
                                  cl_uint num_events_in_wait_list,
                                  const cl_event *event_wait_list,
                                  cl_event *event) {
  Call call("clEnqueueCopyBufferToImage");
  MACE_CHECK_COMMAND();
  call.Accesses(Kind::kBuffer, src_buffer);
  call.Accesses(Kind::kImage, dst_image);
  MACE_END_COMMAND(clEnqueueCopyBufferToImage(
      command_queue, src_buffer, dst_image, src_offset, dst_origin, region,
      num_events_in_wait_list, event_wait_list, event));
}

void *clEnqueueMapBuffer(cl_command_queue command_queue,
                         cl_mem buffer,
                         cl_bool blocking_map,
                         cl_map_flags map_flags,
                         size_t offset,
                         size_t size,
                         cl_uint num_events_in_wait_list,
                         const cl_event *event_wait_list,
                         cl_event *event,
                         cl_int *errcode_ret) {
  Call call("clEnqueueMapBuffer");
  call.Detail(std::to_string(size) + " bytes");
  MACE_CHECK_COMMAND();
  call.Uses(Kind::kBuffer, buffer);
  if (!call.forwards()) return call.RefusedHandle<void *>(errcode_ret);
  cl_int error;
  void *pointer = target().clEnqueueMapBuffer(
      command_queue, buffer, blocking_map, map_flags, offset, size,
      num_events_in_wait_list, event_wait_list, event, &error);
  return Mapped(&call, command_queue, buffer, map_flags, event, pointer, error,
                errcode_ret);
}

void *clEnqueueMapImage(cl_command_queue command_queue,
                        cl_mem image,
                        cl_bool blocking_map,
                        cl_map_flags map_flags,
                        const size_t *origin,
                        const size_t *region,
                        size_t *image_row_pitch,
                        size_t *image_slice_pitch,
                        cl_uint num_events_in_wait_list,
                        const cl_event *event_wait_list,
                        cl_event *event,
                        cl_int *errcode_ret) {
  Call call("clEnqueueMapImage");
  MACE_CHECK_COMMAND();
  call.Uses(Kind::kImage, image);
  if (!call.forwards()) return call.RefusedHandle<void *>(errcode_ret);
  cl_int error;
  void *pointer = target().clEnqueueMapImage(
      command_queue, image, blocking_map, map_flags, origin, region,
      image_row_pitch, image_slice_pitch, num_events_in_wait_list,
      event_wait_list, event, &error);
  return Mapped(&call, command_queue, image, map_flags, event, pointer, error,
                errcode_ret);
}

cl_int clEnqueueUnmapMemObject(cl_command_queue command_queue,
                               cl_mem memobj,
                               void *mapped_ptr,
                               cl_uint num_events_in_wait_list,
                               const cl_event *event_wait_list,
                               cl_event *event) {
  Call call("clEnqueueUnmapMemObject");
  MACE_CHECK_COMMAND();
  call.Uses(Kind::kMemory, memobj);
  // Callers who tried did their part, even if the call fails on request.
  if (!TakeMapping(memobj, mapped_ptr))
    call.Refuse(CL_INVALID_VALUE, "the pointer is not mapped");
  MACE_END_COMMAND(clEnqueueUnmapMemObject(command_queue, memobj, mapped_ptr,
                                           num_events_in_wait_list,
                                           event_wait_list, event));
}

cl_int clEnqueueMigrateMemObjects(cl_command_queue command_queue,
                                  cl_uint num_mem_objects,
                                  const cl_mem *mem_objects,
                                  cl_mem_migration_flags flags,
                                  cl_uint num_events_in_wait_list,
                                  const cl_event *event_wait_list,
                                  cl_event *event) {
  Call call("clEnqueueMigrateMemObjects");
  MACE_CHECK_COMMAND();
  for (cl_uint i = 0; mem_objects != nullptr && i < num_mem_objects; ++i)
    call.Uses(Kind::kMemory, mem_objects[i]);
  MACE_END_COMMAND(clEnqueueMigrateMemObjects(
      command_queue, num_mem_objects, mem_objects, flags,
      num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueNativeKernel(cl_command_queue command_queue,
                             void(CL_CALLBACK *user_func)(void *),
                             void *args,
                             size_t cb_args,
                             cl_uint num_mem_objects,
                             const cl_mem *mem_list,
                             const void **args_mem_loc,
                             cl_uint num_events_in_wait_list,
                             const cl_event *event_wait_list,
                             cl_event *event) {
  Call call("clEnqueueNativeKernel");
  MACE_CHECK_COMMAND();
  for (cl_uint i = 0; mem_list != nullptr && i < num_mem_objects; ++i)
    call.Accesses(Kind::kMemory, mem_list[i]);
  MACE_END_COMMAND(clEnqueueNativeKernel(
      command_queue, user_func, args, cb_args, num_mem_objects, mem_list,
      args_mem_loc, num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue command_queue,
                                   cl_uint num_events_in_wait_list,
                                   const cl_event *event_wait_list,
                                   cl_event *event) {
  Call call("clEnqueueMarkerWithWaitList");
  MACE_CHECK_COMMAND();
  MACE_END_COMMAND(clEnqueueMarkerWithWaitList(
      command_queue, num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue command_queue,
                                    cl_uint num_events_in_wait_list,
                                    const cl_event *event_wait_list,
                                    cl_event *event) {
  Call call("clEnqueueBarrierWithWaitList");
  MACE_CHECK_COMMAND();
  MACE_END_COMMAND(clEnqueueBarrierWithWaitList(
      command_queue, num_events_in_wait_list, event_wait_list, event));
}

cl_int clEnqueueMarker(cl_command_queue command_queue, cl_event *event) {
  Call call("clEnqueueMarker");
  call.Uses(Kind::kQueue, command_queue);
  MACE_END_COMMAND(clEnqueueMarker(command_queue, event));
}

cl_int clEnqueueWaitForEvents(cl_command_queue command_queue,
                              cl_uint num_events,
                              const cl_event *event_list) {
  Call call("clEnqueueWaitForEvents");
  call.Uses(Kind::kQueue, command_queue);
  call.Waits(num_events, event_list);
  if (!call.forwards()) return call.Refused();
  return call.Return(
      target().clEnqueueWaitForEvents(command_queue, num_events, event_list));
}

cl_int clEnqueueBarrier(cl_command_queue command_queue) {
  Call call("clEnqueueBarrier");
  call.Uses(Kind::kQueue, command_queue);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clEnqueueBarrier(command_queue));
}
