"""The back office's device doors: what is sent there, and what an answer is worth.

Only a clear answer of the back office itself counts. Whatever else answers in its place, a
captive portal, a proxy's error page, a redirection, is no answer: what was sent is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests

CONNECT_TIMEOUT_S = 2.0
READ_TIMEOUT_S = 5.0
TIMEOUTS_S = (CONNECT_TIMEOUT_S, READ_TIMEOUT_S)
_FINAL_STATUSES = frozenset({400, 409, 413, 422})
"""With these the back office refuses the content itself; all other refusals may change."""
_WORDS: Mapping[int, str] = {
    401: "The back office refuses the device's key (401): STUDIO_DEVICE_KEY here and the key"
    " there must be the same.",
    403: "The back office does not let this device speak for the table (403): check its settings.",
    404: "The back office does not know this address or table (404): check uplink.url and"
    " uplink.table.",
    429: "The back office asks for patience (429).",
}


class NoAnswerError(Exception):
    """Nothing that counts was answered: try again later. The message says why, in plain words."""


class RefusedError(Exception):
    """The back office refuses what was sent, for good."""

    def __init__(self, *, status: int, code: str) -> None:
        """Keep the answer's status and the code of the refusal."""
        super().__init__(f"refused: {code}")
        self.status = status
        self.code = code


@dataclass(frozen=True, kw_only=True)
class Door:
    """The back office's address and who knocks. The key is a secret and never shown."""

    url: str
    table: str
    device: str
    key: str

    def __repr__(self) -> str:
        return f"Door(url={self.url!r}, table={self.table!r}, device={self.device!r})"

    def session(self) -> requests.Session:
        """Return a session that shows the key; one for each thread."""
        session = requests.Session()
        session.headers["X-Device-Key"] = self.key
        # A proxy from the environment has no business between two machines of one studio.
        session.trust_env = False
        return session

    def report_id(self, number: int) -> str:
        """Return the id of a report, the same whenever it is sent."""
        return f"{self.device}-{number}"

    def post(self, session: requests.Session, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send something and return the answer.

        Raises:
            NoAnswerError: it must be sent again.
            RefusedError: it need not be sent again.
        """
        return self._ask(session, "POST", path, json=body)

    def get(
        self, session: requests.Session, path: str, params: Mapping[str, str]
    ) -> dict[str, Any]:
        """Ask for something and return the answer.

        Raises:
            NoAnswerError: nothing that counts came.
            RefusedError: it is refused.
        """
        return self._ask(session, "GET", path, params=params)

    def _ask(
        self, session: requests.Session, method: str, path: str, **content: Any
    ) -> dict[str, Any]:
        try:
            answer = session.request(
                method,
                f"{self.url}/api/device/{path}",
                timeout=TIMEOUTS_S,
                allow_redirects=False,
                **content,
            )
            return _judge(answer)
        except requests.RequestException as error:
            name = type(error).__name__
            raise NoAnswerError(f"The back office does not answer ({name}).") from error


def _judge(answer: requests.Response) -> dict[str, Any]:
    status = answer.status_code
    try:
        body = answer.json()
    except ValueError:
        body = None
    if status == requests.codes.ok and isinstance(body, dict):
        return body
    if status in _FINAL_STATUSES and isinstance(body, dict):
        fault = body.get("error")
        if isinstance(fault, dict) and isinstance(fault.get("code"), str):
            raise RefusedError(status=status, code=fault["code"])
    if status in _WORDS:
        raise NoAnswerError(_WORDS[status])
    if status >= 500:
        raise NoAnswerError(f"The back office is in trouble ({status}).")
    raise NoAnswerError(
        f"Something else answers in the back office's place (status {status}): check uplink.url."
    )
