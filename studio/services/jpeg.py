"""Tells a JPEG from anything else and how large it is, by its segments; nothing is decoded."""

START = b"\xff\xd8"
END = b"\xff\xd9"
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Markers of a segment that holds height and width: SOF0 to SOF15 without the three tables."""
_SCAN = 0xDA
_SEGMENTS_MAX = 200
"""A picture with more segments before its data was made by nobody's camera."""


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels; None when `data` is no whole JPEG.

    Source: ITU-T T.81, annex B.

    >>> jpeg_size(b"GIF89a") is None
    True
    """
    if not data.startswith(START) or not data.endswith(END):
        return None
    at = len(START)
    for _ in range(_SEGMENTS_MAX):
        if at + 9 > len(data) or data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker in _FRAMES:
            height = int.from_bytes(data[at + 5 : at + 7], "big")
            width = int.from_bytes(data[at + 7 : at + 9], "big")
            return (width, height) if width and height else None
        if marker == _SCAN:
            return None
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None
