// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What every operator on the CPU starts from.

#ifndef MACE_OPS_CPU_OP_CPU_OP_H_
#define MACE_OPS_CPU_OP_CPU_OP_H_

#include <string>

#include "mace/core/op.h"
#include "mace/kernels/cpu/cpu_device.h"

namespace mace {

class CpuOp : public Op {
 public:
  // Takes the name, the type and the ISA, then calls InitOp.
  MaceStatus Init(InitContext *context) final;

 protected:
  // Reads attributes and prepares constants.
  virtual MaceStatus InitOp(InitContext *context) = 0;

  // INVALID_ARGS: "operator 'conv1' (Conv2D): ..."
  template <typename... Args>
  MaceStatus Invalid(const Args &...args) const {
    return InvalidArgs("operator '", name_, "' (", type_, "): ", args...);
  }
  // UNSUPPORTED, likewise.
  template <typename... Args>
  MaceStatus NotSupported(const Args &...args) const {
    return Unsupported("operator '", name_, "' (", type_, "): ", args...);
  }

  // Sets an output after checking that its size can be computed with.
  MaceStatus SetOutput(ReshapeContext *context,
                       size_t index,
                       const Shape &shape,
                       DataType data_type) const;

  const std::string &name() const { return name_; }
  CpuIsa isa() const { return isa_; }

 private:
  std::string name_;
  std::string type_;
  CpuIsa isa_ = CpuIsa::kNone;
};

// Elements per task of cheap elementwise work: 16 Ki elements take about as
// many nanoseconds as handing a task to a thread.
inline constexpr int64_t kElementGrain = 16384;

// Rows of `columns` elements per task.
inline constexpr int64_t RowGrain(int64_t columns) {
  return columns >= kElementGrain ? 1
                                  : kElementGrain / (columns > 0 ? columns : 1);
}

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_CPU_OP_H_
