"""What a Python interpreter says of itself, of torch and of torch_npu, without importing either.

Standard library only and no import of skrules: it also runs alone, in another interpreter.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import sysconfig


def _root(package: str) -> str:
    """Return the folder of an importable package, or ""."""
    spec = importlib.util.find_spec(package)
    # No origin: a folder that merely has the name, a namespace package.
    folders = list(spec.submodule_search_locations or []) if spec and spec.origin else []
    return folders[0] if folders else ""


def probe() -> dict[str, str]:
    """Return version ("3.11"), soabi, include folder, and the folders of torch and torch_npu ("" where there is none)."""
    return {
        "version": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "soabi": sysconfig.get_config_var("SOABI") or "",
        "include": sysconfig.get_paths()["include"],
        "torch": _root("torch"),
        "torch_npu": _root("torch_npu"),
    }


if __name__ == "__main__":
    print(json.dumps(probe()))
