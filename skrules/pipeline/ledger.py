"""What stages in this process made from what: a folder of results that is current is left as it is.

The journal is the engine's. A step's outputs are here whatever files it leaves in its folder.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from skrules.engine.digests import FileDigests
from skrules.engine.journal import Journal, Step


class Ledger:
    """Steps in folders below `root`. `code` stands for all that decides what they make besides their inputs."""

    def __init__(self, root: Path, code: str) -> None:
        self.root = root
        self._code = code
        self._journal = Journal(root / ".journal")
        self._digests = FileDigests(root)
        self.made: list[str] = []

    def fill(self, folder: str, inputs: Iterable[str], key: Mapping[str, str], make: Callable[[Path], None]) -> str:
        """Make the folder hold what `make` writes into it, unless it does already; return a digest of what it holds.

        `folder` and `inputs` are relative to the root. What `make` raises leaves the step undone: it is tried again.
        """
        label = f"//{folder}"
        # Documents of stages name files by their whole path: in another place they are made again.
        now = {**key, "code": self._code, "place": str(self.root)}
        digests = self._digests.digests(sorted(inputs))
        step = self._journal.step(label, folder)
        if step is not None and step.key == now and step.inputs == digests and step.outputs == self._outputs(folder):
            return _digest(step.outputs)
        place = self.root / folder
        self._journal.begin(label, folder)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True, exist_ok=True)
        make(place)
        self.made.append(folder)
        outputs = self._outputs(folder)
        self._journal.end(label, folder, Step(key=now, inputs=digests, outputs=outputs))
        return _digest(outputs)

    def _outputs(self, folder: str) -> dict[str, str]:
        paths = sorted(path for path in (self.root / folder).rglob("*") if path.is_file())
        return self._digests.digests(path.relative_to(self.root).as_posix() for path in paths)


def _digest(outputs: Mapping[str, str]) -> str:
    return hashlib.sha256("\n".join(f"{path}\0{digest}" for path, digest in sorted(outputs.items())).encode()).hexdigest()[:40]
