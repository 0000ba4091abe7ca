"""A cable between two parts that can be cut, bent and plugged in again: a TCP proxy."""

import contextlib
import socket
import struct
import threading
from enum import Enum

CHUNK_BYTES = 65_536
WAIT_S = 20.0


class Cable:
    """Forwards every connection to the server, as far as its state lets it."""

    class State(Enum):
        WHOLE = "whole"
        CUT = "cut"
        """Whoever connects is dropped at once."""
        DEAF = "deaf"
        """Half open: whoever connects is taken, and nothing goes on or comes back."""

    def __init__(self, server_port):
        self._server = ("127.0.0.1", server_port)
        self._state = Cable.State.WHOLE
        self._answers_lost = 0
        self._delay_s = 0.0
        self._lock = threading.Condition()
        self._open = set()
        self._closing = threading.Event()
        self._flowing = threading.Event()
        self._flowing.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.lost = 0
        threading.Thread(target=self._accept, daemon=True).start()

    # Orders ------------------------------------------------------------------------------------

    def cut(self):
        self._change(Cable.State.CUT)

    def deafen(self):
        self._change(Cable.State.DEAF)

    def mend(self):
        with self._lock:
            self._answers_lost, self._delay_s = 0, 0.0
        self._flowing.set()
        self._change(Cable.State.WHOLE)

    def hold(self):
        """Let connections stand, with nothing passing, until `release` or `mend`."""
        self._flowing.clear()

    def release(self):
        self._flowing.set()

    def reset(self):
        """Break every connection off, as a machine does that has forgotten them."""
        with self._lock:
            for end in self._open:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._drop_all(gently=False)

    def delay(self, seconds):
        """Let everything take so much longer."""
        with self._lock:
            self._delay_s = seconds

    def lose_answers(self, count):
        """Let the next reports through to the server, but none of its answers to them back."""
        with self._lock:
            self._answers_lost, self.lost = count, 0

    def wait_lost(self, count):
        with self._lock:
            assert self._lock.wait_for(lambda: self.lost >= count, WAIT_S), "no answer was lost"

    def close(self):
        self._closing.set()
        self._flowing.set()
        self._listener.close()
        self._drop_all()

    # What it does ------------------------------------------------------------------------------

    def _change(self, state):
        with self._lock:
            self._state = state
        self._drop_all()

    def _drop_all(self, *, gently=True):
        with self._lock:
            ends, self._open = self._open, set()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR if gently else socket.SHUT_RD)
            end.close()

    def _accept(self):
        while not self._closing.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client):
        with self._lock:
            state = self._state
            self._open.add(client)
        if state is Cable.State.DEAF:
            return
        if state is Cable.State.CUT:
            self._drop(client)
            return
        try:
            server = socket.create_connection(self._server)
        except OSError:
            self._drop(client)
            return
        with self._lock:
            self._open.add(server)
        asked = threading.Event()
        threading.Thread(
            target=self._forward, args=(client, server, asked, True), daemon=True
        ).start()
        self._forward(server, client, asked, False)

    def _forward(self, source, target, asked, is_request):
        """Pass bytes on; `asked` says that the request under way is a report."""
        with contextlib.suppress(OSError):
            while chunk := source.recv(CHUNK_BYTES):
                self._closing.wait(self._delay_s)
                self._flowing.wait()
                if is_request:
                    if b"/api/device/" in chunk:
                        (asked.set if b"/api/device/reports" in chunk else asked.clear)()
                elif asked.is_set() and self._loses():
                    break
                target.sendall(chunk)
        self._drop(source)
        self._drop(target)

    def _loses(self):
        with self._lock:
            if not self._answers_lost:
                return False
            self._answers_lost -= 1
            self.lost += 1
            self._lock.notify_all()
            return True

    def _drop(self, end):
        with self._lock:
            self._open.discard(end)
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
