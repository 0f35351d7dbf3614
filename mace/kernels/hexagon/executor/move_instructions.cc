// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Elements that are moved, and other shapes.

#include "mace/kernels/hexagon/executor/context.h"
#include "mace/kernels/hexagon/moves.h"
#include "mace/kernels/hexagon/platform/memory.h"

namespace mace::hexagon {
namespace {

constexpr int64_t kMostCount = 1 << 30;
// Parts of Reshape: no thread is woken for a copy of a few packets.
constexpr int64_t kCopyUnit = 32 * kVectorBytes;

// One side of a move: the steps of its loops in bytes.
struct Side {
  int8_t *first;
  int64_t steps[kMoveLoops];
};

int32_t SizeOf(const TensorPlace &t, uint32_t dimension) {
  const int32_t sizes[kDimensions] = {t.batch, t.height, t.width, t.channels};
  return sizes[dimension];
}

int64_t BytesOf(const TensorPlace &t, uint32_t dimension) {
  const int64_t bytes[kDimensions] = {t.image_bytes, t.row_bytes, t.pixel_bytes,
                                      t.element_bytes};
  return bytes[dimension];
}

// False if a position is outside of the tensor.
bool ReadSide(const Context &context,
              const TensorPlace &t,
              const MoveParameters &p,
              const int32_t (&start)[kDimensions],
              bool is_input,
              Side *side) {
  int64_t low[kDimensions];
  int64_t high[kDimensions];
  for (uint32_t d = 0; d < kDimensions; ++d) low[d] = high[d] = start[d];
  for (uint32_t i = 0; i < kMoveLoops; ++i) {
    const MoveLoop &loop = p.loops[i];
    const uint32_t d = is_input ? loop.in_dimension : loop.out_dimension;
    const int64_t step = is_input ? loop.in_step : loop.out_step;
    if (d >= kDimensions || loop.count < 1 || loop.count > kMostCount) {
      return false;
    }
    (step < 0 ? low : high)[d] += (loop.count - 1) * step;
    side->steps[i] = step * BytesOf(t, d);
  }
  for (uint32_t d = 0; d < kDimensions; ++d) {
    if (low[d] < 0 || high[d] >= SizeOf(t, d)) return false;
  }
  side->first = context.Pixel(t, start[0], start[1], start[2]) +
                int64_t{start[3]} * t.element_bytes;
  return true;
}

int64_t Pixels(const TensorPlace &t) {
  return int64_t{t.batch} * t.height * t.width;
}
int64_t Elements(const TensorPlace &t) { return Pixels(t) * t.channels; }

// Whether a move writes no more elements than there are.
bool Ends(const MoveParameters &p, const TensorPlace &out) {
  int64_t left = Elements(out);
  for (const MoveLoop &loop : p.loops) left /= loop.count;
  return left > 0;
}

// The two inner loops.
struct Plane {
  int rows;
  int columns;
  int x_row;  // steps
  int x_column;
  int y_row;
  int y_column;
  int element;  // bytes
};

void CopyPlane(const Plane &p, const int8_t *x, int8_t *y) {
  if (p.x_column == p.element && p.y_column == p.element) {
    CopyPixels(x, p.x_row, y, p.y_row, p.columns * p.element, p.rows);
  } else if (p.element == 1 && p.x_row == 1 && p.y_column == 1) {
    TransposeBytes(x, p.x_column, p.columns, p.rows, y, p.y_row);
  } else if (p.element == 1 && p.x_column == 1 && p.y_row == 1) {
    TransposeBytes(x, p.x_row, p.rows, p.columns, y, p.y_column);
  } else {
    for (int r = 0; r < p.rows; ++r, x += p.x_row, y += p.y_row) {
      CopyPixels(x, p.x_column, y, p.y_column, p.element, p.columns);
    }
  }
}

// The loops around the two inner ones.
constexpr uint32_t kOuter = kMoveLoops - 2;
int64_t Planes(const MoveLoop *loops) {
  int64_t count = 1;
  for (uint32_t i = 0; i < kOuter; ++i) count *= loops[i].count;
  return count;
}

// The planes from one on: how far they are from the first one.
class PlaneCursor {
 public:
  PlaneCursor(const MoveLoop *loops,
              const Side &x,
              const Side &y,
              int64_t plane)
      : loops_(loops), x_steps_(x.steps), y_steps_(y.steps) {
    for (uint32_t i = kOuter; i-- > 0;) {
      at_[i] = plane % loops[i].count;
      plane /= loops[i].count;
      x_ += at_[i] * x_steps_[i];
      y_ += at_[i] * y_steps_[i];
    }
  }

  int64_t x() const { return x_; }
  int64_t y() const { return y_; }
  void Next() {
    for (uint32_t i = kOuter; i-- > 0;) {
      x_ += x_steps_[i];
      y_ += y_steps_[i];
      if (++at_[i] < loops_[i].count) return;
      x_ -= at_[i] * x_steps_[i];
      y_ -= at_[i] * y_steps_[i];
      at_[i] = 0;
    }
  }

