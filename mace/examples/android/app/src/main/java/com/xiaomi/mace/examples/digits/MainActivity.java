// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace.examples.digits;

import android.app.Activity;
import android.content.res.AssetFileDescriptor;
import android.graphics.Bitmap;
import android.graphics.BitmapFactory;
import android.os.Bundle;
import android.widget.ImageView;
import android.widget.LinearLayout;
import android.widget.TextView;
import com.xiaomi.mace.MaceException;
import com.xiaomi.mace.MaceModel;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Shows the pictures of the assets one by one, and which digit each of them is. */
public final class MainActivity extends Activity {
  private static final String IMAGES = "images";

  // MACE works on this thread, so that the screen does not wait for it.
  private final ExecutorService worker = Executors.newSingleThreadExecutor();
  // Used on the worker only.
  private Classifier classifier;
  private int next = 0;

  private ImageView picture;
  private TextView text;

  @Override
  protected void onCreate(Bundle state) {
    super.onCreate(state);
    picture = new ImageView(this);
    text = new TextView(this);
    text.setTextSize(24);
    LinearLayout layout = new LinearLayout(this);
    layout.setOrientation(LinearLayout.VERTICAL);
    layout.addView(text);
    layout.addView(picture, new LinearLayout.LayoutParams(512, 512));
    layout.setOnClickListener(view -> worker.execute(this::classifyNext));
    setContentView(layout);
    worker.execute(this::classifyNext);
  }

  @Override
  protected void onDestroy() {
    worker.execute(() -> {
      if (classifier != null)
        classifier.close();
    });
    worker.shutdown();
    super.onDestroy();
  }

  private void classifyNext() {
    try {
      if (classifier == null) {
        classifier =
            new Classifier(MaceModel.fromBuffers(mapAsset("digits.pb"), mapAsset("digits.data")));
      }
      String[] names = getAssets().list(IMAGES);
      if (names == null || names.length == 0) {
        show(null, "There are no pictures in the assets; see the README");
        return;
      }
      String name = names[next++ % names.length];
      Bitmap bitmap = readImage(name);
      if (bitmap == null) {
        show(null, name + " is no picture");
        return;
      }
      int[] pixels = new int[bitmap.getWidth() * bitmap.getHeight()];
      bitmap.getPixels(pixels, 0, bitmap.getWidth(), 0, 0, bitmap.getWidth(), bitmap.getHeight());
      Classifier.Result result = classifier.classify(pixels, bitmap.getWidth(), bitmap.getHeight());
      show(bitmap, name + ": " + result.digit + ", " + Math.round(100 * result.probability) + " %");
    } catch (IOException | MaceException exception) {
      show(null, exception.getMessage());
    }
  }

  private ByteBuffer mapAsset(String name) throws IOException {
    try (AssetFileDescriptor asset = getAssets().openFd(name)) {
      return MaceModel.map(asset.getFileDescriptor(), asset.getStartOffset(), asset.getLength());
    }
  }

  private Bitmap readImage(String name) throws IOException {
    try (InputStream stream = getAssets().open(IMAGES + "/" + name)) {
      return BitmapFactory.decodeStream(stream);
    }
  }

  private void show(Bitmap bitmap, String message) {
    runOnUiThread(() -> {
      picture.setImageBitmap(bitmap);
      text.setText(message);
    });
  }
}
