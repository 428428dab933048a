"""The scaffolds of the earlier tool: an asset's SK binding for review, and a CMake project of a bound one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skrules.adapt.adaptation import adapt
from skrules.commands.files import json_bytes
from skrules.contract.check import resolve_units
from skrules.contract.load import load
from skrules.engine.files import bytes_of
from skrules.findings import Finding, blockers
from skrules.pipeline.conversion import DOCUMENT, READY
from skrules.pipeline.inventory import HEADERS
from skrules.pipeline.operators import CONTRACTS
from skrules.source.includes import local_headers
from skrules.source.kernels import read

BINDING, SOURCE = "operator-sk-binding-scaffold", "operator-sk-source-scaffold"
GENERATED, NOT_NEEDED, BLOCKED = "generated", "not-needed", "blocked"
_BOUNDARY = ("the asset is as it was", "nothing was built", "nothing was run", "no result was compared")
_KERNELS = (".asc", ".cpp")


def binding_scaffold(folder: Path, analysis: dict[str, Any]) -> tuple[dict[str, Any], dict[str, bytes], tuple[Finding, ...]]:
    """Return the document, the files of the scaffold by path, and the findings that keep sources from being bound.

    The text is that of a build: sources with their SK functions behind the kernels. What a contract must decide is not
    decided here; without one, kernels with several tensors are blocked.
    """
    steps = {step["action"]: step["status"] for step in analysis["generation_plan"]}
    if analysis["status"] == BLOCKED:
        return _empty(folder, analysis, BLOCKED, analysis["blocked_reasons"]), {}, ()
    if steps["adapt_sk_binding"] == "ready":
        return _empty(folder, analysis, NOT_NEEDED, []), {}, ()
    base = Path(analysis["base_dir"])
    bound, findings = _bind(base, [name for name in analysis["source_files"] if name.endswith(_KERNELS)])
    if blockers(findings):
        reasons = list(dict.fromkeys(finding.rule for finding in blockers(findings)))
        return _empty(folder, analysis, BLOCKED, ["sk_binding_scaffold_entry_parse_failed", *reasons]), {}, findings
    files = {f"{BINDING}/original/{name}": bytes_of(base / name) for name in analysis["source_files"]}
    copied = [{"source": name, "scaffold_path": f"{BINDING}/original/{name}"} for name in analysis["source_files"]]
    generated = []
    entries = []
    for name, text, adapted in bound:
        path = f"{BINDING}/src/{adapted[0]['entry_name']}_sk_binding.asc"
        files[path] = text
        generated.append(path)
        entries += [{**entry, "source_file": name, "generated_path": path} for entry in adapted]
    files[f"{BINDING}/README.md"] = _readme("SK binding, for review", generated)
    document = {
        **_empty(folder, analysis, GENERATED, []),
        "adapted_entries": entries,
        "copied_source_files": copied,
        "generated_files": [f"{BINDING}/README.md", *generated],
        "supported_next_actions": [
            step["action"]
            for step in analysis["generation_plan"]
            if step["status"] == "needed" and step["action"] != "adapt_sk_binding"
        ][:3]
        or ["generate_sk_source_scaffold"],
    }
    return document, files, findings


def source_scaffold(folder: Path, analysis: dict[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the document and the files of the project by path; no files when the analysis is not ready for it."""
    common = {
        key: analysis[key]
        for key in ("source_file_fingerprints", "support_directories", "include_directories", "ascend_compile_contract")
    }
    if analysis["status"] != READY:
        reasons = analysis["blocked_reasons"] or ["conversion_contracts_missing"]
        document = {**_empty(folder, analysis, BLOCKED, reasons), **common}
        del document["adapted_entries"]
        return document, {}
    base = Path(analysis["base_dir"])
    files = {f"{SOURCE}/src/{name}": bytes_of(base / name) for name in analysis["source_files"]}
    copied = [{"source": name, "scaffold_path": f"{SOURCE}/src/{name}"} for name in analysis["source_files"]]
    for each in analysis["support_directories"]:
        for name in each["source_files"]:
            place = f"{each['source_name']}/{name}"
            files[f"{SOURCE}/src/{place}"] = bytes_of(Path(each["source_path"]) / name)
            copied.append({"source": place, "scaffold_path": f"{SOURCE}/src/{place}"})
    files[f"{SOURCE}/CMakeLists.txt"] = _cmake(analysis).encode()
    files[f"{SOURCE}/README.md"] = _readme("SK sources, as a project for CMake", [each["scaffold_path"] for each in copied])
    document = {
        **_empty(folder, analysis, GENERATED, []),
        **common,
        "copied_source_files": copied,
        "generated_files": [f"{SOURCE}/README.md", f"{SOURCE}/CMakeLists.txt"],
        "supported_next_actions": ["run_sk_build_validation"],
    }
    del document["adapted_entries"]
    return document, files


def documents_of(name: str, document: dict[str, Any]) -> dict[str, bytes]:
    """Return the published files on a scaffold, `BINDING` or `SOURCE`."""
    lines = [f"# {name}", "", f"Status: {document['status']}", ""]
    for key in ("blocked_reasons", "generated_files", "supported_next_actions"):
        lines += [f"## {key.replace('_', ' ')}", "", *([f"- {item}" for item in document[key]] or ["- none"]), ""]
    lines += ["; ".join(document["execution_boundary"]), ""]
    return {f"{name}.json": json_bytes(document), f"{name}.md": "\n".join(lines).encode()}


