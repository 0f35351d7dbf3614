# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of networks that `tf.keras.applications` does not have.

Each function returns a Keras model for square images of `size`. They are smaller than
those that people train, and have the same layers.
"""

from __future__ import annotations

from typing import Any


def _layers() -> Any:
    # TensorFlow takes seconds to import, and few tests need it.
    import tensorflow as tf

    return tf.keras.layers


def _model(size: int, body: Any) -> Any:
    import tensorflow as tf

    image = tf.keras.Input((size, size, 3))
    return tf.keras.Model(image, body(image))


def _enlarged(x: Any) -> Any:
    """Twice the sides; layers.UpSampling2D becomes Tile, which the importer lacks."""
    import tensorflow as tf

    return _layers().Lambda(
        lambda y: tf.image.resize(y, (2 * y.shape[1], 2 * y.shape[2]), "nearest")
    )(x)


def _silu(x: Any, filters: int, kernel: int = 3, stride: int = 1) -> Any:
    layers = _layers()
    x = layers.Conv2D(filters, kernel, stride, "same", use_bias=False)(x)
    return layers.Activation("silu")(layers.BatchNormalization()(x))


def _split(x: Any, filters: int) -> Any:
    """Half of the channels goes through a residual block, half goes by."""
    layers = _layers()
    y, past = _silu(x, filters // 2, 1), _silu(x, filters // 2, 1)
    y = layers.Add()([y, _silu(_silu(y, filters // 2), filters // 2)])
    return _silu(layers.Concatenate()([y, past]), filters, 1)


def detector(size: int) -> Any:
    """A detector like YOLO's: CSP backbone, pooling pyramid, two scales.

    Its result has the box, the score and 80 classes of each place.
    """
    layers = _layers()

    def body(x: Any) -> Any:
        x = _split(_silu(_silu(x, 16, 3, 2), 32, 3, 2), 32)
        fine = _split(_silu(_split(_silu(x, 64, 3, 2), 64), 128, 3, 2), 128)
        coarse = _split(_silu(fine, 256, 3, 2), 256)
        parts = [_silu(coarse, 128, 1)]
        for _ in range(3):
            parts.append(layers.MaxPooling2D(5, 1, "same")(parts[-1]))
        coarse = _silu(_silu(layers.Concatenate()(parts), 256, 1), 128, 1)
        joined = _split(layers.Concatenate()([_enlarged(coarse), fine]), 128)
        places = [
            layers.Reshape((-1, 85))(layers.Conv2D(85, 1)(scale))
            for scale in (joined, coarse)
        ]
        return layers.Activation("sigmoid")(layers.Concatenate(axis=1)(places))

    return _model(size, body)


def deeplab(size: int) -> Any:
    """DeepLabV3+ on MobileNetV2: dilated branches, image features, a decoder."""
    import tensorflow as tf

    layers = _layers()

    def relu(x: Any, filters: int, kernel: int = 1, dilation: int = 1) -> Any:
        x = layers.Conv2D(
            filters, kernel, padding="same", dilation_rate=dilation, use_bias=False
        )(x)
        return layers.ReLU()(layers.BatchNormalization()(x))

    def separable(x: Any, filters: int, dilation: int) -> Any:
        x = layers.DepthwiseConv2D(
            3, padding="same", dilation_rate=dilation, use_bias=False
        )(x)
        return relu(layers.ReLU()(layers.BatchNormalization()(x)), filters)

    backbone = tf.keras.applications.MobileNetV2(
        input_shape=(size, size, 3), weights=None, include_top=False
    )
    low = backbone.get_layer("block_3_expand_relu").output  # 1/4 of the sides
    high = backbone.get_layer("block_13_expand_relu").output  # 1/16
    pooled = relu(layers.GlobalAveragePooling2D(keepdims=True)(high), 64)
    side = size // 16
    parts = [
        layers.Resizing(side, side, "bilinear")(pooled),
        relu(high, 64),
        relu(high, 64, 3, 2),
        *(separable(high, 64, dilation) for dilation in (2, 3)),
    ]
    x = relu(layers.Concatenate()(parts), 64)
    x = layers.Resizing(size // 4, size // 4, "bilinear")(x)
    x = layers.Concatenate()([x, relu(low, 48)])
    x = layers.Conv2D(21, 1)(separable(x, 64, 1))
    x = layers.Resizing(size, size, "bilinear")(x)
    return tf.keras.Model(backbone.input, x)


def vision_transformer(size: int) -> Any:
    """ViT with a token for the class, four blocks of three heads."""
    import tensorflow as tf

    layers = _layers()
    width, patch = 96, 16
    count = (size // patch) ** 2 + 1

    class Tokens(layers.Layer):  # type: ignore[misc]
        """Puts the token of the class first and adds positions."""

        def build(self, input_shape: Any) -> None:
            del input_shape
            self.token = self.add_weight(
                shape=(1, 1, width), initializer="random_normal"
            )
            self.positions = self.add_weight(
                shape=(1, count, width), initializer="random_normal"
            )

        def call(self, x: Any) -> Any:
            return tf.concat([self.token, x], axis=1) + self.positions

    def gelu(x: Any) -> Any:
        return 0.5 * x * (1 + tf.math.erf(x / 2**0.5))  # Keras has Erfc for it

    def attention(x: Any) -> Any:
        """Of three heads, by matrix products: the importer has no Einsum."""
        heads = 3

        def separate() -> Any:
            y = layers.Reshape((-1, heads, width // heads))(layers.Dense(width)(x))
            return layers.Permute((2, 1, 3))(y)

        def attend(parts: Any) -> Any:
            query, key, value = parts
            scores = tf.matmul(query, key, transpose_b=True)
            return tf.matmul(tf.nn.softmax(scores * (width // heads) ** -0.5), value)

        parts = [separate() for _ in ("query", "key", "value")]
        y = layers.Permute((2, 1, 3))(layers.Lambda(attend)(parts))
        return layers.Dense(width)(layers.Reshape((-1, width))(y))

    def body(image: Any) -> Any:
        x = layers.Conv2D(width, patch, patch)(image)
        x = Tokens()(layers.Reshape((count - 1, width))(x))
        for _ in range(4):
            y = layers.LayerNormalization(epsilon=1e-6)(x)
            x = layers.Add()([x, attention(y)])
            y = layers.LayerNormalization(epsilon=1e-6)(x)
            y = layers.Lambda(gelu)(layers.Dense(4 * width)(y))
            x = layers.Add()([x, layers.Dense(width)(y)])
        x = layers.LayerNormalization(epsilon=1e-6)(x)
        return layers.Dense(100)(x[:, 0])

    return _model(size, body)


def style_transfer(size: int) -> Any:
    """An image in another style (Johnson et al. 2016), with instance normalisation."""
    import tensorflow as tf

    layers = _layers()

    def normalised(x: Any, filters: int, kernel: int, stride: int = 1) -> Any:
        beside = kernel // 2
        x = tf.keras.ops.pad(
            x, [[0, 0], [beside, beside], [beside, beside], [0, 0]], "reflect"
        )
        x = layers.Conv2D(filters, kernel, stride)(x)
        return layers.GroupNormalization(groups=-1, epsilon=1e-5)(x)

    def body(x: Any) -> Any:
        for filters, kernel, stride in ((16, 9, 1), (32, 3, 2), (64, 3, 2)):
            x = layers.ReLU()(normalised(x, filters, kernel, stride))
        for _ in range(3):
            y = layers.ReLU()(normalised(x, 64, 3))
            x = layers.Add()([x, normalised(y, 64, 3)])
        for filters in (32, 16):
            x = layers.ReLU()(normalised(_enlarged(x), filters, 3))
        return layers.Conv2D(3, 9, padding="same", activation="tanh")(x)

    return _model(size, body)


def super_resolution(size: int) -> Any:
    """Enlarges an image three times, by sub-pixel convolution (ESPCN)."""
    import tensorflow as tf

    layers = _layers()

    def body(x: Any) -> Any:
        x = layers.Conv2D(64, 5, padding="same", activation="tanh")(x)
        x = layers.Conv2D(32, 3, padding="same", activation="tanh")(x)
        x = layers.Conv2D(27, 3, padding="same")(x)
        return layers.Lambda(lambda y: tf.nn.depth_to_space(y, 3))(x)

    return _model(size, body)
