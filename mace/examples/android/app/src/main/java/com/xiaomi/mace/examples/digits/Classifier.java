// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace.examples.digits;

import com.xiaomi.mace.CpuAffinity;
import com.xiaomi.mace.MaceEngine;
import com.xiaomi.mace.MaceEngineConfig;
import com.xiaomi.mace.MaceModel;
import com.xiaomi.mace.MaceTensor;
import java.nio.FloatBuffer;
import java.util.Collections;

/** Recognises handwritten digits. For one thread at a time; has nothing of Android. */
public final class Classifier implements AutoCloseable {
  private static final int SIDE = 8;
  private static final int CLASSES = 10;

  /** A digit, and how likely the picture shows it. */
  public static final class Result {
    public final int digit;
    public final float probability;

    Result(int digit, float probability) {
      this.digit = digit;
      this.probability = probability;
    }
  }

  private final MaceEngine engine;
  private final MaceTensor image = MaceTensor.allocate(1, SIDE, SIDE, 1);
  private final MaceTensor probability = MaceTensor.allocate(1, CLASSES);

  public Classifier(MaceModel model) {
    MaceEngineConfig config = new MaceEngineConfig();
    // As many threads as there are big cores.
    config.setCpuThreadPolicy(-1, CpuAffinity.BIG_ONLY);
    engine = MaceEngine.create(model, config);
  }

  /**
   * Classifies a picture of white on black.
   *
   * @param pixels as Bitmap.getPixels() returns them: ARGB, row by row
   */
  public Result classify(int[] pixels, int width, int height) {
    if (width < SIDE || height < SIDE || pixels.length < width * height) {
      throw new IllegalArgumentException("a picture of 8 x 8 pixels or more is needed");
    }
    FloatBuffer floats = image.getFloats();
    for (int y = 0; y < SIDE; ++y) {
      for (int x = 0; x < SIDE; ++x) {
        floats.put(meanOf(pixels, width, height, x, y));
      }
    }
    engine.run(Collections.singletonMap("image", image),
        Collections.singletonMap("probability", probability));
    float[] all = probability.toFloatArray();
    int best = 0;
    for (int digit = 1; digit < CLASSES; ++digit) {
      if (all[digit] > all[best])
        best = digit;
    }
    return new Result(best, all[best]);
  }

  /** The mean brightness, 0 to 1, of one of the 8 x 8 parts of the picture. */
  private static float meanOf(int[] pixels, int width, int height, int x, int y) {
    int left = x * width / SIDE;
    int right = (x + 1) * width / SIDE;
    int top = y * height / SIDE;
    int bottom = (y + 1) * height / SIDE;
    long sum = 0;
    for (int row = top; row < bottom; ++row) {
      for (int column = left; column < right; ++column) {
        int pixel = pixels[row * width + column];
        sum += (pixel >> 16 & 255) + (pixel >> 8 & 255) + (pixel & 255);
      }
    }
    return sum / (3f * 255f * (right - left) * (bottom - top));
  }

  @Override
  public void close() {
    engine.close();
  }
}
