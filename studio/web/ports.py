"""The port to listen on: found taken before the server starts, with a word on what to do."""

import errno
import socket

from studio.domain.errors import RefusedError


def need_free_port(host: str, port: int) -> None:
    """Do nothing when the port is free.

    Raises:
        RefusedError: `port_taken`; the message says what to do.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            what = {
                errno.EADDRINUSE: "is in use: stop the other program or choose --port",
                errno.EACCES: "is not for ordinary users: choose --port above 1023",
            }.get(error.errno or 0, f"can't be used at {host}: {error.strerror}")
            raise RefusedError("port_taken", f"port {port} {what}", port=port) from error
