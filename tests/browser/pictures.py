"""Cards that do not read, with the pictures that a scanner sends of them; a dialog's measures."""

import base64

import cv2
import numpy as np
import requests

from tests.browser.access import barriers
from tests.browser.dealing import Table
from tests.browser.house import HAND_SCANNER
from tests.browser.looks import SIZES, poor_contrast, sideways, small_targets
from tests.browser.windows import Window


def drawn_jpeg(width: int, height: int) -> str:
    image = np.full((height, width, 3), 60, np.uint8)
    cv2.rectangle(image, (width // 3, height // 4), (width * 2 // 3, height * 3 // 4), 230, -1)
    _, data = cv2.imencode(".jpg", image)
    return base64.b64encode(data.tobytes()).decode("ascii")


def bring_picture(table: Table, report_id: str) -> None:
    body = {
        "table": table.code,
        "report": report_id,
        "frame": drawn_jpeg(1280, 720),
        "card": drawn_jpeg(315, 440),
        "reason": "unreadable",
        "captured_ms": 1,
    }
    answer = requests.post(
        f"{table.house.url}/api/device/pictures",
        json=body,
        headers={"X-Device-Key": table.house.device_keys[HAND_SCANNER]},
        timeout=10,
    )
    assert answer.ok, answer.text


def unread(table: Table, name: str) -> None:
    """Let a card not read and bring its picture."""
    report_id = f"{HAND_SCANNER}-{name}"
    answer = table.device(
        "reports", id=report_id, kind="read_failed", code=None, reason="unreadable"
    )
    assert answer["picture"] is True
    bring_picture(table, report_id)


def measure(window: Window) -> None:
    """Look at an open dialog in every size."""
    page = window.page
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert sideways(page) == {"scroll": 0, "wide": []}
        assert poor_contrast(page) == []
        assert small_targets(page) == []
        box = window.dialog.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert barriers(page) == []
