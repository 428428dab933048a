"""The reference pages of contract and cases files, from the tables that their reader goes by."""

from __future__ import annotations

from collections.abc import Iterator

from skrules.contract.schema import ListOf, MapOf, OneOf, Table, Type, describe


def render_manual(title: str, introduction: str, schema: Table) -> str:
    """Return a Markdown page with every key of `schema`, its type and its meaning, nested keys as `outer.inner`.

    `<name>` stands for a key that the author chooses, `[]` for an item of a list.
    """
    lines = [f"# {title}", "", introduction, "", "| key | value | meaning |", "| --- | --- | --- |"]
    lines += [f"| `{path}` | {_cell(kind)} | {_cell(doc)} |" for path, kind, doc in _rows(schema, "")]
    return "\n".join([*lines, ""])


def _rows(schema: Table, prefix: str) -> Iterator[tuple[str, str, str]]:
    for key in schema.keys:
        path = prefix + key.name
        yield path, describe(key.type), key.doc + ("; required" if key.required else "")
        yield from _below(key.type, path)


def _below(schema: Type, path: str) -> Iterator[tuple[str, str, str]]:
    match schema:
        case Table():
            yield from _rows(schema, path + ".")
        case ListOf():
            yield from _below(schema.item, path + "[]")
        case MapOf():
            yield from _below(schema.value, f"{path}.<{schema.noun.removeprefix('a ').removeprefix('an ')}>")
        case OneOf():
            for form in schema.forms:
                yield from _below(form, path)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
