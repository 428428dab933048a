"""The reference page of archs and chips, from the table that builds go by."""

from __future__ import annotations

from collections.abc import Iterator

from skrules.arch import Arch, ArchTable

_KIB = 1024
_MEMORIES = {"ub": "UB", "l1": "L1", "l0a": "L0A", "l0b": "L0B", "l0c": "L0C", "bt": "bias table", "fb": "fixpipe buffer"}


def render_page(table: ArchTable) -> str:
    """Return a Markdown page with every fact of the table beside the public documents that it was read from."""
    lines = [
        "# Archs and chips",
        "",
        "What skrules knows of a chip stands in `toolchains/ascend.yaml`, with the public source of each fact; nothing is",
        "mapped by guess. `ARCH=` takes an arch, `SK_TARGET_CHIPS` takes chips, and `skrules archs` prints the same in short.",
    ]
    for arch in table.archs:
        lines += ["", f"## {arch.name}", "", "| fact | value | source |", "| --- | --- | --- |", *_facts(arch)]
        lines += ["", "| chip | AIC | AIV |", "| --- | --- | --- |"]
        lines += [f"| {chip.name} | {chip.aic} | {chip.aiv} |" for chip in arch.chips]
    lines += ["", "## Not built for", "", "| arch | chips |", "| --- | --- |"]
    lines += [f"| {name} | {', '.join(chips)} |" for name, (chips, _) in table.unsupported.items()]
    return "\n".join([*lines, ""])


def _facts(arch: Arch) -> Iterator[str]:
    memory = ", ".join(f"{title} {getattr(arch.memory, name) // _KIB} KiB" for name, title in _MEMORIES.items())
    soc = ", ".join(f"{number}: {name}" for number, name in arch.soc_versions.items())
    rows = {
        "npu_arch": ("`__NPU_ARCH__`", str(arch.npu_arch)),
        "memory": ("memory of a core", memory),
        "mix": ("AIC and AIV of a mix kernel's block", ", ".join(f"{aic}:{aiv}" for aic, aiv in arch.mix)),
        "sk_bind": ("`SK_BIND`", str(arch.sk_bind).replace("-", " ")),
        "reference_chip": ("chip that the host toolchain emulates", arch.reference_chip.name),
        "families": ("names for all of its chips", ", ".join(arch.families)),
        "chips": ("chips, below", f"{len(arch.chips)} with their cores"),
        "soc_versions": ("SoC numbers of torch_npu", soc),
    }
    for key, (title, value) in rows.items():
        links = ", ".join(f"[{place}]({url})" for place, url in enumerate(arch.sources[key], 1))
        yield f"| {title} | {value} | {links} |"
