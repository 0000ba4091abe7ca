"""The studio's signature on evidence: Ed25519, from a key of its own that the secret key gives.

Read by the edge only, like the settings. What was signed is checked with the public key alone.
"""

import base64
import binascii

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

KEY_BYTES = 32
_PURPOSE = b"studio evidence signing key 1"


class Signer:
    """Signs what leaves the house."""

    def __init__(self, secret_key: str) -> None:
        """Derive the signing key; the same secret gives the same key after every restart."""
        seed = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=_PURPOSE).derive(
            secret_key.encode()
        )
        self._key = Ed25519PrivateKey.from_private_bytes(seed)

    @property
    def public_key(self) -> str:
        """The key that checks, base64."""
        raw = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return base64.b64encode(raw).decode()

    def sign(self, content: bytes) -> str:
        """Return the signature, base64."""
        return base64.b64encode(self._key.sign(content)).decode()


def signature_holds(content: bytes, *, public_key: str, signature: str) -> bool:
    """Return whether the owner of a public key (base64) signed this content."""
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key, validate=True))
        key.verify(base64.b64decode(signature, validate=True), content)
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True
