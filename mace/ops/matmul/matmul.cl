// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"

// Products of matrices [M, K] and [K, N], one for each batch, summed in float.
// TRANSPOSE_A and TRANSPOSE_B say that a is [K, M] and b is [N, K].
//
//   sizes    (M, N, K)
//   flat     1 for a, b and the output where it has two dimensions: its rows
//            are rows of tensor.clh then; otherwise they are columns, and the
//            batches are rows
//   batches  sizes of the batch dimensions, innermost first
//   a_steps  steps of a's batch along them; 0 where a is broadcast
//   b_steps  likewise

#define SIZES_ARG                                                    \
  const int4 sizes, const int4 flat, const int4 batches, \
      const int4 a_steps, const int4 b_steps

#define READ_ROW(t, is_flat, batch, row, block)                        \
  convert_float4(READ(t, (batch) + (is_flat) * (row),                  \
                      (row) - (is_flat) * (row), block))
#define WRITE_ROW(t, is_flat, batch, row, block, v)                    \
  WRITE(t, (batch) + (is_flat) * (row), (row) - (is_flat) * (row), block, v)

static int batch_of(int i, int4 batches, int4 steps) {
  const int j = i / batches.x;
  const int k = j / batches.y;
  const int l = k / batches.z;
  return (i - j * batches.x) * steps.x + (j - k * batches.y) * steps.y +
         (k - l * batches.z) * steps.z + l * steps.w;
}

// The channels of a block that are there.
static float4 first_lanes(float4 v, int lanes) {
  return select((float4)(0), v, (int4)(0, 1, 2, 3) < lanes);
}

#ifdef KERNEL_matmul
// An item computes ROWS rows, 1 or 4, of a block of columns. Where there are
// few of them, SLICES items do so, each for a part of K, in work groups of
// (WIDTH, 1, SLICES).
//
// Items: (blocks of N, M / ROWS, batches * SLICES).

#if SLICES > 1
#define MATMUL_ATTRIBUTES \
  __attribute__((reqd_work_group_size(WIDTH, 1, SLICES)))
#else
#define MATMUL_ATTRIBUTES
#endif

#define TRANSPOSED(v, lane) (float4)(v[0].lane, v[1].lane, v[2].lane, v[3].lane)

__kernel MATMUL_ATTRIBUTES void matmul(IN(a), IN(b), OUT(output), SIZES_ARG) {
  const int m = get_global_id(1) * ROWS;
  const int batch = get_global_id(2) / SLICES;
#if SLICES > 1
  // All items reach the barrier; those outside compute the last block.
  const int slice = get_local_id(2);
  const int n = min((int)get_global_id(0), output_dims.z - 1);
#else
  const int slice = 0;
  const int n = get_global_id(0);
  if (n >= output_dims.z || m >= sizes.x) return;
#endif
  const int a_batch = batch_of(batch, batches, a_steps);
  const int b_batch = batch_of(batch, batches, b_steps);
  float4 sum[ROWS];
  for (int r = 0; r < ROWS; ++r) sum[r] = (float4)(0);
  for (int k = 4 * slice; k < sizes.z; k += 4 * SLICES) {
    // Rows that are not there are read as the last one: their products are not
    // written, or multiplied by 0.
    float4 left[ROWS];  // along K
    float4 right[4];    // along N
#ifdef TRANSPOSE_A
    float4 t[4];
    for (int j = 0; j < 4; ++j) {
      t[j] = READ_ROW(a, flat.x, a_batch, min(k + j, sizes.z - 1), m / 4);
    }
    left[0] = TRANSPOSED(t, x);
#if ROWS > 1
    left[1] = TRANSPOSED(t, y);
    left[2] = TRANSPOSED(t, z);
    left[3] = TRANSPOSED(t, w);
#endif
#else
    for (int r = 0; r < ROWS; ++r) {
      left[r] = READ_ROW(a, flat.x, a_batch, min(m + r, sizes.x - 1), k / 4);
    }
#endif
#ifdef TRANSPOSE_B
    float4 u[4];
    for (int j = 0; j < 4; ++j) {
      u[j] = READ_ROW(b, flat.y, b_batch, min(4 * n + j, sizes.y - 1), k / 4);
    }
    right[0] = TRANSPOSED(u, x);
    right[1] = TRANSPOSED(u, y);
    right[2] = TRANSPOSED(u, z);
    right[3] = TRANSPOSED(u, w);
#else
    for (int j = 0; j < 4; ++j) {
      right[j] = READ_ROW(b, flat.y, b_batch, min(k + j, sizes.z - 1), n);
    }
#endif
    const int lanes = sizes.z - k;
    if (lanes < 4) {
      for (int r = 0; r < ROWS; ++r) left[r] = first_lanes(left[r], lanes);
      for (int j = 1; j < 4; ++j) {
        if (j >= lanes) right[j] = (float4)(0);
      }
    }
    for (int r = 0; r < ROWS; ++r) {
      sum[r] = mad((float4)(left[r].x), right[0], sum[r]);
      sum[r] = mad((float4)(left[r].y), right[1], sum[r]);
      sum[r] = mad((float4)(left[r].z), right[2], sum[r]);
      sum[r] = mad((float4)(left[r].w), right[3], sum[r]);
    }
  }
#if SLICES > 1
  __local float4 sums[SLICES][ROWS][WIDTH];
  for (int r = 0; r < ROWS; ++r) sums[slice][r][get_local_id(0)] = sum[r];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (slice > 0 || get_global_id(0) >= output_dims.z) return;
  for (int other = 1; other < SLICES; ++other) {
    for (int r = 0; r < ROWS; ++r) sum[r] += sums[other][r][get_local_id(0)];
  }
#endif
  for (int r = 0; r < ROWS; ++r) {
    if (m + r >= sizes.x) break;
    WRITE_ROW(output, flat.z, batch, m + r, n, convert_real4(sum[r]));
  }
}
#endif

