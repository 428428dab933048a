"""Templates of new operators: `templates/ops/<id>.yaml`, read strictly and rendered with `string.Template`."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skrules import resources
from skrules.contract.document import read_document
from skrules.contract.reading import Problems, Read, read
from skrules.contract.schema import Boolean, Integer, Key, ListOf, MapOf, Number, OneOf, Table, Text
from skrules.errors import UsageError, did_you_mean
from skrules.label import is_name

_KINDS = ("choice", "int", "string")
_NAME = Text(what="a C identifier", pattern=r"[A-Za-z_][A-Za-z0-9_]*")
_BLOCK = Text(what="a text", pattern=r"[\s\S]+")
_VALUE = OneOf(forms=(Text(), Integer(minimum=-(1 << 31), maximum=1 << 31)))
_ENTRY = Table(
    keys=(
        Key(name="path", type=Text(), doc="where the file goes; may hold placeholders", required=True),
        Key(name="template", type=_BLOCK, doc="its text", required=True),
    )
)
TEMPLATE = Table(
    keys=(
        Key(name="id", type=_NAME, doc="the name of the template, that of its file", required=True),
        Key(name="description", type=Text(), doc="one line on what the operator does", required=True),
        Key(
            name="parameters",
            type=ListOf(
                item=Table(
                    keys=(
                        Key(name="name", type=_NAME, doc="its placeholder", required=True),
                        Key(name="kind", type=Text(allowed=_KINDS), doc="what values it takes", required=True),
                        Key(name="default", type=_VALUE, doc="its value when none is given"),
                        Key(name="allowed", type=ListOf(item=_VALUE, unique=True), doc="the values of a choice"),
                    )
                ),
                nullable=True,
            ),
            doc="what the template takes",
            required=True,
        ),
        Key(
            name="derived",
            type=MapOf(
                key=_NAME,
                value=MapOf(key=Text(), value=OneOf(forms=(_BLOCK, Number(), Boolean())), noun="a value of the parameter"),
                noun="a placeholder, named <parameter>_<what>,",
            ),
            doc="placeholders that follow from a choice: their text for each of its values",
        ),
        Key(name="files", type=ListOf(item=_ENTRY), doc="the files of an operator asset", required=True),
        Key(name="operator_files", type=ListOf(item=_ENTRY), doc="what `skrules new op` adds to them"),
    )
)

# `ctype` of a `dtype`, as the public generator has it; a dtype that is not here stands for itself.
_CTYPES = {"float16": "half", "float32": "float", "int32": "int32_t", "int64": "int64_t", "bfloat16": "bfloat16_t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateParameter:
    """`default` None: a value must be given. `allowed` has the values of a choice."""

    name: str
    kind: str
    default: str | None = None
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateFile:
    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorTemplate:
    """`derived` maps a placeholder to its texts by the value of the parameter that its name begins with."""

    id: str
    description: str
    source: Path
    parameters: tuple[TemplateParameter, ...]
    derived: Mapping[str, Mapping[str, str]]
    files: tuple[TemplateFile, ...]
    operator_files: tuple[TemplateFile, ...]


def folder() -> Path:
    """Return the folder of the templates that ship with skrules."""
    return resources.templates() / "ops"


def template_paths(where: Path | None = None) -> dict[str, Path]:
    """Return the files of all templates by id."""
    return {path.stem: path for path in sorted((where or folder()).glob("*.yaml"))}


def load_template(name: str, where: Path | None = None) -> OperatorTemplate:
    """Read one template. Raises UsageError when there is none of that name, or for all that is wrong in its file."""
    paths = template_paths(where)
    if name not in paths:
        raise UsageError(f"there is no template '{name}'", allowed=paths, hint=did_you_mean(name, paths))
    return read_template(paths[name].read_bytes(), paths[name])


def read_template(data: bytes, path: Path) -> OperatorTemplate:
    """Read a template from its text; `path` names it and gives its id."""
    problems = Problems()
    root = read(read_document(path.name, data), TEMPLATE, problems)
    problems.finish()
    assert root is not None
    if root.get("id") != path.stem:
        problems.add(f"the id '{root.get('id')}' is not the name of the file", root.value["id"].at, hint=f"id: {path.stem}")
    parameters = tuple(_parameter(item, problems) for item in root.value["parameters"].value or ())
    derived = {
        name: {value: str(text.value) for value, text in item.value.items()}
        for name, item in (root.value["derived"].value if "derived" in root.value else {}).items()
    }
    for name in derived:
        owner = _owner(name, parameters)
        if owner is None or set(derived[name]) != set(owner.allowed):
            message = f"'{name}' must have a text for every value of the choice that its name begins with"
            problems.add(message, root.value["derived"].value[name].key_at)
    problems.finish()
    return OperatorTemplate(
        id=path.stem,
        description=root.get("description"),
        source=path,
        parameters=parameters,
        derived=derived,
        files=_files(root.get("files")),
        operator_files=_files(root.get("operator_files", [])),
    )


def _parameter(item: Read, problems: Problems) -> TemplateParameter:
    default = item.get("default")
    allowed = tuple(str(value) for value in item.get("allowed", ()))
    kind = item.get("kind")
    if (kind == "choice") != bool(allowed):
        problems.add("a choice, and nothing else, lists its allowed values", item.at)
    elif default is not None and kind == "choice" and str(default) not in allowed:
        problems.add(f"the default '{default}' is not allowed", item.value["default"].at, allowed=allowed)
    return TemplateParameter(name=item.get("name"), kind=kind, default=None if default is None else str(default), allowed=allowed)


def _owner(name: str, parameters: tuple[TemplateParameter, ...]) -> TemplateParameter | None:
    return next((each for each in parameters if each.allowed and name.startswith(f"{each.name}_")), None)


def _files(items: list[dict[str, str]]) -> tuple[TemplateFile, ...]:
    return tuple(TemplateFile(path=item["path"], text=item["template"]) for item in items)


def choose(template: OperatorTemplate, given: Mapping[str, str]) -> dict[str, str]:
    """Return the value of every parameter. Raises UsageError for one that is unknown, missing or not allowed."""
    known = {parameter.name: parameter for parameter in template.parameters}
    for name in given:
        if name not in known:
            what = f"template '{template.id}' has no parameter '{name}'"
            raise UsageError(what, allowed=known or ("none",), hint=did_you_mean(name, known))
    values = {}
    for name, parameter in known.items():
        value = given.get(name, parameter.default)
        if value is None:
            raise UsageError(f"template '{template.id}' needs a value for '{name}'", hint=f"--param {name}=...")
        if parameter.allowed and value not in parameter.allowed:
            hint = did_you_mean(value, parameter.allowed)
            raise UsageError(f"'{value}' is no value of '{name}'", allowed=parameter.allowed, hint=hint)
        if parameter.kind == "int" and not re.fullmatch(r"-?[0-9]{1,18}", value):
            raise UsageError(f"'{name}' takes a whole number, not '{value}'")
        if not value.isprintable():
            raise UsageError(f"the value of '{name}' has control characters")
        values[name] = value
    return values


def render(template: OperatorTemplate, name: str, values: Mapping[str, str], *, operator: bool) -> dict[str, bytes]:
    """Return the files of a new operator called `name` by their paths.

    `operator`: with all that a workspace needs, and the kernel beside the other files instead of in `csrc/`. Placeholders
    that no one gives a value to stay as they are: `$` is a character like others in code.
    """
    if not is_name(name):
        raise UsageError(f"'{name}' cannot name an operator", hint="letters, digits and _, not beginning with a digit")
    words = {"id": name, "Name": _camel(name), **values}
    if "dtype" in values:
        words["ctype"] = _CTYPES.get(values["dtype"], values["dtype"])
    for derived, texts in template.derived.items():
        owner = _owner(derived, template.parameters)
        assert owner is not None
        words[derived] = texts[values[owner.name]].rstrip("\n")
    files: dict[str, bytes] = {}
    for file in (*template.files, *(template.operator_files if operator else ())):
        path = string.Template(file.path).safe_substitute(words)
        if operator:
            path = path.removeprefix("csrc/")
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts or path in files:
            raise UsageError(f"template '{template.id}' writes '{path}', which is no file of the operator, or writes it twice")
        # Twice: what follows from a choice may itself hold placeholders.
        text = string.Template(string.Template(file.text).safe_substitute(words)).safe_substitute(words)
        files[path] = text.encode()
    return files


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