def _empty(folder: Path, analysis: dict[str, Any], status: str, reasons: Sequence[str]) -> dict[str, Any]:
    return {
        "status": status,
        "analysis_output_dir": str(folder.resolve()),
        "analysis_path": DOCUMENT,
        "asset_path": analysis["asset_path"],
        "source_files": analysis["source_files"],
        "kernel_entries": analysis["kernel_entries"],
        "adapted_entries": [],
        "copied_source_files": [],
        "generated_files": [],
        "blocked_reasons": list(reasons),
        "execution_boundary": list(_BOUNDARY),
        "supported_next_actions": analysis["supported_next_actions"],
    }


def _bind(base: Path, names: Sequence[str]) -> tuple[list[tuple[str, bytes, list[dict[str, Any]]]], tuple[Finding, ...]]:
    """Adapt the sources with the contract beside them: their text, and what was bound in each."""
    own = next((base / name for name in CONTRACTS if (base / name).is_file()), None)
    contract = load(bytes_of(own), str(own)) if own else None
    macros = contract.macros if contract else {}
    headers = {}
    units = []
    for name in names:
        found = [read(data, path, macros=macros) for path, data in sorted(local_headers(str(base / name)).items())]
        unit = read(bytes_of(base / name), name, headers=found, macros=macros)
        if unit.kernels or unit.findings:
            headers[name] = found
            units.append(unit)
    bound = []
    findings: list[Finding] = []
    for unit, resolution in zip(units, resolve_units(units, contract), strict=True):
        adapted = adapt(unit, resolution, headers[unit.path])
        findings += adapted.findings
        if blockers(adapted.findings) or not adapted.entries:
            continue
        entries = [
            {
                "entry_name": each.entry.name,
                "args_struct": each.args_struct,
                "sk_function": each.sk_function,
                "params": [{"type": param.c_type, "name": param.name, "field": param.name} for param in each.entry.parameters],
                "status": GENERATED,
                "reason": "sk_binding_scaffold_generated",
            }
            for each in adapted.entries
        ]
        bound.append((unit.path, adapted.text(), entries))
    return bound, tuple(dict.fromkeys(findings))


def _readme(title: str, paths: Sequence[str]) -> bytes:
    lines = [f"# {title}", "", *(f"- {path}" for path in paths), "", "; ".join(_BOUNDARY), ""]
    return "\n".join(lines).encode()


def _cmake(analysis: dict[str, Any]) -> str:
    """Return a project whose objects are made again when a header of theirs has changed."""
    sources = [name for name in analysis["source_files"] if not name.endswith(HEADERS)]
    kernels = [name for name in sources if name.endswith(".asc")] or sources
    target = f"{analysis['kernel_entries'][0]['name'].replace('::', '_')}_objects"
    contract = analysis["ascend_compile_contract"]
    folders = [*analysis["include_directories"], "${CMAKE_CURRENT_SOURCE_DIR}/src"]
    if contract is None:
        lines = [
            "cmake_minimum_required(VERSION 3.16)",
            "find_package(ASC REQUIRED)",
            "project(sk_source_scaffold LANGUAGES ASC CXX)",
            "if(NOT SK_NPU_ARCH)",
            '  message(FATAL_ERROR "-DSK_NPU_ARCH= says which arch to build for")',
            "endif()",
            f"add_library({target} OBJECT {' '.join(_quoted(f'src/{name}') for name in kernels)})",
            f"target_include_directories({target} PRIVATE {' '.join(map(_quoted, folders))})",
            f'target_compile_options({target} PRIVATE "$<$<COMPILE_LANGUAGE:ASC>:--npu-arch=${{SK_NPU_ARCH}}>")',
        ]
        return "\n".join([*lines, ""])
    lines = ["cmake_minimum_required(VERSION 3.21)", "project(sk_source_scaffold LANGUAGES NONE)"]
    objects = []
    for name in kernels:
        output = f"${{CMAKE_CURRENT_BINARY_DIR}}/{name.replace('/', '_')}.o"
        objects.append(output)
        words = [contract["bisheng_path"], "--cce-aicore-lang", f"--npu-arch={contract['arch']}", *contract["compile_options"]]
        words += [word for path in contract["force_includes"] for word in ("-include", path)]
        words += [f"-I{folder}" for folder in [*contract["derived_include_dirs"], *folders]]
        words += ["-MD", "-MF", f"{output}.d", "-c", f"${{CMAKE_CURRENT_SOURCE_DIR}}/src/{name}", "-o", output]
        lines += [
            "add_custom_command(",
            f"  OUTPUT {_quoted(output)}",
            f"  COMMAND {' '.join(map(_quoted, words))}",
            f"  DEPENDS {_quoted(f'src/{name}')}",
            f"  DEPFILE {_quoted(f'{output}.d')}",
            "  VERBATIM)",
        ]
    return "\n".join([*lines, f"add_custom_target({target} ALL DEPENDS {' '.join(map(_quoted, objects))})", ""])


def _quoted(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
