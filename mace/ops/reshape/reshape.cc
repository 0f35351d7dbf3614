// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/reshape/reshape_schema.h"

#include <vector>

#include "mace/ops/cpu_op/shape_only_op.h"

namespace mace {

namespace {

class ReshapeOp final : public ShapeOnlyOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    if (context->has_input(kReshapeShapeInput) && !attributes_.shape.empty()) {
      return Invalid("has both an input and an attribute shape");
    }
    return MaceStatus();
  }

 protected:
  MaceStatus OutputShape(ShapeContext *context, Shape *shape) const override {
    const Tensor *input = context->input(kReshapeInputInput);
    std::vector<int64_t> wanted = attributes_.shape;
    const Tensor *given = context->input(kReshapeShapeInput);
    if (given != nullptr) {
      if (given->shape.rank() != 1) {
        return Invalid("the input shape has the shape ",
                       given->shape.ToString(), ", not one dimension");
      }
      const int64_t rank = given->shape[0];
      if (rank > 0 && given->data == nullptr) {
        return NotSupported("the value of the input shape ('", given->name,
                            "') is not known before the run");
      }
      if (rank > static_cast<int64_t>(Shape::kMaxRank)) return TooMany(rank);
      wanted.assign(given->As<int32_t>(), given->As<int32_t>() + rank);
    }
    return Resolve(input->shape, wanted, shape);
  }

 private:
  MaceStatus TooMany(int64_t rank) const {
    return Invalid("the new shape has ", rank, " dimensions; at most ",
                   Shape::kMaxRank, " are supported");
  }

  MaceStatus Resolve(const Shape &from,
                     const std::vector<int64_t> &wanted,
                     Shape *to) const {
    if (wanted.size() > Shape::kMaxRank) {
      return TooMany(static_cast<int64_t>(wanted.size()));
    }
    int64_t inferred = -1;  // position of -1
    for (size_t i = 0; i < wanted.size(); ++i) {
      int64_t dim = wanted[i];
      if (dim == 0 && !attributes_.allow_zero) {
        if (i >= from.rank()) {
          return Invalid("dimension ", i,
                         " of the new shape is 0 (as in the "
                         "input), but the input has the shape ",
                         from.ToString());
        }
        dim = from[i];
      }
      if (dim == -1) {
        if (inferred >= 0) return Invalid("the new shape has more than one -1");
        inferred = static_cast<int64_t>(i);
        dim = 1;
      } else if (dim < 0) {
        return Invalid("dimension ", i, " of the new shape is ", dim);
      }
      to->Append(dim);
    }
    const int64_t elements = from.Elements();
    const int64_t known = to->CheckedElements();
    if (inferred >= 0 && known > 0 && elements % known == 0) {
      (*to)[inferred] = elements / known;
    } else if (inferred >= 0 || known != elements) {
      return Invalid("cannot give ", elements, " elements, shape ",
                     from.ToString(), ", the shape ",
                     Shape(wanted.data(), wanted.size()).ToString());
    }
    return MaceStatus();
  }

  ReshapeAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(Reshape, CPU, ReshapeOp);

}  // namespace mace
