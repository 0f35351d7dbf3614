// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The models that are linked into a program, as listed in generated code.

#ifndef MACE_EMBEDDING_LINKED_MODELS_H_
#define MACE_EMBEDDING_LINKED_MODELS_H_

#include <cstddef>

namespace mace {
namespace embedding {

// Bytes of the program; `begin` is null if there are none.
struct Bytes {
  const unsigned char *begin = nullptr;
  const unsigned char *end = nullptr;

  size_t size() const { return static_cast<size_t>(end - begin); }
};

struct LinkedModel {
  const char *name;
  Bytes graph;
  // None: the application brings the weights. Else at a multiple of 64.
  Bytes weights;
};

struct LinkedModels {
  const LinkedModel *models;
  size_t count;
};

// Defined by the code that is generated for a deployment.
LinkedModels GetLinkedModels();

}  // namespace embedding
}  // namespace mace

#endif  // MACE_EMBEDDING_LINKED_MODELS_H_
