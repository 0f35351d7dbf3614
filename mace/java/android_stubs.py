# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the classes of Android that the example uses, to compile it here.

No registry has Android's own android.jar. These declare what the example calls and
nothing else; they were compared with the stubs of API level 36 in the Python package
chaquopy-stubs-android 36.20260406.
"""

from __future__ import annotations

from pathlib import Path

_CLASSES = {
    "android.app.Activity": """
    class Activity extends android.content.Context {
      protected void onCreate(android.os.Bundle state) {}
      protected void onDestroy() {}
      public void setContentView(android.view.View view) {}
      public final void runOnUiThread(Runnable action) {}
    }""",
    "android.content.Context": """
    abstract class Context {
      public android.content.res.AssetManager getAssets() { return null; }
    }""",
    "android.content.res.AssetFileDescriptor": """
    class AssetFileDescriptor implements java.io.Closeable {
      public java.io.FileDescriptor getFileDescriptor() { return null; }
      public long getStartOffset() { return 0; }
      public long getLength() { return 0; }
      public void close() throws java.io.IOException {}
    }""",
    "android.content.res.AssetManager": """
    final class AssetManager {
      public AssetFileDescriptor openFd(String name) throws java.io.IOException {
        return null;
      }
      public java.io.InputStream open(String name) throws java.io.IOException {
        return null;
      }
      public String[] list(String path) throws java.io.IOException { return null; }
    }""",
    "android.graphics.Bitmap": """
    final class Bitmap {
      public int getWidth() { return 0; }
      public int getHeight() { return 0; }
      public void getPixels(
          int[] pixels, int offset, int stride, int x, int y, int width, int height) {}
    }""",
    "android.graphics.BitmapFactory": """
    class BitmapFactory {
      public static Bitmap decodeStream(java.io.InputStream stream) { return null; }
    }""",
    "android.os.Bundle": "final class Bundle {}",
    "android.view.View": """
    class View {
      public interface OnClickListener { void onClick(View view); }
      public void setOnClickListener(OnClickListener listener) {}
    }""",
    "android.view.ViewGroup": """
    abstract class ViewGroup extends View {
      public static class LayoutParams {}
      public void addView(View child) {}
      public void addView(View child, LayoutParams parameters) {}
    }""",
    "android.widget.ImageView": """
    class ImageView extends android.view.View {
      public ImageView(android.content.Context context) {}
      public void setImageBitmap(android.graphics.Bitmap bitmap) {}
    }""",
    "android.widget.LinearLayout": """
    class LinearLayout extends android.view.ViewGroup {
      public static final int VERTICAL = 1;
      public static class LayoutParams extends android.view.ViewGroup.LayoutParams {
        public LayoutParams(int width, int height) {}
      }
      public LinearLayout(android.content.Context context) {}
      public void setOrientation(int orientation) {}
    }""",
    "android.widget.TextView": """
    class TextView extends android.view.View {
      public TextView(android.content.Context context) {}
      public void setTextSize(float size) {}
      public final void setText(CharSequence text) {}
    }""",
}


def write(folder: Path) -> list[Path]:
    """Writes their sources into a folder."""
    files = []
    for name, text in _CLASSES.items():
        package, _, simple = name.rpartition(".")
        file = folder / package.replace(".", "/") / f"{simple}.java"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"package {package};\npublic {text.strip()}\n", "utf-8")
        files.append(file)
    return files
