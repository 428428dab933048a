"""Templates compiled to Python code, kept in the user's cache: compiling them takes longer than adapting a small file."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from skrules.engine.files import write_atomically

_DIGEST = hashlib.sha256
_SIZE = _DIGEST().digest_size


class CompiledShapes(jinja2.BytecodeCache):
    """Compiled templates in `folder`, each behind a digest of itself: a damaged one is compiled again.

    `options` says all that, beside its text, decides what a template compiles to. Jinja2 itself looks whether the text, the
    Python and the Jinja2 are those of the compiled code.
    """

    def __init__(self, folder: Path, options: str) -> None:
        self.folder = folder
        self.options = options

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill `bucket` with what is known of it."""
        try:
            data = self._file(bucket).read_bytes()
        except OSError:
            return
        if data[:_SIZE] == _DIGEST(data[_SIZE:]).digest():
            bucket.bytecode_from_string(data[_SIZE:])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what `bucket` holds. A cache that cannot be written costs time, and nothing else."""
        data = bucket.bytecode_to_string()
        with contextlib.suppress(OSError):
            write_atomically(self._file(bucket), _DIGEST(data).digest() + data)

    def _file(self, bucket: Bucket) -> Path:
        # The checksum of the text is inside: an older text leaves its place to the newer one.
        # Of two Pythons each has its own: neither could run, nor should it replace, what the other compiled.
        versions = f"{sys.implementation.cache_tag} {MAGIC_NUMBER.hex()} {jinja2.__version__}"
        name = _DIGEST(f"{versions}\0{self.options}\0{bucket.key}".encode()).hexdigest()
        return self.folder / f"{name[:32]}.bin"