#ifdef KERNEL_matmul_tiled
// A work group of GROUP * GROUP items computes a tile of SIDE * SIDE elements,
// SIDE = GROUP * 4 * REPEATS. An item has REPEATS * 4 rows and REPEATS blocks
// of columns, GROUP blocks apart: then neighbours read neighbours in local
// memory. The operands pass through local memory DEPTH of K at a time, as
// [DEPTH][SIDE].
//
// Where there are few tiles, SLICES such groups are one work group, to hide the
// time that reads take: each sums a part of K, and the first one adds the sums.
//
// Items: (tiles of N, tiles of M, batches), each (GROUP, GROUP, SLICES) items.

#define DEPTH 16
#define ITEMS (GROUP * GROUP)
#define SIDE (GROUP * 4 * REPEATS)
#define STRIDE (SIDE + 4)
#define LOADS (SIDE * DEPTH / 4 / ITEMS)  // per item and operand
#define TILE (DEPTH * STRIDE)

// Reads what follows `k` of an operand whose blocks are along K: its rows are
// `limit` rows or columns of the product, from `first` on.
#define FETCH_ALONG(t, is_flat, batch, first, limit)                    \
  for (int i = 0; i < LOADS; ++i) {                                     \
    const int part = item + i * ITEMS;                                  \
    const int row = (first) + part / (DEPTH / 4);                       \
    const int at = k + 4 * (part % (DEPTH / 4));                        \
    fetched_##t[i] = (float4)(0);                                       \
    if (row < (limit) && at < sizes.z) {                                \
      fetched_##t[i] = first_lanes(                                     \
          READ_ROW(t, is_flat, batch, row, at / 4), sizes.z - at);      \
    }                                                                   \
  }
#define STORE_ALONG(t)                                                  \
  for (int i = 0; i < LOADS; ++i) {                                     \
    const int part = item + i * ITEMS;                                  \
    __local float *to = &tile_##t[part % (DEPTH / 4) * 4 * STRIDE +     \
                                  part / (DEPTH / 4)];                  \
    to[0] = fetched_##t[i].x;                                           \
    to[STRIDE] = fetched_##t[i].y;                                      \
    to[2 * STRIDE] = fetched_##t[i].z;                                  \
    to[3 * STRIDE] = fetched_##t[i].w;                                  \
  }
// The same of an operand whose rows are along K.
#define FETCH_ACROSS(t, is_flat, batch, first, limit)                   \
  for (int i = 0; i < LOADS; ++i) {                                     \
    const int part = item + i * ITEMS;                                  \
    const int row = k + part / (SIDE / 4);                              \
    const int at = (first) + 4 * (part % (SIDE / 4));                   \
    fetched_##t[i] = (float4)(0);                                       \
    if (row < sizes.z && at < (limit)) {                                \
      fetched_##t[i] = READ_ROW(t, is_flat, batch, row, at / 4);        \
    }                                                                   \
  }
