// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/recurrent/recurrent.h"

#include "mace/kernels/cpu/simd.h"

namespace mace::recurrent::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

// Units whose gates are in buffers at the same time; whole vectors on every
// ISA. The buffers stay in L1. Gates with the same function are adjacent, since
// a call for many numbers takes less time for each.
constexpr size_t kChunk = 128;

struct Chunk {
  size_t begin;
  size_t count;
  // `count` rounded up to whole vectors: lanes beyond it hold any numbers.
  size_t padded() const {
    return (count + sv::kLanes - 1) / sv::kLanes * sv::kLanes;
  }
  int LanesAt(size_t i) const {
    const size_t left = count - i;
    return left < sv::kLanes ? static_cast<int>(left) : sv::kLanes;
  }
};

using Buffer = float[kChunk];

MACE_SIMD_INLINE sv::V Get(const float *p, int lanes) {
  return lanes == sv::kLanes ? sv::Load(p) : sv::LoadN(p, lanes);
}
MACE_SIMD_INLINE void Put(float *p, sv::V v, int lanes) {
  if (lanes == sv::kLanes) {
    sv::Store(p, v);
  } else {
    sv::StoreN(p, v, lanes);
  }
}

// run(chunk) for all chunks of [begin, end).
template <typename F>
MACE_SIMD_INLINE void EachChunk(size_t begin, size_t end, F run) {
  for (; begin < end; begin += kChunk) {
    const size_t left = end - begin;
    run(Chunk{begin, left < kChunk ? left : kChunk});
  }
}

// y = x + products (+ peephole * memory), clipped, for one gate.
void Sum(const Cell &cell,
         const Row &row,
         size_t gate,
         const float *peephole,
         const Chunk &chunk,
         float *y) {
  const size_t at = gate * cell.units + chunk.begin;
  const sv::V clip = sv::Set(cell.clip);
  for (size_t i = 0; i < chunk.count; i += sv::kLanes) {
    const int lanes = chunk.LanesAt(i);
    sv::V v = Get(row.x + at + i, lanes) + Get(row.products + at + i, lanes);
    if (peephole != nullptr) {
      v = sv::Fma(Get(peephole + chunk.begin + i, lanes),
                  Get(row.memory + chunk.begin + i, lanes), v);
    }
    sv::Store(y + i, sv::Clamp(v, -clip, clip));
  }
}

// y = alpha y + beta.
void Affine(float *y, size_t count, float alpha, float beta) {
  const sv::V a = sv::Set(alpha);
  const sv::V b = sv::Set(beta);
  for (size_t i = 0; i < count; i += sv::kLanes) {
    sv::Store(y + i, sv::Fma(a, sv::Load(y + i), b));
  }
}

// y = f(y) for whole vectors.
void Apply(const Cell &cell, const Function &f, float *y, size_t count) {
  switch (f.kind) {
    case Kind::kAffine:
      return Affine(y, count, f.alpha, f.beta);
    case Kind::kThresholded: {
      const sv::V threshold = sv::Set(f.alpha);
      for (size_t i = 0; i < count; i += sv::kLanes) {
        const sv::V v = sv::Load(y + i);
        sv::Store(y + i, sv::Select(v <= threshold, sv::Zero(), v));
      }
      return;
    }
    case Kind::kScaledTanh:
      Affine(y, count, f.beta, 0.0f);
      cell.activations->run(f.activation, y, y, count);
      return Affine(y, count, f.alpha, 0.0f);
    default:
      return cell.activations->run(f.activation, y, y, count);
  }
}

// The state after the step, wherever it is needed.
MACE_SIMD_INLINE void PutHidden(const Row &row, size_t at, sv::V h, int lanes) {
  Put(row.next + at, h, lanes);
  Put(row.output + at, h, lanes);
}

void Rnn(const Cell &cell, const Row &row, size_t begin, size_t end) {
  EachChunk(begin, end, [&](const Chunk &chunk) {
    Buffer a;
    Sum(cell, row, 0, nullptr, chunk, a);
    Apply(cell, cell.cell, a, chunk.padded());
    for (size_t i = 0; i < chunk.count; i += sv::kLanes) {
      PutHidden(row, chunk.begin + i, sv::Load(a + i), chunk.LanesAt(i));
    }
  });
}

