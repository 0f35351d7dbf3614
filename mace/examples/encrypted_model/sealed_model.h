// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a model that seal.py wrote, which says what is in the file.
//
// Nothing of a file is believed before its authentication code has been
// checked: first the header with the sizes, then each chunk before its bytes
// are uncompressed. A model is handed out only when all of the file was found
// to be what seal.py wrote with this key, and no engine is created from
// anything else. Memory: the model's size plus less than one chunk.

#ifndef MACE_EXAMPLES_ENCRYPTED_MODEL_SEALED_MODEL_H_
#define MACE_EXAMPLES_ENCRYPTED_MODEL_SEALED_MODEL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace.h"

namespace sealed {

constexpr size_t kKeyBytes = 32;

// Memory for secrets: whole pages, which core dumps leave out, and which are
// overwritten before the system gets them back.
class Pages {
 public:
  Pages() = default;
  ~Pages() { Free(); }
  Pages(Pages &&other) noexcept { *this = std::move(other); }
  Pages &operator=(Pages &&other) noexcept;

  // False: out of memory. The pages are zero.
  bool Allocate(size_t size);
  // From now on, writing to them is an error that ends the program.
  bool Protect();
  void Free();

  unsigned char *data() { return data_; }
  const unsigned char *data() const { return data_; }
  size_t size() const { return size_; }

 private:
  unsigned char *data_ = nullptr;
  size_t size_ = 0;
};

struct Model {
  Pages graph;
  Pages weights;
};

// Overwrites a key that is no longer needed.
void Forget(unsigned char (&key)[kKeyBytes]);

// Decrypts a file. On any error `model` is empty.
mace::MaceStatus Open(const std::string &path,
                      const unsigned char (&key)[kKeyBytes],
                      Model *model);

// An engine from a file. `model` must outlive the engine; what the engine does
// not need of it is freed.
mace::MaceStatus CreateEngine(const std::string &path,
                              const unsigned char (&key)[kKeyBytes],
                              const std::vector<std::string> &inputs,
                              const std::vector<std::string> &outputs,
                              const mace::MaceEngineConfig &config,
                              Model *model,
                              std::shared_ptr<mace::MaceEngine> *engine);

}  // namespace sealed

#endif  // MACE_EXAMPLES_ENCRYPTED_MODEL_SEALED_MODEL_H_
