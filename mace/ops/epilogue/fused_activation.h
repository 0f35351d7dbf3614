// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The activation that an operator applies to its own result.

#ifndef MACE_OPS_EPILOGUE_FUSED_ACTIVATION_H_
#define MACE_OPS_EPILOGUE_FUSED_ACTIVATION_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/activation/activation.h"
#include "mace/kernels/cpu/conv/activation.h"
#include "mace/kernels/cpu/convert/convert.h"
#include "mace/kernels/cpu/isa.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

class FusedActivation final : public conv::OutputActivation {
 public:
  // INVALID_ARGS, naming the operator, for invalid parameters.
  template <typename Attributes>
  MaceStatus Init(const OperatorDef &def,
                  const Attributes &attributes,
                  CpuIsa isa) {
    return Init(def, ActivationParams(attributes), isa);
  }
  MaceStatus Init(const OperatorDef &def,
                  const activation::Params &params,
                  CpuIsa isa);

  // NONE, RELU and RELUX are a clamp (or nothing), which the kernel applies to
  // the result in registers.
  bool clamp() const { return clamp_; }
  float low() const { return 0.0f; }
  float high() const { return high_; }

  // Other activations are a second pass over the part of the result that a task
  // has just computed: `rows` runs of `columns` floats, `stride` apart. Does
  // nothing for a clamp.
  void Apply(float *result,
             ptrdiff_t rows,
             ptrdiff_t columns,
             ptrdiff_t stride) const;
  // The same for 16-bit results; computed in float.
  void Apply(uint16_t *result,
             DataType type,
             ptrdiff_t rows,
             ptrdiff_t columns,
             ptrdiff_t stride) const;

  void ApplyTo(void *results,
               gemm::Element type,
               ptrdiff_t rows,
               ptrdiff_t columns,
               ptrdiff_t stride) const override;

  // For convolution strategies: this object, or null if the clamp is
  // sufficient.
  const conv::OutputActivation *second_pass() const {
    return kernels_ == nullptr ? nullptr : this;
  }
  // The clamp, for a product.
  void SetClamp(gemm::Epilogue *epilogue) const {
    epilogue->clamp = clamp();
    epilogue->low = low();
    epilogue->high = high();
  }

 private:
  activation::Params params_;
  const activation::Kernels *kernels_ = nullptr;  // null if Apply does nothing
  // Likewise.
  const convert::HalfKernels *fp16_ = nullptr;
  const convert::HalfKernels *bf16_ = nullptr;
  const activation::Bf16Kernels *bf16_kernels_ = nullptr;  // may be null
  bool clamp_ = false;
  float high_ = 0.0f;
};

}  // namespace mace

#endif  // MACE_OPS_EPILOGUE_FUSED_ACTIVATION_H_
