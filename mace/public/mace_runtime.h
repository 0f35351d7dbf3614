// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// For sources written for releases in which this header declared
// MaceEngineConfig and the thread and device policies: mace.h has all of them.
// Only the older functions about the GPU are here, which change the settings of
// the whole process; new applications use GPUContextBuilder instead.
//
// These functions are inline, so that an application that calls them links with
// a library without a GPU runtime, too; they then have no effect.

#ifndef MACE_PUBLIC_MACE_RUNTIME_H_
#define MACE_PUBLIC_MACE_RUNTIME_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/public/mace.h"  // IWYU pragma: export

namespace mace {

// A table from keys to bytes that outlives the process. (AP-22)
class KVStorage {
 public:
  virtual ~KVStorage() = default;
  // Reads what was stored earlier. 0, also if nothing was; -1 if it can't be
  // read or is damaged: then the table is empty.
  virtual int Load() = 0;
  // Removes all entries. False if the storage can't.
  virtual bool Clear() { return false; }
  // Adds or replaces an entry. False if it can't be added.
  virtual bool Insert(const std::string &key,
                      const std::vector<unsigned char> &value) = 0;
  // Null if there is none; else valid until the entry is replaced or removed.
  virtual const std::vector<unsigned char> *Find(const std::string &key) = 0;
  // Stores the table. 0, or -1 on an error: then what was stored is unchanged.
  virtual int Flush() = 0;
};

// Makes the tables of a process. An application may derive one of its own.
class KVStorageFactory {
 public:
  virtual ~KVStorageFactory() = default;
  // `name` is a file name without a folder. Null if there is no such storage.
  virtual std::unique_ptr<KVStorage> CreateStorage(const std::string &name) = 0;
};

namespace opencl {

// What the functions below call. Null in a library without a GPU runtime.
__attribute__((weak)) MACE_API std::unique_ptr<KVStorage> CreateFileStorage(
    const std::string &path);
__attribute__((weak)) MACE_API void SetProcessStorage(
    std::shared_ptr<KVStorageFactory> factory);
__attribute__((weak)) MACE_API void SetProcessBinaryPaths(
    const std::vector<std::string> &paths);

}  // namespace opencl

// Tables that are files of the folder `path`, which must exist. A file is
// replaced as a whole, so that a process that dies or another one that writes
// the same file does not damage it. Any thread may use a table.
class FileStorageFactory : public KVStorageFactory {
 public:
  explicit FileStorageFactory(const std::string &path) : path_(path) {}

  std::unique_ptr<KVStorage> CreateStorage(const std::string &name) override {
    if (opencl::CreateFileStorage == nullptr) return nullptr;
    return opencl::CreateFileStorage(path_ + "/" + name);
  }

 private:
  std::string path_;
};

// Where engines on the GPU store compiled kernels, unless their GPUContext
// names a place. Call it once, before the first engine is created. (AP-22)
inline void ConfigKVStorageFactory(std::shared_ptr<KVStorageFactory> factory) {
  if (opencl::SetProcessStorage == nullptr) return;
  opencl::SetProcessStorage(std::move(factory));
}
inline void SetKVStorageFactory(std::shared_ptr<KVStorageFactory> factory) {
  ConfigKVStorageFactory(std::move(factory));
}

// As GPUContextBuilder::SetOpenCLBinaryPaths, for all engines whose GPUContext
// has neither paths nor a binary. (AP-23)
inline void SetOpenCLBinaryPaths(const std::vector<std::string> &paths) {
  if (opencl::SetProcessBinaryPaths == nullptr) return;
  opencl::SetProcessBinaryPaths(paths);
}

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_RUNTIME_H_
