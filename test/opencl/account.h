// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_ACCOUNT_H_
#define TEST_OPENCL_ACCOUNT_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "test/opencl/opencl_functions.h"

namespace mace {
namespace test_opencl {

enum class Kind {
  kContext,
  kQueue,
  kBuffer,
  kImage,
  kSampler,
  kProgram,
  kKernel,
  kEvent,
  kDevice,
  kRecording,  // of either extension
  // Of an argument that may be a buffer or an image; no object has it.
  kMemory,
};

const char *NameOf(Kind kind);
// What functions return for a handle that is not one of that kind.
cl_int InvalidHandle(Kind kind);

struct KernelArgument {
  bool is_set = false;
  // A buffer, image or sampler: its handle and the call that made it, since the
  // handle may be used again.
  const void *object = nullptr;
  uint64_t object_call = 0;
  size_t local_bytes = 0;
  std::vector<unsigned char> value;  // of all but local memory
};

struct Object {
  Kind kind;
  const void *handle;
  uint64_t call;  // that made it
  const char *function;
  int references = 1;
  bool before_reset = false;
  const void *context = nullptr;
  bool is_lost = false;      // of a context
  bool release_now = false;  // memory of the caller's, or a callback that waits
  std::string name;          // of a kernel
  std::string options;       // of a program that was built, and its kernels
  // Of a program that uses matrix units, and its kernels.
  std::shared_ptr<const std::string> source;
  uint64_t bytes = 0;      // of a buffer or an image
  bool owns_bytes = true;  // not a part of another object
  // Of a buffer in its memory.
  const void *hardware_buffer = nullptr;
  // Mapped pointers, each with whether it may be written through.
  std::multimap<const void *, bool> mappings;
  std::vector<KernelArgument> arguments;  // of a kernel
  uint64_t arguments_set = 0;             // how often
  // Of a queue that records, rather than runs, and what it records into.
  bool is_recordable = false;
  const void *recording = nullptr;
  // Of an event whose times are emulated.
  uint64_t start_nanos = 0;
  uint64_t end_nanos = 0;
  cl_int injected_build_error = 0;  // of a program
  // Of a program and its kernels: global sizes may be no multiples of local
  // ones.
  bool non_uniform = false;
};

// The objects that callers made, and what callers did wrong. Not locked: State
// is.
class Account {
 public:
  Object *Add(Kind kind,
              const void *handle,
              const void *context,
              uint64_t call,
              const char *function);

  // Says how many bytes a buffer or an image has.
  void SetBytes(Object *object, uint64_t bytes, bool owns_bytes);

  // The object, even if its references are gone; null if it was never made.
  Object *Find(const void *handle);

  void Retain(Object *object) { ++object->references; }
  // Takes a reference away. Returns whether it was the last.
  bool Release(Object *object);

  // Records what a caller did wrong.
  void AddProblem(std::string text) { problems_.push_back(std::move(text)); }
  const std::deque<std::string> &problems() const { return problems_; }

  size_t CheckLeaks();
  size_t CountLive(const std::string &kind) const;
  uint64_t bytes() const { return bytes_; }
  uint64_t peak_bytes() const { return peak_bytes_; }

  void LoseContexts();
  bool IsLost(const Object &object);

  void Reset();

  // "buffer of 64 bytes (call 7, clCreateBuffer)"
  static std::string Describe(const Object &object);

 private:
  std::unordered_map<const void *, std::unique_ptr<Object>> objects_;
  std::deque<std::string> problems_;
  uint64_t bytes_ = 0;
  uint64_t peak_bytes_ = 0;
};

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_ACCOUNT_H_