 private:
  const MoveLoop *loops_;
  const int64_t *x_steps_;
  const int64_t *y_steps_;
  int64_t at_[kOuter];
  int64_t x_ = 0;
  int64_t y_ = 0;
};

bool IsStep(int64_t bytes) { return bytes >= INT32_MIN && bytes <= INT32_MAX; }

// Runs of bytes that follow each other in memory, of elements in their order:
// pixels, or rows of pixels without bytes between them. From one of all these
// bytes on.
class Runs {
 public:
  Runs(const Context &context,
       const TensorPlace &t,
       bool of_rows,
       int64_t first_byte)
      : context_(context),
        t_(t),
        width_(of_rows ? 1 : t.width),
        bytes_(of_rows ? int64_t{t.width} * t.pixel_bytes
                       : int64_t{t.channels} * t.element_bytes) {
    const int64_t in_run = first_byte % bytes_;
    const int64_t run = first_byte / bytes_;
    const int64_t row = run / width_;
    n_ = row / t.height;
    y_ = row % t.height;
    x_ = run % width_;
    at_ = context.Pixel(t, n_, y_, x_) + in_run;
    left_ = bytes_ - in_run;
  }

  int8_t *at() const { return at_; }
  int64_t left() const { return left_; }
  void Advance(int64_t bytes) {
    at_ += bytes;
    left_ -= bytes;
    if (left_ > 0) return;
    left_ = bytes_;
    if (++x_ == width_) {
      x_ = 0;
      if (++y_ == t_.height) {
        y_ = 0;
        ++n_;
      }
    }
    at_ = context_.Pixel(t_, n_, y_, x_);
  }

 private:
  const Context &context_;
  const TensorPlace &t_;
  const int64_t width_;
  const int64_t bytes_;
  int8_t *at_;
  int64_t left_;
  int64_t n_;
  int64_t y_;
  int64_t x_;
};

// Copies the bytes of `from` to `to`, so many of them.
void CopyRuns(Runs from, Runs to, int64_t bytes) {
  constexpr int64_t kMost = 1 << 30;
  while (bytes > 0) {
    int64_t run = from.left() < to.left() ? from.left() : to.left();
    run = run < bytes ? run : bytes;
    run = run < kMost ? run : kMost;
    const auto some = static_cast<int>(run);
    CopyPixels(from.at(), some, to.at(), some, some, 1);
    from.Advance(run);
    to.Advance(run);
    bytes -= run;
  }
}

bool IsDense(const TensorPlace &t) {
  return int64_t{t.channels} * t.element_bytes == t.pixel_bytes;
}

}  // namespace

bool Move(const Context &context, const MoveParameters &p) {
  const TensorPlace *in = context.Tensor(p.input);
  const TensorPlace *out = context.Tensor(p.output);
  Side x;
  Side y;
  if (in == nullptr || out == nullptr || in == out ||
      in->element_bytes != out->element_bytes ||
      !ReadSide(context, *in, p, p.in_start, true, &x) ||
      !ReadSide(context, *out, p, p.out_start, false, &y) || !Ends(p, *out)) {
    return false;
  }
  const MoveLoop &rows = p.loops[kOuter];
  const MoveLoop &columns = p.loops[kOuter + 1];
  const auto element = static_cast<int>(in->element_bytes);
  if (!IsStep(x.steps[kOuter]) || !IsStep(x.steps[kOuter + 1]) ||
      !IsStep(y.steps[kOuter]) || !IsStep(y.steps[kOuter + 1]) ||
      int64_t{rows.count} * columns.count * element > INT32_MAX) {
    return false;
  }
  const Plane plane = {rows.count,
                       columns.count,
                       static_cast<int>(x.steps[kOuter]),
                       static_cast<int>(x.steps[kOuter + 1]),
                       static_cast<int>(y.steps[kOuter]),
                       static_cast<int>(y.steps[kOuter + 1]),
                       element};
  const int64_t planes = Planes(p.loops);
  if (planes == 1) {
    context.ForEach(plane.rows, [&](int64_t begin, int64_t end) {
      Plane part = plane;
      part.rows = static_cast<int>(end - begin);
      CopyPlane(part, x.first + begin * plane.x_row,
                y.first + begin * plane.y_row);
    });
    return true;
  }
  context.ForEach(planes, [&](int64_t begin, int64_t end) {
    PlaneCursor cursor(p.loops, x, y, begin);
    for (int64_t i = begin; i < end; ++i, cursor.Next()) {
      CopyPlane(plane, x.first + cursor.x(), y.first + cursor.y());
    }
  });
  return true;
}

bool Fill(const Context &context, const FillParameters &p) {
  const TensorPlace *out = context.Bytes(p.output);
  if (out == nullptr || int64_t{out->width} * out->pixel_bytes > INT32_MAX) {
    return false;
  }
  context.ForEach(int64_t{out->batch} * out->height, [&](int64_t begin,
                                                         int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      FillPixels(static_cast<int8_t>(p.byte),
                 context.Pixel(*out, row / out->height, row % out->height, 0),
                 out->pixel_bytes, out->pixel_bytes, out->width);
    }
  });
  return true;
}

bool Reshape(const Context &context, const ReshapeParameters &p) {
  const TensorPlace *in = context.Tensor(p.input);
  const TensorPlace *out = context.Tensor(p.output);
  if (in == nullptr || out == nullptr || in == out ||
      in->element_bytes != out->element_bytes ||
      Elements(*in) != Elements(*out)) {
    return false;
  }
  const bool of_rows =
      (IsDense(*in) && IsDense(*out)) ||
      (in->channels == out->channels && in->pixel_bytes == out->pixel_bytes);
  const int64_t bytes =
      Pixels(*in) * (of_rows ? int64_t{in->pixel_bytes}
                             : int64_t{in->channels} * in->element_bytes);
  context.ForEach(
      bytes,
      [&](int64_t begin, int64_t end) {
        CopyRuns(Runs(context, *in, of_rows, begin),
                 Runs(context, *out, of_rows, begin), end - begin);
      },
      kCopyUnit);
  return true;
}

}  // namespace mace::hexagon
