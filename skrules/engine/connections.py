"""Connections to one HTTP server, kept open between requests, each request with one clock for all of it.

`http.client` and not `urllib.request`, which closes the connection after every request.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import BinaryIO, TypeVar

_Result = TypeVar("_Result")

# What a server's side of a connection that was idle for too long looks like.
_STALE = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)


class Connections:
    """Connections to `host`. Safe to use from several threads."""

    def __init__(self, scheme: str, host: str, port: int | None, *, connect: float) -> None:
        self._kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        self._host = host
        self._port = port
        self._connect = connect
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []

    def exchange(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: BinaryIO | bytes,
        seconds: float,
        read: Callable[[http.client.HTTPResponse], _Result],
    ) -> _Result:
        """Send a request and return what `read` makes of the answer.

        Raises TimeoutError when all of it takes longer than `seconds`, another OSError or http.client.HTTPException when
        there is no answer, and what `read` raises.
        A body that is a file is sent from its beginning.
        """
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            with contextlib.suppress(*_STALE):
                return self._exchange(connection, method, path, headers, body, seconds, read)
        connection = self._kind(self._host, self._port, timeout=self._connect)
        return self._exchange(connection, method, path, headers, body, seconds, read)

    def close(self) -> None:
        """Close the connections that are not in use."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: BinaryIO | bytes,
        seconds: float,
        read: Callable[[http.client.HTTPResponse], _Result],
    ) -> _Result:
        # A socket's own timeout starts again with every byte, so a server that trickles would never meet it.
        clock = threading.Timer(seconds, _cut, [connection])
        clock.daemon = True
        clock.start()
        end = time.monotonic() + seconds
        try:
            if connection.sock is None:
                connection.connect()
                if connection.sock is not None:
                    connection.sock.settimeout(seconds)
            answer = self._answer(connection, method, path, headers, body)
            result = read(answer)
            if time.monotonic() >= end:
                raise TimeoutError  # to a reader a connection that was cut is an answer that ended
            if answer.isclosed() and not answer.will_close:  # read to its end
                with self._lock:
                    self._idle.append(connection)
                return result
        except BaseException as error:
            connection.close()
            if isinstance(error, Exception) and time.monotonic() >= end:
                raise TimeoutError from error
            raise
        finally:
            clock.cancel()
        connection.close()
        return result

    def _answer(
        self, connection: http.client.HTTPConnection, method: str, path: str, headers: Mapping[str, str], body: BinaryIO | bytes
    ) -> http.client.HTTPResponse:
        try:
            if not isinstance(body, bytes):
                body.seek(0)
            connection.request(method, path, body or None, dict(headers))
        except (BrokenPipeError, ConnectionResetError) as error:
            # A server that refuses a large body says so and hangs up before it has read all of it.
            try:
                return connection.getresponse()
            except (OSError, http.client.HTTPException):
                raise error from None
        return connection.getresponse()


def _cut(connection: http.client.HTTPConnection) -> None:
    """Make whatever waits for this connection in another thread end with an error."""
    with contextlib.suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)
