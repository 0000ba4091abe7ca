"""The shipped fonts hold every character that the Japanese catalogue writes."""

from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from studio.web.catalogue import texts

FONTS = Path(__file__).parents[2] / "static" / "vendor" / "fonts"


@pytest.mark.parametrize("weight", ["400", "700"])
def test_no_japanese_text_falls_back_to_a_font_of_the_system(weight):
    files = (f"biz-udpgothic-{weight}.woff2", "inter-latin-wght-normal.woff2")
    held = {letter for file in files for letter in TTFont(FONTS / file).getBestCmap()}
    written = {ord(letter) for text in texts("ja").values() for letter in text}
    assert "".join(map(chr, sorted(written - held))) == ""
