// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that are mapped into memory, for weights that an engine reads in place.

#ifndef MACE_PUBLIC_MACE_FILE_SYSTEM_H_
#define MACE_PUBLIC_MACE_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>

#include "mace/public/mace_status.h"

namespace mace {

namespace port {

// Bytes that stay readable at the same address while this object lives. (AP-21)
class MACE_API ReadOnlyMemoryRegion {
 public:
  virtual ~ReadOnlyMemoryRegion();
  virtual const void *data() const = 0;  // null if length() is 0
  virtual uint64_t length() const = 0;   // in bytes
};

// A region over memory that someone else owns, and keeps as long as the region
// lives. `length` is in bytes.
class MACE_API ReadOnlyBufferMemoryRegion : public ReadOnlyMemoryRegion {
 public:
  ReadOnlyBufferMemoryRegion();
  ReadOnlyBufferMemoryRegion(const void *data, uint64_t length);
  ~ReadOnlyBufferMemoryRegion() override;
  const void *data() const override;
  uint64_t length() const override;

 private:
  const void *data_;
  uint64_t length_;
};

// Files of the machine. Any thread may call it.
class MACE_API FileSystem {
 public:
  virtual ~FileSystem();
  // Maps a regular file read-only. The file must not be shortened while the
  // region lives (see CreateMaceEngineFromProto). MACE_INVALID_ARGS if it can't
  // be opened or is not a regular file, MACE_OUT_OF_RESOURCES if there is no
  // memory or address space; `result` is then unchanged.
  virtual MaceStatus NewReadOnlyMemoryRegionFromFile(
      const char *path, std::unique_ptr<ReadOnlyMemoryRegion> *result) = 0;
};

}  // namespace port

// Never null; belongs to the library, and lives as long as the process.
MACE_API port::FileSystem *GetFileSystem();

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_FILE_SYSTEM_H_
