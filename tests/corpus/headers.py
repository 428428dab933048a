"""Headers of a file of the corpus, read from its checkout."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from skrules.source.evaluation import Macros
from skrules.source.includes import local_headers
from skrules.source.kernels import read
from skrules.source.model import SourceUnit


@dataclass(frozen=True, slots=True)
class Headers:
    """`checkout` is the folder that headers are taken from, `include` are the folders in it that the compiler is told of."""

    checkout: Path
    include: tuple[str, ...]

    @property
    def folders(self) -> tuple[Path, ...]:
        return tuple(self.checkout / folder for folder in self.include)

    def read(self, path: Path, macros: Macros = MappingProxyType({})) -> tuple[SourceUnit, ...]:
        """Return what the file at `path` includes, directly or not, as far as it lies in the checkout; `macros` are stated."""
        found = local_headers(str(path), self.folders, angled=self.folders)
        inside = {Path(name): data for name, data in found.items() if Path(name).is_relative_to(self.checkout)}
        return tuple(
            read(data, name.relative_to(self.checkout).as_posix(), macros=macros) for name, data in sorted(inside.items())
        )


def checkout_of(path: Path, folder: Path) -> Path:
    """Return the checkout that a file below `folder`, where checkouts lie side by side, belongs to."""
    return folder / path.relative_to(folder).parts[0]
