// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tables in which the OpenCL runtime keeps compiled kernels and tuned
// parameters, as files:
//
//   "MACEKV1\n"
//   for each entry, sorted by key:
//     uint32 bytes of the key, uint32 bytes of the value, key, value
//   uint32 CRC-32 of everything before
//
// All numbers are little-endian. A file that differs from this in any byte is
// damaged and is not used.

#ifndef MACE_RUNTIMES_OPENCL_OPTIONS_FILE_STORAGE_H_
#define MACE_RUNTIMES_OPENCL_OPTIONS_FILE_STORAGE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/public/mace_runtime.h"

namespace mace {

using KVTable = std::map<std::string, std::vector<unsigned char>>;

// INVALID_ARGS says what is wrong with the bytes.
Result<KVTable> ParseTable(const unsigned char *data, size_t size);
std::vector<unsigned char> WriteTable(const KVTable &table);

// INVALID_ARGS names the file.
Result<std::vector<unsigned char>> ReadWholeFile(const std::string &path);
// Writes a new file and renames it to `path`, so that a reader sees the old
// contents or the new ones. RUNTIME_ERROR names the file.
MaceStatus ReplaceFile(const std::string &path,
                       const std::vector<unsigned char> &bytes);

// A table in memory. Flush does nothing.
std::unique_ptr<KVStorage> CreateMemoryStorage(KVTable table);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_OPTIONS_FILE_STORAGE_H_
