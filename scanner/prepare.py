"""Pictures made fit for the decoders: eight bits, one plane, sharper edges."""

import cv2
import numpy as np
from cv2.typing import MatLike

LIGHT_MAX = 1e30
"""Far above any sensor's value, far below where the arithmetic ends."""


def as_bytes(image: MatLike) -> MatLike:
    """Return the picture with eight bits a channel; the decoders read nothing else."""
    if image.dtype == np.uint8:
        return image
    # What is no number or beyond all light is black or white.
    values = np.clip(np.nan_to_num(image.astype(np.float32)), -LIGHT_MAX, LIGHT_MAX)
    low, high = float(values.min()), float(values.max())
    scaled: MatLike = ((values - low) * (255 / max(high - low, 1e-6))).astype(np.uint8)
    return scaled


def as_grey(image: MatLike) -> MatLike:
    """Return the picture as one plane, whatever a camera or file gave."""
    if image.ndim == 2:
        return image
    if image.shape[2] < 3:
        return np.ascontiguousarray(image[..., 0])
    return cv2.cvtColor(image[..., :3], cv2.COLOR_BGR2GRAY)


def plain(crop: MatLike) -> MatLike:
    """Return the picture as it is."""
    return crop


def stretched(crop: MatLike) -> MatLike:
    """Use the whole range of grey, whatever contrast a dark table leaves."""
    low, high = float(crop.min()), float(crop.max())
    scale = 255 / max(high - low, 1.0)
    return cv2.convertScaleAbs(crop, alpha=scale, beta=-low * scale)


def smooth(crop: MatLike) -> MatLike:
    """Upscaled noise breaks zbar."""
    return stretched(cv2.GaussianBlur(crop, (0, 0), 1.0))


def sharp(crop: MatLike) -> MatLike:
    """Give blurred edges back; smoothing first keeps the noise from being sharpened too."""
    soft = smooth(crop)
    halo = cv2.GaussianBlur(soft, (0, 0), 3.0)
    return cv2.addWeighted(soft, 2.8, halo, -1.8, 0)


def strong(crop: MatLike) -> MatLike:
    """Sharpen hard what is large and smooth."""
    soft = stretched(cv2.GaussianBlur(crop, (0, 0), 1.5))
    return cv2.addWeighted(soft, 5.0, cv2.GaussianBlur(soft, (0, 0), 4.0), -4.0, 0)


def half(frame: MatLike) -> MatLike:
    """Large symbols read better when they are small."""
    return cv2.resize(frame, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)


def inverted(frame: MatLike) -> MatLike:
    """Turn white on black into black on white."""
    return cv2.bitwise_not(frame)
