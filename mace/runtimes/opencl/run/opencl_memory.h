// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_OPENCL_RUN_OPENCL_MEMORY_H_
#define MACE_RUNTIMES_OPENCL_RUN_OPENCL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/memory/arena.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/opencl_runtime.h"
#include "mace/runtimes/opencl/plan/opencl_plan.h"

namespace mace {

// The intermediate tensors on the GPU: one buffer that is divided, and images
// that are not in it.
class OpenclMemory final : public DeviceMemory {
 public:
  explicit OpenclMemory(std::shared_ptr<OpenclRuntime> runtime)
      : runtime_(std::move(runtime)) {}

  size_t bytes() const override;
  const OpenclRuntime *runtime() const { return runtime_.get(); }
  // Grows the memory to what the plan needs. What was made of it before must
  // then be made again, which generation() tells.
  MaceStatus Take(const OpenclPlan &plan);
  // bytes() after it.
  size_t BytesFor(const OpenclPlan &plan) const;
  int64_t generation() const { return generation_; }
  // Null if no tensor is in a buffer.
  cl_mem buffer() const {
    return buffer_ == nullptr ? nullptr : buffer_->get();
  }
  // Kernels have it as an argument; not all drivers keep it for them.
  std::shared_ptr<const ClMemory> shared_buffer() const { return buffer_; }
  cl_mem image(size_t slot) const { return images_[slot].memory.get(); }

 private:
  struct Image {
    ImageSlot size;
    ClMemory memory;
  };

  MaceStatus TakeBuffer(size_t bytes);
  MaceStatus TakeImage(const ImageSlot &wanted, Image *image);

  std::shared_ptr<OpenclRuntime> runtime_;
  std::shared_ptr<const ClMemory> buffer_;
  size_t buffer_bytes_ = 0;
  std::vector<Image> images_;
  int64_t generation_ = 0;
};

// The images of a plan that are views of the buffer; others are in the memory.
class PlanImages {
 public:
  // Makes them anew.
  MaceStatus Make(const OpenclPlan &plan, const OpenclMemory &memory);
  // Number `image` of the plan.
  cl_mem Find(const OpenclMemory &memory, int image) const {
    const auto index = static_cast<size_t>(image);
    return views_.empty() ? memory.image(index) : views_[index].get();
  }

 private:
  std::vector<ClMemory> parts_;  // of the buffer
  std::vector<ClMemory> views_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_OPENCL_MEMORY_H_
