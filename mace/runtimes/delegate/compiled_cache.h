// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The segments that a delegate compiled, in a file that outlives the process
// (MaceEngineConfig::SetAcceleratorCache).

#ifndef MACE_RUNTIMES_DELEGATE_COMPILED_CACHE_H_
#define MACE_RUNTIMES_DELEGATE_COMPILED_CACHE_H_

#include <string>
#include <vector>

#include "mace/runtimes/delegate/accelerator_options.h"
#include "mace/runtimes/opencl_options/file_storage.h"

namespace mace {

class CompiledCache {
 public:
  // Reads the binary file, if the policy says so. One that is missing or
  // damaged is reported in one warning, and is an empty cache.
  explicit CompiledCache(const AcceleratorOptions &options);

  // Null if there is none.
  const std::vector<unsigned char> *Find(const std::string &key) const;
  bool stores() const;
  void Add(const std::string &key, std::vector<unsigned char> bytes);
  // Writes the storage file, if something was added. A failure is a warning.
  void Write();

 private:
  const AcceleratorOptions options_;
  KVTable table_;
  bool changed_ = false;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_DELEGATE_COMPILED_CACHE_H_
