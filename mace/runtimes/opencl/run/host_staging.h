// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Copies between the host's tensors and the GPU go through memory that the
// driver has pinned, if it does such things: it then copies without help of the
// processor, while this prepares the next input.

#ifndef MACE_RUNTIMES_OPENCL_RUN_HOST_STAGING_H_
#define MACE_RUNTIMES_OPENCL_RUN_HOST_STAGING_H_

#include <cstddef>
#include <map>

#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/core/memory/border.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/gpu_queues.h"

namespace mace {

class HostStaging {
 public:
  // `queues` must outlive the object.
  explicit HostStaging(GpuQueues *queues) : queues_(queues) {}
  HostStaging(const HostStaging &) = delete;
  HostStaging &operator=(const HostStaging &) = delete;
  // Waits until no copy uses the memory.
  ~HostStaging();

  // Memory of at least so many bytes for a tensor of the graph. It is the same
  // until more are asked for, and then new; no copy may be enqueued that uses
  // the old one.
  Result<void *> Get(int tensor, size_t bytes);
  // What Get returned last, with what copies wrote there; null if nothing.
  const void *At(int tensor) const;

 private:
  struct Block {
    ClMemory pinned;
    void *data = nullptr;
    size_t bytes = 0;
  };

  void Unmap(Block *block);

  GpuQueues *queues_;
  std::map<int, Block> blocks_;
};

// CopyAtBorder, which converts float to half by the processor's instructions.
void CopyToStaging(const BorderCopy &copy, ThreadPool *pool);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_HOST_STAGING_H_
