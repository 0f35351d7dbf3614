// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/host_staging.h"

#include <cstdint>
#include <utility>

#include "mace/kernels/cpu/convert/convert.h"
#include "mace/kernels/cpu/isa.h"

namespace mace {
namespace {

// Null if this processor has none of the instruction sets of this library.
const convert::HalfKernels *HalfConversions() {
  static const convert::Kernels *const kernels =
      convert::KernelsFor(ChooseCpuIsaFromEnv().isa);
  return kernels == nullptr ? nullptr : &kernels->f16;
}

bool IsAligned(const void *data) {
  return reinterpret_cast<uintptr_t>(data) % alignof(float) == 0;
}

}  // namespace

HostStaging::~HostStaging() {
  if (blocks_.empty()) return;
  for (auto &[tensor, block] : blocks_) Unmap(&block);
  queues_->api().clFinish(queues_->queue());
}

void HostStaging::Unmap(Block *block) {
  if (block->data == nullptr) return;
  queues_->api().clEnqueueUnmapMemObject(queues_->queue(), block->pinned.get(),
                                         block->data, 0, nullptr, nullptr);
  *block = Block();
}

Result<void *> HostStaging::Get(int tensor, size_t bytes) {
  Block &block = blocks_[tensor];
  if (block.data != nullptr && block.bytes >= bytes) return block.data;
  Unmap(&block);
  MACE_ASSIGN_OR_RETURN(
      ClMemory pinned,
      queues_->runtime()->MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                     bytes, "staging"));
  cl_int error = CL_SUCCESS;
  void *data = queues_->api().clEnqueueMapBuffer(
      queues_->queue(), pinned.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
      bytes, 0, nullptr, nullptr, &error);
  MACE_CL_CHECK("clEnqueueMapBuffer", MakeString("staging, ", bytes, " bytes"),
                error);
  block = {std::move(pinned), data, bytes};
  return data;
}

const void *HostStaging::At(int tensor) const {
  const auto found = blocks_.find(tensor);
  return found == blocks_.end() ? nullptr : found->second.data;
}

void CopyToStaging(const BorderCopy &copy, ThreadPool *pool) {
  const convert::HalfKernels *conversions = HalfConversions();
  if (conversions == nullptr || copy.order != BorderCopy::Order::kSame ||
      copy.from_type != DataType::kFloat32 ||
      copy.to_type != DataType::kFloat16 || !IsAligned(copy.from)) {
    CopyAtBorder(copy, pool);
    return;
  }
  constexpr int64_t kGrain = 1 << 15;
  pool->ParallelFor(copy.shape.Elements(), kGrain,
                    [&copy, conversions](int64_t begin, int64_t end, int) {
                      conversions->narrow(
                          static_cast<const float *>(copy.from) + begin,
                          static_cast<uint16_t *>(copy.to) + begin,
                          static_cast<size_t>(end - begin));
                    });
}

}  // namespace mace