void Gates(const Cell &cell, const Row &row, size_t begin, size_t end) {
  EachChunk(begin, end, [&](const Chunk &chunk) {
    Buffer z;
    Buffer r;
    Sum(cell, row, 0, nullptr, chunk, z);
    Apply(cell, cell.gate, z, chunk.padded());
    Sum(cell, row, 1, nullptr, chunk, r);
    Apply(cell, cell.gate, r, chunk.padded());
    for (size_t i = 0; i < chunk.count; i += sv::kLanes) {
      const int lanes = chunk.LanesAt(i);
      const size_t at = chunk.begin + i;
      Put(row.update + at, sv::Load(z + i), lanes);
      Put(row.reset + at, sv::Load(r + i) * Get(row.hidden + at, lanes), lanes);
    }
  });
}

// n before its activation, with reset_after.
void SumAfterReset(const Cell &cell,
                   const Row &row,
                   const Chunk &chunk,
                   const float *r,
                   float *n) {
  const size_t gate = 2 * cell.units;
  const sv::V clip = sv::Set(cell.clip);
  for (size_t i = 0; i < chunk.count; i += sv::kLanes) {
    const int lanes = chunk.LanesAt(i);
    const size_t at = chunk.begin + i;
    sv::V p = Get(row.products + gate + at, lanes);
    if (row.params != nullptr) p = p + Get(row.params + at, lanes);
    p = sv::Fma(sv::Load(r + i), p, Get(row.x + gate + at, lanes));
    sv::Store(n + i, sv::Clamp(p, -clip, clip));
  }
}

void Gru(const Cell &cell, const Row &row, size_t begin, size_t end) {
  EachChunk(begin, end, [&](const Chunk &chunk) {
    const size_t padded = chunk.padded();
    float gates[2 * kChunk];
    Buffer n;
    const float *update = row.update + chunk.begin;
    if (cell.reset_after) {
      float *r = gates + padded;
      Sum(cell, row, 0, nullptr, chunk, gates);
      Sum(cell, row, 1, nullptr, chunk, r);
      Apply(cell, cell.gate, gates, 2 * padded);
      SumAfterReset(cell, row, chunk, r, n);
      update = gates;
    } else {
      Sum(cell, row, 2, nullptr, chunk, n);
    }
    Apply(cell, cell.cell, n, padded);
    for (size_t i = 0; i < chunk.count; i += sv::kLanes) {
      const int lanes = chunk.LanesAt(i);
      const size_t at = chunk.begin + i;
      const sv::V u = Get(update + i, lanes);
      const sv::V kept = u * Get(row.hidden + at, lanes);
      PutHidden(row, at, sv::Fma(1.0f - u, sv::Load(n + i), kept), lanes);
    }
  });
}

void Lstm(const Cell &cell, const Row &row, size_t begin, size_t end) {
  const float *peephole = row.params;
  const auto of = [&](size_t gate) {
    return peephole == nullptr ? nullptr : peephole + gate * cell.units;
  };
  EachChunk(begin, end, [&](const Chunk &chunk) {
    const size_t padded = chunk.padded();
    float gates[3 * kChunk];
    Buffer g;
    float *const in = gates;
    float *const forget = gates + padded;
    float *const out = forget + (cell.couple_gates ? 0 : padded);
    Sum(cell, row, 0, of(0), chunk, in);
    if (!cell.couple_gates) Sum(cell, row, 2, of(2), chunk, forget);
    // With a peephole, the output gate needs the new memory.
    if (peephole == nullptr) Sum(cell, row, 1, nullptr, chunk, out);
    const float *end_of_gates = peephole == nullptr ? out + padded : out;
    Apply(cell, cell.gate, gates, static_cast<size_t>(end_of_gates - gates));
    Sum(cell, row, 3, nullptr, chunk, g);
    Apply(cell, cell.cell, g, padded);
    for (size_t i = 0; i < chunk.count; i += sv::kLanes) {
      const int lanes = chunk.LanesAt(i);
      const size_t at = chunk.begin + i;
      const sv::V write = sv::Load(in + i);
      const sv::V keep =
          cell.couple_gates ? 1.0f - write : sv::Load(forget + i);
      const sv::V c =
          sv::Fma(write, sv::Load(g + i), keep * Get(row.memory + at, lanes));
      Put(row.memory + at, c, lanes);
      sv::Store(g + i, c);
    }
    Apply(cell, cell.output, g, padded);
    if (peephole != nullptr) {
      Sum(cell, row, 1, of(1), chunk, out);
      Apply(cell, cell.gate, out, padded);
    }
    for (size_t i = 0; i < chunk.count; i += sv::kLanes) {
      PutHidden(row, chunk.begin + i, sv::Load(out + i) * sv::Load(g + i),
                chunk.LanesAt(i));
    }
  });
}

}  // namespace

extern const Kernels kKernels = {Rnn, Gates, Gru, Lstm};

}  // namespace mace::recurrent::MACE_ISA
