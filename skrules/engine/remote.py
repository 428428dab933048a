"""A step cache behind HTTP, shared by machines: Bazel's HTTP caching protocol, which many existing servers speak.

`GET` and `PUT` of `URL/ac/KEY` (entries, see `action_result`) and `URL/cas/SHA256` (contents of outputs); 404 is a miss.
See "HTTP caching protocol" in https://bazel.build/remote/caching. bazel-remote, nginx with WebDAV and gateways of object
stores serve it. The server is believed in nothing: what comes is compared with its digest before it is used.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import BinaryIO, TypeVar
from urllib.parse import urlsplit

from skrules.engine.action_result import unwrap, wrap
from skrules.engine.connections import Connections
from skrules.engine.entries import LARGEST, Blob, Variant, decode, encode, with_variant

_Result = TypeVar("_Result")

# Fetched contents are held in memory until they are found to be right.
_LARGEST_BLOB = 256 << 20
_UPLOADERS = 2
_CHUNK = 256 << 10

_NOT_THERE = (404, 410)
_REFUSED = (401, 403, 405)
_TOO_LARGE = 413


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a server is waited for, in seconds: to connect, to answer, and to answer with a content of a size.

    `rate` is the slowest transfer in bytes a second: what comes slower is faster compiled. After `failures` in a row, or
    when all failures together took `lost` seconds, the server is not asked again.
    """

    connect: float = 2.0
    answer: float = 4.0
    rate: int = 512 << 10
    failures: int = 3
    lost: float = 10.0
    flush: float = 30.0