#define STORE_ACROSS(t)                                                 \
  for (int i = 0; i < LOADS; ++i) {                                     \
    const int part = item + i * ITEMS;                                  \
    vstore4(fetched_##t[i], 0,                                          \
            &tile_##t[part / (SIDE / 4) * STRIDE + 4 * (part % (SIDE / 4))]); \
  }

#ifdef TRANSPOSE_A
#define FETCH_A FETCH_ACROSS
#define STORE_A STORE_ACROSS
#else
#define FETCH_A FETCH_ALONG
#define STORE_A STORE_ALONG
#endif
#ifdef TRANSPOSE_B
#define FETCH_B FETCH_ALONG
#define STORE_B STORE_ALONG
#else
#define FETCH_B FETCH_ACROSS
#define STORE_B STORE_ACROSS
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, GROUP, SLICES)))
void matmul_tiled(IN(a), IN(b), OUT(output), SIZES_ARG) {
  __local float tiles[2 * TILE * SLICES];
  const int slice = get_local_id(2);
  __local float *tile_a = &tiles[2 * TILE * slice];
  __local float *tile_b = tile_a + TILE;
  const int tx = get_local_id(0);
  const int ty = get_local_id(1);
  const int item = ty * GROUP + tx;
  const int n0 = GROUP_INDEX(0, GROUP) * SIDE;
  const int m0 = GROUP_INDEX(1, GROUP) * SIDE;
  const int batch = GROUP_INDEX(2, SLICES);
  const int a_batch = batch_of(batch, batches, a_steps);
  const int b_batch = batch_of(batch, batches, b_steps);
  float4 sum[4 * REPEATS][REPEATS];
#pragma unroll
  for (int r = 0; r < 4 * REPEATS; ++r) {
#pragma unroll
    for (int j = 0; j < REPEATS; ++j) sum[r][j] = (float4)(0);
  }
  float4 fetched_a[LOADS];
  float4 fetched_b[LOADS];
  int k = slice * DEPTH;
  FETCH_A(a, flat.x, a_batch, m0, sizes.x)
  FETCH_B(b, flat.y, b_batch, n0, sizes.y)
  for (int done = 0; done < sizes.z; done += DEPTH * SLICES) {
    STORE_A(a)
    STORE_B(b)
    barrier(CLK_LOCAL_MEM_FENCE);
    k += DEPTH * SLICES;
    // The next ones arrive while these are multiplied; zeros beyond K.
    if (done + DEPTH * SLICES < sizes.z) {
      FETCH_A(a, flat.x, a_batch, m0, sizes.x)
      FETCH_B(b, flat.y, b_batch, n0, sizes.y)
    }
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
      float4 right[REPEATS];
#pragma unroll
      for (int j = 0; j < REPEATS; ++j) {
        right[j] = vload4(0, &tile_b[d * STRIDE + 4 * (j * GROUP + tx)]);
      }
#pragma unroll
      for (int i = 0; i < REPEATS; ++i) {
        const float4 left =
            vload4(0, &tile_a[d * STRIDE + 4 * (i * GROUP + ty)]);
#pragma unroll
        for (int j = 0; j < REPEATS; ++j) {
          sum[4 * i][j] = mad((float4)(left.x), right[j], sum[4 * i][j]);
          sum[4 * i + 1][j] =
              mad((float4)(left.y), right[j], sum[4 * i + 1][j]);
          sum[4 * i + 2][j] =
              mad((float4)(left.z), right[j], sum[4 * i + 2][j]);
          sum[4 * i + 3][j] =
              mad((float4)(left.w), right[j], sum[4 * i + 3][j]);
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#if SLICES > 1
  // As many sums as the tiles hold at least: SIDE * SIDE <= 2 * TILE.
  for (int r = 0; r < 4 * REPEATS; ++r) {
    for (int j = 0; j < REPEATS; ++j) {
      vstore4(sum[r][j], (r * REPEATS + j) * ITEMS + item, tile_a);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (slice > 0) return;
  for (int other = 1; other < SLICES; ++other) {
    for (int r = 0; r < 4 * REPEATS; ++r) {
      for (int j = 0; j < REPEATS; ++j) {
        sum[r][j] += vload4((r * REPEATS + j) * ITEMS + item,
                            &tiles[2 * TILE * other]);
      }
    }
  }
#endif
#pragma unroll
  for (int r = 0; r < 4 * REPEATS; ++r) {
    const int m = m0 + 4 * (r / 4 * GROUP + ty) + r % 4;
#pragma unroll
    for (int j = 0; j < REPEATS; ++j) {
      const int n = n0 / 4 + j * GROUP + tx;
      if (m < sizes.x && n < output_dims.z) {
        WRITE_ROW(output, flat.z, batch, m, n, convert_real4(sum[r][j]));
      }
    }
  }
}
#endif
