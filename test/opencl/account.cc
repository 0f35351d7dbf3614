// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/opencl/account.h"

#include <algorithm>

namespace mace {
namespace test_opencl {

const char *NameOf(Kind kind) {
  switch (kind) {
    case Kind::kContext:
      return "context";
    case Kind::kQueue:
      return "queue";
    case Kind::kBuffer:
      return "buffer";
    case Kind::kImage:
      return "image";
    case Kind::kSampler:
      return "sampler";
    case Kind::kProgram:
      return "program";
    case Kind::kKernel:
      return "kernel";
    case Kind::kEvent:
      return "event";
    case Kind::kDevice:
      return "device";
    case Kind::kRecording:
      return "recording";
    case Kind::kMemory:
      return "buffer or image";
  }
  return "object";
}

cl_int InvalidHandle(Kind kind) {
  switch (kind) {
    case Kind::kContext:
      return CL_INVALID_CONTEXT;
    case Kind::kQueue:
      return CL_INVALID_COMMAND_QUEUE;
    case Kind::kBuffer:
    case Kind::kImage:
    case Kind::kMemory:
      return CL_INVALID_MEM_OBJECT;
    case Kind::kSampler:
      return CL_INVALID_SAMPLER;
    case Kind::kProgram:
      return CL_INVALID_PROGRAM;
    case Kind::kKernel:
      return CL_INVALID_KERNEL;
    case Kind::kEvent:
      return CL_INVALID_EVENT;
    case Kind::kDevice:
      return CL_INVALID_DEVICE;
    case Kind::kRecording:
      return CL_INVALID_COMMAND_BUFFER_KHR;
  }
  return CL_INVALID_VALUE;
}

Object *Account::Add(Kind kind,
                     const void *handle,
                     const void *context,
                     uint64_t call,
                     const char *function) {
  auto object = std::make_unique<Object>();
  object->kind = kind;
  object->handle = handle;
  object->context = kind == Kind::kContext ? handle : context;
  object->call = call;
  object->function = function;
  Object *added = object.get();
  // A handle is used again after its object is gone.
  objects_[handle] = std::move(object);
  return added;
}

Object *Account::Find(const void *handle) {
  const auto found = objects_.find(handle);
  return found == objects_.end() ? nullptr : found->second.get();
}

void Account::SetBytes(Object *object, uint64_t bytes, bool owns_bytes) {
  object->bytes = bytes;
  object->owns_bytes = owns_bytes;
  if (!owns_bytes) return;
  bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
}

bool Account::Release(Object *object) {
  if (--object->references > 0) return false;
  if (object->owns_bytes) bytes_ -= object->bytes;
  return true;
}

std::string Account::Describe(const Object &object) {
  std::string text = NameOf(object.kind);
  if (!object.name.empty()) text += " " + object.name;
  if (object.bytes > 0)
    text += " of " + std::to_string(object.bytes) + " bytes";
  return text + " (call " + std::to_string(object.call) + ", " +
         object.function + ")";
}

size_t Account::CheckLeaks() {
  std::vector<const Object *> leaked;
  for (const auto &entry : objects_) {
    const Object &object = *entry.second;
    if (!object.before_reset &&
        (object.references > 0 || !object.mappings.empty())) {
      leaked.push_back(&object);
    }
  }
  std::sort(leaked.begin(), leaked.end(),
            [](const Object *a, const Object *b) { return a->call < b->call; });
  size_t count = 0;
  for (const Object *object : leaked) {
    for (size_t i = 0; i < object->mappings.size(); ++i) {
      AddProblem("not unmapped: " + Describe(*object));
      ++count;
    }
    if (object->references == 0) continue;
    AddProblem("not released: " + Describe(*object) + ", " +
               std::to_string(object->references) +
               (object->references == 1 ? " reference" : " references"));
    ++count;
  }
  return count;
}

size_t Account::CountLive(const std::string &kind) const {
  size_t count = 0;
  for (const auto &entry : objects_) {
    const Object &object = *entry.second;
    if (kind == "mapping") {
      count += object.mappings.size();
    } else if (object.references > 0 &&
               (kind.empty() || kind == NameOf(object.kind))) {
      ++count;
    }
  }
  return count;
}

void Account::LoseContexts() {
  for (const auto &entry : objects_) {
    if (entry.second->kind == Kind::kContext) entry.second->is_lost = true;
  }
}

bool Account::IsLost(const Object &object) {
  const Object *context = Find(object.context);
  return context != nullptr && context->is_lost;
}

void Account::Reset() {
  problems_.clear();
  peak_bytes_ = bytes_;
  for (const auto &entry : objects_) {
    entry.second->before_reset = true;
    entry.second->is_lost = false;
  }
}

}  // namespace test_opencl
}  // namespace mace