class Remote:
    """A shared cache at an address. Safe to use from several threads; no method raises for what a network or server does.

    `warn` is called with one line when the server is given up, or refuses what is sent. With `readonly` nothing is sent.
    """

    def __init__(
        self,
        url: str,
        *,
        readonly: bool = False,
        authorization: str = "",
        warn: Callable[[str], None] | None = None,
        patience: Patience | None = None,
    ) -> None:
        parts = urlsplit(url)
        self.readonly = readonly
        self.name = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")  # without a password
        self._path = parts.path.rstrip("/")
        self._headers = {"User-Agent": "skrules", **({"Authorization": authorization} if authorization else {})}
        self._warn = warn or _say
        self._patience = patience or Patience()
        self._connections = Connections(parts.scheme, parts.hostname or "", parts.port, connect=self._patience.connect)
        self._lock = threading.Lock()
        self._failures = 0
        self._lost = 0.0
        self._off = False
        self._refused = False
        self._said_large = False
        self._waiting: queue.SimpleQueue[tuple[str, Variant, Callable[[str], BinaryIO]] | None] = queue.SimpleQueue()
        self._uploaders: list[threading.Thread] = []

    def variants(self, key: str) -> tuple[Variant, ...]:
        """Return the variants of the server's entry of `key`, newest first; () when it has no good one."""

        def check(message: bytes) -> tuple[Variant, ...]:
            carried = unwrap(message)
            variants = None if carried is None else decode(key, carried)
            if variants is None:
                raise _Unusable(f"ac/{key} is no entry of skrules")
            return variants

        return self._get(f"ac/{key}", LARGEST, self._patience.answer, check) or ()

    def blob(self, blob: Blob) -> bytes | None:
        """Return a content, or None when the server has it not, or not right."""
        if blob.size > _LARGEST_BLOB:
            return None

        def check(data: bytes) -> bytes:
            if hashlib.sha256(data).hexdigest() != blob.digest:
                raise _Unusable(f"cas/{blob.digest} has another content than its name says")
            return data

        return self._get(f"cas/{blob.digest}", blob.size, self._seconds(blob.size), check)

    def upload(self, key: str, variant: Variant, open_blob: Callable[[str], BinaryIO]) -> None:
        """Send a variant and its contents in the background. `open_blob` opens a content by its digest, or raises OSError."""
        if self.readonly or self._off or self._refused or any(blob.size > _LARGEST_BLOB for blob in variant.outputs.values()):
            return
        self._waiting.put((key, variant, open_blob))
        with self._lock:
            if len(self._uploaders) < _UPLOADERS:
                # Daemons: a server that hangs must not keep a finished build from ending.
                self._uploaders.append(threading.Thread(target=self._send_all, name="skrules-upload", daemon=True))
                self._uploaders[-1].start()

    def close(self) -> None:
        """Wait until all is sent, at most `Patience.flush` seconds, and close the connections."""
        end = time.monotonic() + self._patience.flush
        with self._lock:
            uploaders, self._uploaders = self._uploaders, []
        for _ in uploaders:
            self._waiting.put(None)
        for uploader in uploaders:
            uploader.join(max(0.0, end - time.monotonic()))
        if any(uploader.is_alive() for uploader in uploaders):
            self._give_up(f"not everything could be sent in {self._patience.flush:g} s")
        self._connections.close()

    def _send_all(self) -> None:
        while (item := self._waiting.get()) is not None:
            with contextlib.suppress(OSError):  # a content that was trimmed in the meantime
                self._send(*item)

    def _send(self, key: str, variant: Variant, open_blob: Callable[[str], BinaryIO]) -> None:
        # Contents first: an entry must not speak of what is not there yet. They are sent even if the server has them,
        # which is how a damaged one is mended.
        for blob in {blob.digest: blob for blob in variant.outputs.values()}.values():
            with open_blob(blob.digest) as file:
                if not self._put(f"cas/{blob.digest}", file, blob.size):
                    return
        variants = self.variants(key)
        if variants[:1] != (variant,):
            message = wrap(encode(key, with_variant(variants, variant)))
            self._put(f"ac/{key}", message, len(message))

    def _get(self, name: str, limit: int, seconds: float, check: Callable[[bytes], _Result]) -> _Result | None:
        def read(answer: http.client.HTTPResponse) -> _Result | None:
            if answer.status in _NOT_THERE:
                answer.read(_CHUNK)
                return None
            if answer.status != 200:
                raise _Unusable(f"it answers {answer.status} {answer.reason}")
            data = bytearray()
            while piece := answer.read(min(_CHUNK, limit - len(data) + 1)):
                data += piece
                if len(data) > limit:
                    raise _Unusable(f"{name} is larger than it can be")
            return check(bytes(data))

        return self._ask("GET", name, b"", self._headers, seconds, read)

    def _put(self, name: str, body: BinaryIO | bytes, size: int) -> bool:
        def read(answer: http.client.HTTPResponse) -> bool:
            answer.read(_CHUNK)
            if 200 <= answer.status < 300:
                return True
            said = f"{answer.status} {answer.reason}"
            if answer.status in _REFUSED:
                self._refuse(f"nothing more is sent to it: it answers {said}")
            elif answer.status == _TOO_LARGE:
                self._refuse_size(f"it takes no file of {size} bytes: {said}")
            else:
                raise _Unusable(f"it answers {said}")
            return False

        headers = {**self._headers, "Content-Length": str(size)}
        return not self._refused and bool(self._ask("PUT", name, body, headers, self._seconds(size), read))

    def _seconds(self, size: int) -> float:
        return self._patience.answer + size / self._patience.rate

    def _ask(
        self,
        method: str,
        name: str,
        body: BinaryIO | bytes,
        headers: Mapping[str, str],
        seconds: float,
        read: Callable[[http.client.HTTPResponse], _Result],
    ) -> _Result | None:
        if self._off:
            return None
        begun = time.monotonic()
        try:
            result = self._connections.exchange(method, f"{self._path}/{name}", headers, body, seconds, read)
        except (OSError, http.client.HTTPException, UnicodeError, _Unusable) as error:  # a name that no host can have
            taken = time.monotonic() - begun
            self._fail(f"no answer in {taken:.1f} s" if isinstance(error, TimeoutError) else _said(error), taken)
            return None
        with self._lock:
            self._failures = 0
        return result

    def _fail(self, why: str, seconds: float) -> None:
        with self._lock:
            self._failures += 1
            self._lost += seconds
            enough = self._failures >= self._patience.failures or self._lost >= self._patience.lost
        if enough:
            self._give_up(why)

    def _give_up(self, why: str) -> None:
        with self._lock:
            said, self._off = self._off, True
        if not said:
            self._warn(f"remote cache {self.name} is not used any more in this build: {why}")

    def _refuse(self, why: str) -> None:
        with self._lock:
            said, self._refused = self._refused, True
        if not said:
            self._warn(f"remote cache {self.name}: {why}")

    def _refuse_size(self, why: str) -> None:
        with self._lock:
            said, self._said_large = self._said_large, True
        if not said:
            self._warn(f"remote cache {self.name}: {why}")


def _said(error: Exception) -> str:
    if isinstance(error, _Unusable):
        return str(error)
    return (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__


def _say(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)


class _Unusable(Exception):
    """A server answers, but not as a cache does."""
