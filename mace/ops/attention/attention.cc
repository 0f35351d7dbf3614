// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/attention/attention.h"

#include "mace/ops/attention/attention_schema.h"

namespace mace {
namespace {

// In the order heads, tokens if the tensors have it the other way round.
Shape Turned(const Shape &shape, bool tokens_first) {
  if (!tokens_first) return shape;
  return {shape[0], shape[2], shape[1], shape[3]};
}

bool MaskFits(const Shape &mask, const AttentionSizes &sizes) {
  const int64_t wanted[] = {sizes.batch, sizes.heads, sizes.queries};
  if (mask.rank() != 4 || mask[3] != sizes.keys) return false;
  for (size_t i = 0; i < 3; ++i) {
    if (mask[i] != 1 && mask[i] != wanted[i]) return false;
  }
  return true;
}

}  // namespace

MaceStatus InferAttentionShapes(const AttentionAttributes &attributes,
                                ShapeContext *context) {
  const Shape &query = context->input(kAttentionQueryInput)->shape;
  const Shape &key = context->input(kAttentionKeyInput)->shape;
  const Shape &value = context->input(kAttentionValueInput)->shape;
  const Tensor *mask = context->input(kAttentionMaskInput);
  AttentionSizes sizes;
  bool fit = query.rank() == 4 && key.rank() == 4 && value.rank() == 4;
  if (fit) {
    sizes = AttentionSizes::Of(query, key, value, attributes.tokens_first);
    const Shape keys = {sizes.batch, sizes.groups, sizes.keys, sizes.depth};
    const Shape values = {sizes.batch, sizes.groups, sizes.keys, sizes.width};
    fit = sizes.heads > 0 && keys.Elements(1, 4) > 0 && sizes.width > 0 &&
          sizes.heads % sizes.groups == 0 &&
          Turned(key, attributes.tokens_first) == keys &&
          Turned(value, attributes.tokens_first) == values &&
          (mask == nullptr || MaskFits(mask->shape, sizes));
  }
  if (!fit) {
    return InvalidArgs(
        "query, key, value and mask of shapes ", query.ToString(), ", ",
        key.ToString(), ", ", value.ToString(),
        mask == nullptr ? "" : ", " + mask->shape.ToString(),
        "; they must be [B, H, M, D], [B, G, N, D], [B, G, N, E] and [B, H, "
        "M, N]");
  }
  Shape output = query;
  output[3] = sizes.width;
  return SetOutput(context, 0, output, DataType::kFloat32);
}

}  // namespace mace
