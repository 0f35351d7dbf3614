// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/opencl/call.h"

#include <cstring>

namespace mace {
namespace test_opencl {
namespace {

// Whether CL_INVALID_* may be an answer to a question rather than the caller's
// mistake: what a driver knows, and whether it takes a source or a binary.
bool Asks(const char *function) {
  static const char *const kStarts[] = {
      "clGet",         "clBuild",        "clCompile",
      "clLink",        "clUnload",       "clCreateProgramWithBinary",
      "clCreateImage", "clCreateContext"};
  for (const char *start : kStarts) {
    if (std::strncmp(function, start, std::strlen(start)) == 0) return true;
  }
  return false;
}

// Whether this is the call that a counter was set for.
bool Reaches(uint64_t *counter) {
  if (*counter == 0) return false;
  --*counter;
  return *counter == 0;
}

}  // namespace

Call::Call(const char *function) : function_(function) {
  const bool no_target = !target().error.empty();
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  number_ = ++state.calls;
  ++state.counts[function];
  if (no_target) {
    error_ = std::strcmp(function, "clGetPlatformIDs") == 0
                 ? CL_PLATFORM_NOT_FOUND_KHR
                 : CL_INVALID_VALUE;
    return;
  }
  Failures &failures = state.failures;
  cl_int error = CL_SUCCESS;
  bool fails = false;
  if (IsCounted(function)) {
    if (Reaches(&failures.call)) {
      fails = true;
      error = failures.call_error;
    }
    if (Reaches(&failures.lose_at)) {
      state.account.LoseContexts();
      state.device_is_lost = failures.lose_device;
    }
  }
  const auto own = failures.functions.find(function);
  if (own != failures.functions.end() && Reaches(&own->second.call)) {
    fails = true;
    error = own->second.error;
  }
  if (state.device_is_lost &&
      std::strncmp(function, "clCreateContext", 15) == 0) {
    fails = true;
    error = LostError(function);
  }
  if (!fails) return;
  error_ = error != CL_SUCCESS ? error : PlausibleError(function, 0);
  injected_ = true;
}

void Call::Uses(Kind kind, const void *handle) {
  State &state = State::Get();
  std::unique_lock<std::mutex> lock(state.mutex);
  Object *object = state.account.Find(handle);
  // Devices of the platform are nobody's.
  if (kind == Kind::kDevice && object == nullptr && handle != nullptr) return;
  const bool fits = object != nullptr &&
                    (object->kind == kind ||
                     (kind == Kind::kMemory && (object->kind == Kind::kBuffer ||
                                                object->kind == Kind::kImage)));
  std::string problem;
  if (handle == nullptr) {
    problem = std::string("the ") + NameOf(kind) + " is null";
  } else if (!fits) {
    problem = std::string("the handle is no ") + NameOf(kind);
  } else if (object->references <= 0) {
    problem = std::strncmp(function_, "clRelease", 9) == 0
                  ? "released too often: "
                  : "used after its release: ";
    problem += Account::Describe(*object);
  } else if (!WorksWhenLost(function_) && state.account.IsLost(*object)) {
    if (error_ == CL_SUCCESS) {
      error_ = LostError(function_);
      injected_ = true;
    }
    return;
  }
  lock.unlock();
  if (!problem.empty()) Refuse(InvalidHandle(kind), problem);
}

void Call::Waits(cl_uint count, const cl_event *events) {
  if (events == nullptr) return;  // the target says whether the count is wrong
  for (cl_uint i = 0; i < count; ++i) Uses(Kind::kEvent, events[i]);
}

void Call::Accesses(Kind kind, const void *handle) {
  Uses(kind, handle);
  State &state = State::Get();
  std::unique_lock<std::mutex> lock(state.mutex);
  const Object *object = state.account.Find(handle);
  if (object == nullptr) return;
  std::string problem;
  for (const auto &mapping : object->mappings) {
    if (mapping.second)
      problem = "while it is mapped for writing: " + Account::Describe(*object);
  }
  lock.unlock();
  if (!problem.empty()) Note(problem);
}

void Call::Refuse(cl_int error, const std::string &problem) {
  Note(problem);
  Deny(error);
}

void Call::Note(const std::string &problem) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.account.AddProblem("call " + std::to_string(number_) + ", " +
                           function_ + ": " + problem);
}

void Call::Deny(cl_int error) {
  if (error_ == CL_SUCCESS) error_ = error;
}

cl_int Call::Refused() {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.failed += injected_;
  state.log.push_back({number_, function_, detail_, error_, injected_});
  if (state.log.size() > kLogLength) state.log.pop_front();
  return error_;
}

cl_int Call::Return(cl_int result) {
  if (result <= CL_INVALID_VALUE &&
      result >= CL_INVALID_DEVICE_PARTITION_COUNT && !Asks(function_)) {
    Note("the driver returns " + std::to_string(result));
  }
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.log.push_back({number_, function_, detail_, result, false});
  if (state.log.size() > kLogLength) state.log.pop_front();
  return result;
}

void Call::Add(Kind kind,
               const void *handle,
               const void *context_of,
               const std::function<void(Object *)> &change) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  const Object *source = state.account.Find(context_of);
  Object *object = state.account.Add(
      kind, handle, source ? source->context : context_of, number_, function_);
  if (change) change(object);
}

cl_int Call::Enqueued(cl_int result,
                      cl_command_queue queue,
                      const cl_event *event) {
  if (result == CL_SUCCESS && event != nullptr)
    Add(Kind::kEvent, *event, queue);
  return Return(result);
}

void Call::CountRetain(const void *handle) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (Object *object = state.account.Find(handle)) state.account.Retain(object);
}

cl_int Call::ReleaseObject(Kind kind,
                           const void *handle,
                           const std::function<cl_int()> &release) {
  const bool fails = injected_;
  const cl_int error = error_;
  error_ = CL_SUCCESS;
  Uses(kind, handle);
  if (!forwards()) return Refused();
  State &state = State::Get();
  std::vector<std::function<void()>> now;
  bool forward = true;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    Object *object = state.account.Find(handle);
    // Null: a device that nobody made.
    if (object != nullptr && state.account.Release(object) &&
        !object->release_now && object->bytes <= kMostKeptBytes / 4) {
      forward = false;
      now = state.Keep({object->bytes, [release] { release(); }});
    }
  }
  for (const auto &other : now) other();
  const cl_int result = forward ? release() : CL_SUCCESS;
  if (!fails) return Return(result);
  error_ = error;
  return Refused();
}

}  // namespace test_opencl
}  // namespace mace
