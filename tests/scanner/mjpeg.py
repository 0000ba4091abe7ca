"""A camera on the network, as a process of its own: MJPEG over HTTP, ordered about line by line.

`python -m tests.scanner.mjpeg PORT`; says `ready PORT` once it listens. Orders on stdin, each
answered by `done`: `live [WIDTH HEIGHT]`, `show PICTURE`, `freeze`, `silent`, `garbage`, `cut`,
`html`, `drop`.
"""

import socket
import sys
import threading

import cv2
import numpy as np

PERIOD_S = 1 / 30
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=frame\r\n"
    b"Cache-Control: no-store\r\n\r\n"
)
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n<html></html>\r\n"


class Camera:
    """What is shown to everybody who looks."""

    def __init__(self):
        self.rng = np.random.default_rng(5)
        self.mode = "live"
        self.size = (320, 240)
        self.shown = None
        self.last = b""
        self.clients = []
        self.lock = threading.Lock()

    def picture(self):
        """Return the next part of the stream; None says nothing."""
        with self.lock:
            match self.mode:
                case "silent":
                    return None
                case "garbage":
                    return self.part(self.rng.bytes(4_000))
                case "freeze":
                    return self.part(self.last)
                case "cut":
                    whole = self.jpeg()
                    return self.part(whole[: len(whole) // 2])
            self.last = self.jpeg()
            return self.part(self.last)

    def jpeg(self):
        if self.shown is not None:
            noise = self.rng.integers(-3, 4, self.shown.shape)
            image = np.clip(self.shown + noise, 0, 255).astype(np.uint8)
            return cv2.imencode(".jpg", image)[1].tobytes()
        width, height = self.size
        image = np.full((height, width, 3), self.rng.integers(0, 255), np.uint8)
        image[:240, :320] = self.rng.integers(0, 255, image[:240, :320].shape)
        return cv2.imencode(".jpg", image)[1].tobytes()

    @staticmethod
    def part(content):
        return (
            b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(content)
            + content
            + b"\r\n"
        )

    def obey(self, order, *words):
        with self.lock:
            if order == "show":
                self.shown = cv2.imread(words[0])
                return
            if order == "drop":
                for client in self.clients:
                    client.shutdown(socket.SHUT_RDWR)
                self.clients.clear()
                return
            self.mode = order
            if words:
                self.size = tuple(map(int, words))

    def serve(self, client):
        pace = threading.Event()
        try:
            client.recv(4_096)
            if self.mode == "html":
                client.sendall(PAGE)
                return
            client.sendall(HEAD)
            with self.lock:
                self.clients.append(client)
            while True:
                part = self.picture()
                if part is not None:
                    client.sendall(part)
                pace.wait(PERIOD_S)
        except OSError:
            return  # whoever looked has gone
        finally:
            client.close()


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main():
    cv2.setNumThreads(1)
    camera = Camera()
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    say(f"ready {listener.getsockname()[1]}")

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=camera.serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    for line in sys.stdin:
        camera.obey(*line.split())
        say("done")


if __name__ == "__main__":
    main()
