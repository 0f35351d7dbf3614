// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/delegate/compiled_cache.h"

#include <unistd.h>

#include <utility>

#include "mace/core/base/logging.h"
#include "mace/core/base/status.h"

namespace mace {
namespace {

Result<KVTable> ReadTable(const std::string &path) {
  MACE_ASSIGN_OR_RETURN(const std::vector<unsigned char> bytes,
                        ReadWholeFile(path));
  Result<KVTable> table = ParseTable(bytes.data(), bytes.size());
  if (!table.ok()) {
    return InvalidArgs("file '", path,
                       "' is damaged, or no file of compiled segments");
  }
  return table;
}

}  // namespace

CompiledCache::CompiledCache(const AcceleratorOptions &options)
    : options_(options) {
  const AcceleratorCachePolicy policy = options.cache_policy;
  if (policy != ACCELERATOR_CACHE_LOAD && policy != APU_CACHE_LOAD_OR_STORE) {
    return;
  }
  const bool may_be_missing = policy == APU_CACHE_LOAD_OR_STORE;
  if (may_be_missing && access(options.binary_file.c_str(), F_OK) != 0) return;
  Result<KVTable> table = ReadTable(options.binary_file);
  if (table.ok()) {
    table_ = std::move(table.value());
  } else {
    LOG(WARNING) << "accelerator cache: " << StatusMessage(table.status())
                 << "; the model is compiled again";
  }
}

const std::vector<unsigned char> *CompiledCache::Find(
    const std::string &key) const {
  const auto found = table_.find(key);
  return found == table_.end() ? nullptr : &found->second;
}

bool CompiledCache::stores() const {
  return options_.cache_policy == ACCELERATOR_CACHE_STORE ||
         options_.cache_policy == APU_CACHE_LOAD_OR_STORE;
}

void CompiledCache::Add(const std::string &key,
                        std::vector<unsigned char> bytes) {
  table_[key] = std::move(bytes);
  changed_ = true;
}

void CompiledCache::Write() {
  if (!changed_) return;
  changed_ = false;
  const MaceStatus status =
      ReplaceFile(options_.storage_file, WriteTable(table_));
  if (!IsOk(status)) {
    LOG(WARNING) << "accelerator cache: " << StatusMessage(status)
                 << "; the next start compiles the model again";
  }
}

}  // namespace mace
