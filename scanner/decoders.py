"""The two decoder libraries, each behind one call, and the proof that they work here."""

import importlib
from types import ModuleType
from typing import Any

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.decode import DecoderFaultError, DecoderMissingError
from scanner.sighting import Decoder
from scanner.symbol import code_modules
from studio.domain.cards import ALL_CARDS, card_code

ZBAR_PACKAGE = "libzbar0"
PROOF_MODULE_PX = 4
_ZXING_FORMATS = {"qr": ("QRCode",), "code128": ("Code128",)}
_OTHER_FORMATS = ("QRCode", "MicroQRCode", "DataMatrix", "Aztec", "PDF417", "Code128", "EAN13")
_ZBAR_SYMBOLS = {"qr": "QRCODE", "code128": "CODE128"}


def _load(name: str, *, advice: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (ImportError, OSError) as error:
        # OSError: the library is there, but is not one that this machine can load.
        raise DecoderMissingError(f"The decoder {name} does not load. {advice}") from error


def _load_zxing() -> Any:
    return _load("zxingcpp", advice="Install it with: pip install zxing-cpp")


def load_zbar() -> Any:
    """Return pyzbar's module.

    Raises:
        DecoderMissingError: libzbar0 or pyzbar is not installed.
    """
    return _load("pyzbar.pyzbar", advice=f"Install it with: apt-get install {ZBAR_PACKAGE}")


def _formats(zxing: Any, names: tuple[str, ...]) -> Any:
    return tuple(getattr(zxing.BarcodeFormat, name) for name in names)


class ZxingDecoder:
    """zxing-cpp, one symbology."""

    name = Decoder.ZXING

    def __init__(self, symbology: str) -> None:
        """Load the library.

        Raises:
            DecoderMissingError: it is not installed.
        """
        self._zxing = _load_zxing()
        self._formats = _formats(self._zxing, _ZXING_FORMATS[symbology])

    def texts(self, image: MatLike) -> list[str]:
        """Return the texts in a grey picture.

        Raises:
            DecoderFaultError: the library failed on this picture.
        """
        if not _decodable(image):
            return []
        try:
            found = self._zxing.read_barcodes(
                np.ascontiguousarray(image),
                formats=self._formats,
                try_invert=False,
                try_downscale=True,
                text_mode=self._zxing.TextMode.Plain,
            )
            return [code.text for code in found if code.valid and code.text.strip()]
        except (ValueError, RuntimeError, UnicodeDecodeError) as error:
            raise DecoderFaultError("zxing-cpp failed on a picture.") from error


class ZbarDecoder:
    """libzbar through pyzbar, one symbology."""

    name = Decoder.ZBAR

    def __init__(self, symbology: str) -> None:
        """Load the library.

        Raises:
            DecoderMissingError: libzbar0 or pyzbar is not installed.
        """
        self._zbar = load_zbar()
        self._symbols = [getattr(self._zbar.ZBarSymbol, _ZBAR_SYMBOLS[symbology])]

    def texts(self, image: MatLike) -> list[str]:
        """Return the texts in a grey picture.

        Raises:
            DecoderFaultError: the library failed on this picture, e.g. on a symbol's orientation.
        """
        if not _decodable(image):
            return []
        try:
            found = self._zbar.decode(np.ascontiguousarray(image), symbols=self._symbols)
            texts = [code.data.decode("utf-8") for code in found]
        except (ValueError, UnicodeDecodeError, self._zbar.PyZbarError) as error:
            raise DecoderFaultError("libzbar failed on a picture.") from error
        return [text for text in texts if text.strip()]


def any_other_symbol(image: MatLike, symbology: str) -> bool:
    """Tell whether any other common kind of symbol is there; its text is never used."""
    zxing = _load_zxing()
    names = tuple(name for name in _OTHER_FORMATS if name not in _ZXING_FORMATS[symbology])
    try:
        found = zxing.read_barcodes(np.ascontiguousarray(image), formats=_formats(zxing, names))
    except (ValueError, RuntimeError, UnicodeDecodeError):
        return False
    return any(code.valid for code in found)


def prove_decoders(decoders: tuple[Any, ...]) -> None:
    """Let every decoder read a known picture.

    Raises:
        DecoderMissingError: one can't; the message says which and what to install.
    """
    digits = card_code(ALL_CARDS[0], deck_set=1, serial=1).digits
    modules = np.pad(np.array(code_modules(digits), np.uint8), 4)
    picture = cv2.resize(
        np.where(modules, 0, 255).astype(np.uint8),
        None,
        fx=PROOF_MODULE_PX,
        fy=PROOF_MODULE_PX,
        interpolation=cv2.INTER_NEAREST,
    )
    for decoder in decoders:
        if decoder.texts(picture) != [digits]:
            raise DecoderMissingError(
                f"The decoder {decoder.name} does not read a known picture. "
                f"Reinstall zxing-cpp (pip) and {ZBAR_PACKAGE} (apt-get install {ZBAR_PACKAGE})."
            )


def _decodable(image: MatLike) -> bool:
    """A 0x0 picture divides by zero inside pyzbar, a float one is read as nothing."""
    return image.size > 0 and image.dtype == np.uint8 and image.ndim == 2
