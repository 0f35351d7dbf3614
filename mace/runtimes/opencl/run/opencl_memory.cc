// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/opencl_memory.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace mace {
namespace {

// In errors.
constexpr char kTensors[] = "intermediate tensors";

// A number of its own for each state of each memory.
int64_t NextGeneration() {
  static std::atomic<int64_t> next{0};
  return ++next;
}

// An image that holds what `image` does, and what is wanted.
ImageSlot Grown(const ImageSlot &image, const ImageSlot &wanted) {
  ImageSlot size = wanted;
  if (image.Bytes() > 0 && image.element == wanted.element) {
    size.width = std::max(size.width, image.width);
    size.height = std::max(size.height, image.height);
  }
  return size;
}

}  // namespace

size_t OpenclMemory::bytes() const {
  size_t total = buffer_bytes_;
  for (const Image &image : images_) {
    total += image.size.Bytes();
  }
  return total;
}

size_t OpenclMemory::BytesFor(const OpenclPlan &plan) const {
  size_t total = std::max(buffer_bytes_, plan.memory.arena_bytes);
  for (size_t i = 0; i < std::max(images_.size(), plan.images.size()); ++i) {
    const ImageSlot held = i < images_.size() ? images_[i].size : ImageSlot();
    const bool grows = i < plan.images.size() && plan.images[i].request < 0;
    total += (grows ? Grown(held, plan.images[i]) : held).Bytes();
  }
  return total;
}

MaceStatus OpenclMemory::Take(const OpenclPlan &plan) {
  MACE_RETURN_IF_ERROR(TakeBuffer(plan.memory.arena_bytes));
  if (images_.size() < plan.images.size()) images_.resize(plan.images.size());
  for (size_t i = 0; i < plan.images.size(); ++i) {
    if (plan.images[i].request >= 0) continue;
    MACE_RETURN_IF_ERROR(TakeImage(plan.images[i], &images_[i]));
  }
  if (generation_ == 0) generation_ = NextGeneration();
  return MaceStatus();
}

MaceStatus OpenclMemory::TakeBuffer(size_t bytes) {
  if (bytes <= buffer_bytes_) return MaceStatus();
  buffer_ = nullptr;
  buffer_bytes_ = 0;
  generation_ = NextGeneration();
  MACE_ASSIGN_OR_RETURN(ClMemory buffer, runtime_->MakeBuffer(CL_MEM_READ_WRITE,
                                                              bytes, kTensors));
  buffer_ = std::make_shared<const ClMemory>(std::move(buffer));
  buffer_bytes_ = bytes;
  return MaceStatus();
}

MaceStatus OpenclMemory::TakeImage(const ImageSlot &wanted, Image *image) {
  const ImageSlot size = Grown(image->size, wanted);
  if (image->memory && image->size.element == size.element &&
      image->size.width == size.width && image->size.height == size.height) {
    return MaceStatus();
  }
  image->memory.Reset();
  image->size = ImageSlot();
  generation_ = NextGeneration();
  MACE_ASSIGN_OR_RETURN(image->memory,
                        runtime_->MakeImage(CL_MEM_READ_WRITE, size.element,
                                            size.width, size.height, kTensors));
  image->size = size;
  return MaceStatus();
}

MaceStatus PlanImages::Make(const OpenclPlan &plan,
                            const OpenclMemory &memory) {
  const OpenclRuntime &runtime = *memory.runtime();
  views_.clear();
  parts_.clear();
  for (const ImageSlot &image : plan.images) {
    if (image.request < 0) break;  // none of them is in the buffer
    MACE_ASSIGN_OR_RETURN(
        ClMemory part, runtime.MakeSubBuffer(
                           memory.buffer(), plan.memory.offsets[image.request],
                           plan.requests[image.request].bytes, kTensors));
    MACE_ASSIGN_OR_RETURN(
        ClMemory view,
        runtime.MakeImageView(part.get(), image.element, image.width,
                              image.height, image.row_bytes, kTensors));
    parts_.push_back(std::move(part));
    views_.push_back(std::move(view));
  }
  return MaceStatus();
}

}  // namespace mace
