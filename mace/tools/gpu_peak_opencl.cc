// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>

#include "mace/kernels/opencl/peak_cl.h"
#include "mace/runtimes/opencl/driver/gpu_hints.h"
#include "mace/runtimes/opencl/driver/opencl_runtime.h"
#include "mace/tools/gpu_peak.h"

namespace mace {
namespace tools {
namespace {

constexpr int kRepeats = 5;
// Long enough for the clock of a GPU, and too short to be seen on its screen.
constexpr double kShortestNanos = 5e6;
constexpr int kMostRounds = 1 << 20;
constexpr int kMultiplyAddsPerRound = 128;
// Three arrays of 64 MiB, as for the CPU.
constexpr size_t kStreamBytes = size_t{64} << 20;
// Work items that keep a compute unit of a GPU, or of a processor, busy.
constexpr size_t kGpuItems = 2048;
constexpr size_t kCpuItems = 256;
// Of the triad in cache, of 16 bytes in each of three arrays.
constexpr size_t kCacheItems = 512;

class PeakLoops {
 public:
  MaceStatus Prepare() {
    MACE_ASSIGN_OR_RETURN(runtime_, OpenclRuntime::Get());
    const ProgramKey key{&kPeakCl, ""};
    MACE_RETURN_IF_ERROR(runtime_->Build({key}, ProgramStores()));
    MACE_ASSIGN_OR_RETURN(multiply_add_,
                          runtime_->MakeKernel(key, "multiply_add"));
    MACE_ASSIGN_OR_RETURN(triad_, runtime_->MakeKernel(key, "triad"));
    MACE_ASSIGN_OR_RETURN(
        queue_,
        CreateQueue(runtime_->api(), runtime_->device(), runtime_->context(),
                    CL_QUEUE_PROFILING_ENABLE, GpuHints()));
    const size_t bytes =
        std::min(kStreamBytes, runtime_->device().max_allocation) / 16 * 16;
    for (ClMemory &array : arrays_) {
      MACE_ASSIGN_OR_RETURN(array,
                            runtime_->MakeBuffer(CL_MEM_READ_WRITE, bytes,
                                                 "an array to stream through"));
    }
    elements_ = bytes / 16;
    return MaceStatus();
  }

  MaceStatus Measure(GpuPeak *peak) {
    const GpuDevice &device = runtime_->device();
    const auto units = static_cast<size_t>(device.traits.compute_units);
    const bool is_cpu = device.traits.family == GpuFamily::kCpu;
    peak->name = device.name;
    const size_t items =
        std::min(elements_, units * (is_cpu ? kCpuItems : kGpuItems));
    double best = 0;
    MACE_RETURN_IF_ERROR(Rate(multiply_add_, items, false, &best));
    peak->gflops = std::max(peak->gflops, 2.0 * kMultiplyAddsPerRound * best);
    MACE_RETURN_IF_ERROR(Rate(triad_, elements_, true, &best));
    peak->gbytes_per_s = std::max(peak->gbytes_per_s, 48 * best);
    MACE_RETURN_IF_ERROR(
        Rate(triad_, std::min(elements_, units * kCacheItems), false, &best));
    peak->cache_gbytes_per_s = std::max(peak->cache_gbytes_per_s, 48 * best);
    return MaceStatus();
  }

 private:
  // The most rounds of a work item per nanosecond of all of `items`. `once`: a
  // launch has one round; else as many as take long enough.
  MaceStatus Rate(const ClKernel &kernel,
                  size_t items,
                  bool once,
                  double *best) {
    *best = 0;
    int rounds = 1;
    double nanos = 0;
    MACE_RETURN_IF_ERROR(Launch(kernel, items, rounds, &nanos));
    while (!once && nanos < kShortestNanos && rounds < kMostRounds) {
      rounds *= 2;
      MACE_RETURN_IF_ERROR(Launch(kernel, items, rounds, &nanos));
    }
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      MACE_RETURN_IF_ERROR(Launch(kernel, items, rounds, &nanos));
      if (nanos <= 0) continue;
      *best = std::max(*best, static_cast<double>(items) * rounds / nanos);
    }
    return MaceStatus();
  }

  MaceStatus Launch(const ClKernel &kernel,
                    size_t items,
                    int rounds,
                    double *nanos) {
    const ClApi &api = runtime_->api();
    const cl_int count = rounds;
    const cl_float factor = 0.5f;
    const cl_float term = 0.25f;
    cl_uint index = 0;
    const auto set = [&](size_t bytes, const void *value) {
      return api.clSetKernelArg(kernel.get(), index++, bytes, value);
    };
    const bool triad = &kernel == &triad_;
    for (int i = 0; i < (triad ? 3 : 1); ++i) {
      const cl_mem array = arrays_[i].get();
      MACE_CL_CHECK("clSetKernelArg", "",
                    set(sizeof(cl_mem), static_cast<const void *>(&array)));
    }
    MACE_CL_CHECK("clSetKernelArg", "", set(sizeof(count), &count));
    MACE_CL_CHECK("clSetKernelArg", "", set(sizeof(factor), &factor));
    if (!triad) {
      MACE_CL_CHECK("clSetKernelArg", "", set(sizeof(term), &term));
    }
    cl_event event = nullptr;
    MACE_CL_CHECK(
        "clEnqueueNDRangeKernel", "a loop that measures the GPU",
        api.clEnqueueNDRangeKernel(queue_.get(), kernel.get(), 1, nullptr,
                                   &items, nullptr, 0, nullptr, &event));
    const ClEvent owner(event, api.clReleaseEvent);
    MACE_CL_CHECK("clFinish", "", api.clFinish(queue_.get()));
    cl_ulong times[2] = {};
    constexpr cl_profiling_info kTimes[2] = {CL_PROFILING_COMMAND_START,
                                             CL_PROFILING_COMMAND_END};
    for (int t = 0; t < 2; ++t) {
      MACE_CL_CHECK(
          "clGetEventProfilingInfo", "",
          api.clGetEventProfilingInfo(event, kTimes[t], sizeof(cl_ulong),
                                      &times[t], nullptr));
    }
    *nanos = times[1] > times[0] ? static_cast<double>(times[1] - times[0]) : 0;
    return MaceStatus();
  }

  std::shared_ptr<OpenclRuntime> runtime_;
  ClKernel multiply_add_;
  ClKernel triad_;
  ClQueue queue_;
  ClMemory arrays_[3];
  size_t elements_ = 0;  // of each array, of 16 bytes
};

MaceStatus Measure(GpuPeak *peak) {
  PeakLoops loops;
  MACE_RETURN_IF_ERROR(loops.Prepare());
  return loops.Measure(peak);
}

const bool set = [] {
  SetGpuPeakFunction(Measure);
  return true;
}();

}  // namespace
}  // namespace tools
}  // namespace mace
