"""What every completed file must be, whatever its kernels do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from types import MappingProxyType

from skrules.adapt.adaptation import AdaptedSource
from skrules.source.code import code_of
from skrules.source.conditions import conditions_of
from skrules.source.evaluation import Macros
from skrules.source.form import SkForm, classify
from skrules.source.kernels import read
from skrules.source.model import SourceUnit
from skrules.source.tokens import tokenize

_OPENS = {"(": ")", "[": "]", "{": "}"}


def check_output(
    source: AdaptedSource, headers: Sequence[SourceUnit] = (), macros: Macros = MappingProxyType({})
) -> Iterator[tuple[str, str]]:
    """Yield (class, detail) for everything that is wrong with an adapted text. `source` must not need a human; `headers` are
    those that it was read with, `macros` those that its contract states."""
    unit = source.unit
    text = source.text()
    original = unit.text.encode("latin-1")
    if _without_fragments(source, text) != original:
        yield "original-changed", "the text without the fragments is not the original"
    for problem in _balance(text.decode("latin-1"), unit.text):
        yield "unbalanced", problem
    adapted = read(text, unit.path, headers=headers, macros=macros)
    if [kernel.qualified_name for kernel in adapted.kernels] != [kernel.qualified_name for kernel in unit.kernels]:
        yield "kernels-changed", "the adapted text has other kernels"
    form = classify(adapted)
    if form.unbound:
        yield "not-bound", ", ".join(form.unbound)
    yield from _bindings(source)
    if source.status == "completed" and not source.entries and unit.kernels:
        yield "not-bound", "no entry"


def _without_fragments(source: AdaptedSource, text: bytes) -> bytes:
    pieces, at, place = [], 0, 0
    for fragment in sorted(source.fragments, key=lambda fragment: (fragment.span.start, fragment.span.end)):
        if fragment.span.start != fragment.span.end:
            return source.unit.text.encode("latin-1")  # a file of hand-written SK code, with names brought up to date
        length = fragment.span.start - at
        pieces.append(text[place : place + length])
        place += length
        inserted = fragment.text.encode("latin-1")
        if text[place : place + len(inserted)] != inserted:
            return b""
        place += len(inserted)
        at = fragment.span.start
    return b"".join([*pieces, text[place:]])


def _balance(text: str, original: str) -> Iterator[str]:
    """Compare what the brackets of a text leave open, along the first branch of every #if, with the original."""
    before, after = _open_brackets(original), _open_brackets(text)
    if before != after:
        yield f"open brackets {dict(after)}, in the original {dict(before)}"


def _open_brackets(text: str) -> Counter[str]:
    code = code_of(tokenize(text))
    conditions = conditions_of(code)
    found: Counter[str] = Counter()
    index = 0
    while index < len(code):
        if index in conditions.groups:
            index = conditions.skip(index)
            continue
        word = code.texts[index]
        if word in _OPENS:
            found[word] += 1
        elif word in _OPENS.values():
            found[{closing: opening for opening, closing in _OPENS.items()}[word]] -= 1
        index += 1
    return Counter({word: count for word, count in found.items() if count})


def _bindings(source: AdaptedSource) -> Iterator[tuple[str, str]]:
    targets = Counter(entry.entry.bind_target for entry in source.entries)
    yield from (("bound-twice", target) for target, count in targets.items() if count > 1)
    by_hand = classify(source.unit).form is SkForm.CURRENT_SK_BIND
    if source.status == "completed" and source.entries and not by_hand:
        code = code_of(token for fragment in source.fragments for token in tokenize(fragment.text))
        binds = sum(text == "SK_BIND" for text in code.texts)
        wanted = len(source.entries)
        if binds < wanted:
            yield "not-bound", f"{binds} SK_BIND for {wanted} entries"
