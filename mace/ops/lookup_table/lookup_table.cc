// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/lookup_table/lookup_table_schema.h"

namespace mace {
namespace {

constexpr int64_t kEntries = 256;

}  // namespace

MaceStatus InferLookupTableShapes(const LookupTableAttributes & /*attributes*/,
                                  ShapeContext *context) {
  const Shape &shape = context->input(kLookupTableInputInput)->shape;
  const Tensor &table = *context->input(kLookupTableTableInput);
  const size_t rank = table.shape.rank();
  if (rank < 1 || rank > 2 || table.shape.back() != kEntries) {
    return InvalidArgs("the table is ", table.shape.ToString(),
                       "; expected [256] or [C, 256]");
  }
  if (rank == 2 && (shape.rank() == 0 || shape.back() != table.shape[0])) {
    return InvalidArgs("there are tables for ", table.shape[0],
                       " channels, but the input is ", shape.ToString());
  }
  return SetOutput(context, 0, shape, table.data_type);
}

}  // namespace mace
