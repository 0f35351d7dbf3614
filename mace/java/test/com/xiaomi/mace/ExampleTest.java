// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.xiaomi.mace.examples.digits.Classifier;
import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import javax.imageio.ImageIO;
import org.junit.Test;

/** The part of mace/examples/android that has nothing of Android. */
public class ExampleTest {
  private static int[] pixelsOf(File file, int zoom) throws IOException {
    BufferedImage picture = ImageIO.read(file);
    int side = picture.getWidth() * zoom;
    int[] pixels = new int[side * side];
    for (int i = 0; i < pixels.length; ++i) {
      // getRGB() would change the brightness of a picture in grey.
      int gray = picture.getRaster().getSample(i % side / zoom, i / side / zoom, 0);
      pixels[i] = 0xFF000000 | gray << 16 | gray << 8 | gray;
    }
    return pixels;
  }

  @Test
  public void recognisesImages() throws IOException {
    File[] files = new File(System.getProperty("mace.images")).listFiles();
    MaceModel model =
        MaceModel.fromFiles(System.getProperty("mace.graph"), System.getProperty("mace.weights"));
    int right = 0;
    try (Classifier classifier = new Classifier(model)) {
      for (File file : files) {
        Classifier.Result result = classifier.classify(pixelsOf(file, 1), 8, 8);
        if (file.getName().contains("_is_" + result.digit))
          ++right;
        // Of three times the size.
        Classifier.Result zoomed = classifier.classify(pixelsOf(file, 3), 24, 24);
        assertEquals(result.digit, zoomed.digit);
        assertEquals(result.probability, zoomed.probability, 1e-4f);
      }
    }
    assertEquals(40, files.length);
    assertTrue(right + " of 40", right >= 38);
  }
}
