"""What a C++ parameter type means for the caller: tensor, scalar, or a struct that only the author can explain.

Types are judged by their tokens, never by parts of words: `PointCfg` is no `int`. Types that the file itself defines
(enum, struct, alias) are looked up in it; a name that it does not define is left to the contract.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from skrules.contract.dtypes import SCALAR_TYPES
from skrules.contract.model import ParameterKind
from skrules.source.model import Parameter, SourceUnit, TokenKind

_TOKEN = re.compile(r"[A-Za-z_]\w*|[0-9](?:[\w.']|[eEpP][+-])*|::|\.\.\.|[^\s\w]")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")
_NOISE = frozenset(
    {"const", "volatile", "struct", "class", "enum", "union", "typename", "register", "__restrict__", "__restrict", "restrict"}
)
_ARITHMETIC = frozenset({"signed", "unsigned", "short", "long", "int", "char"})
_OPEN = {"<": ">", "(": ")", "[": "]", "{": "}"}
_MAX_ALIASES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """`kind` None: a named type that the file does not define. `dtype` is the encoding of a scalar; `spelled` tells
    whether the type itself says it, as `uint32_t` does and an enum does not."""

    kind: ParameterKind | None
    dtype: str = ""
    spelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """Types a file defines: enums with their underlying type, structs, and aliases, by plain name."""

    enums: Mapping[str, str]
    structs: frozenset[str]
    aliases: Mapping[str, str]


NO_DEFINITIONS = Definitions(enums=MappingProxyType({}), structs=frozenset(), aliases=MappingProxyType({}))


def split_type(text: str) -> list[str]:
    """Return the tokens of a type."""
    return _TOKEN.findall(text)


def join_tokens(tokens: Iterable[str]) -> str:
    """Write tokens with blanks only where two words meet, so that equal types give equal text."""
    result = ""
    for token in tokens:
        gap = result and (result[-1].isalnum() or result[-1] == "_") and (token[0].isalnum() or token[0] == "_")
        result += f" {token}" if gap else token
    return result


def substitute(text: str, arguments: Mapping[str, str]) -> str:
    """Replace template parameters in a type as whole tokens; members (`Traits::T`) are not parameters."""
    if not arguments:
        return text

    def replace(match: re.Match[str]) -> str:
        before = match.string[: match.start()].rstrip()
        return match[0] if before.endswith(("::", ".", "->")) else arguments.get(match[0], match[0])

    return re.sub(r"(?<!\w)[A-Za-z_]\w*", replace, text)


def c_type(parameter: Parameter, arguments: Mapping[str, str]) -> str:
    """Return the type a parameter really has: template arguments put in, arrays decayed to pointers."""
    text = substitute(parameter.type, arguments)
    if not parameter.array:
        return text
    inner = parameter.array[parameter.array.index("]") + 1 :].strip() if "]" in parameter.array else ""
    return f"{text} (*){inner}" if inner else f"{text} *"


def explain(type_text: str, definitions: Definitions) -> Meaning:
    """Tell what a resolved type means. `GM_ADDR`, `__gm__` and pointers are tensors."""
    tokens = split_type(type_text)
    for depth in range(_MAX_ALIASES):
        flat = _outside_brackets(tokens)
        if "*" in flat or "GM_ADDR" in flat or "__gm__" in flat:
            return Meaning(kind=ParameterKind.TENSOR)
        words = [token for token in tokens if token not in _NOISE and token != "&"]
        if dtype := scalar_dtype(join_tokens(words)):
            return Meaning(kind=ParameterKind.SCALAR, dtype=dtype, spelled=depth == 0)
        name = _plain_name(words)
        if name in definitions.enums:
            underlying = definitions.enums[name]
            return Meaning(kind=ParameterKind.SCALAR, dtype=scalar_dtype(underlying))
        if name in definitions.aliases:
            tokens = split_type(definitions.aliases[name])
            continue
        return Meaning(kind=ParameterKind.HOST_STRUCT if name in definitions.structs else None)
    return Meaning(kind=None)  # aliases that lead in a circle


def scalar_dtype(type_text: str) -> str:
    """Return the encoding of a built-in scalar type as a dtype name, or "" for any other type."""
    tokens = [token for token in split_type(type_text) if token not in _NOISE and token != "&"]
    while len(tokens) > 1 and (tokens[0] == "::" or (tokens[0] in ("std", "AscendC") and tokens[1] == "::")):
        tokens = tokens[1:]
    if len(tokens) == 1 and tokens[0] in SCALAR_TYPES:
        return SCALAR_TYPES[tokens[0]]
    if not tokens or not set(tokens) <= _ARITHMETIC:
        return ""
    size = 8 if "char" in tokens else 16 if "short" in tokens else 64 if "long" in tokens else 32
    return f"uint{size}" if "unsigned" in tokens else f"int{size}"


def _outside_brackets(tokens: list[str]) -> list[str]:
    """The tokens outside `<...>`: a pointer inside template arguments does not make a pointer of the type."""
    depth = 0
    flat = []
    for token in tokens:
        depth -= token == ">"
        if depth <= 0:
            flat.append(token)
        depth += token == "<"
    return flat


def _plain_name(words: list[str]) -> str:
    """`ns::Mode` -> "Mode"; "" for what is not a plain, possibly qualified name."""
    named = words[-1:] if all(word == "::" or _IDENTIFIER.match(word) for word in words) else []
    plural = any(_IDENTIFIER.match(a) and _IDENTIFIER.match(b) for a, b in itertools.pairwise(words))
    return named[0] if named and not plural else ""


def collect_definitions(unit: SourceUnit) -> Definitions:
    """Find the enums, structs and aliases that a file defines, in any scope.

    A name that is defined twice with different meanings (`#if` branches, scopes) is left out: it would be a guess.
    """
    full = unit.code
    code = [text for text, token in zip(full.texts, full.tokens, strict=True) if token.kind is not TokenKind.DIRECTIVE]
    found: dict[str, set[tuple[str, str]]] = {}
    for index, text in enumerate(code):
        if text in _FORMS:
            definition = _FORMS[text](code, index)
            if definition is not None:
                name, what, meaning = definition
                found.setdefault(name, set()).add((what, meaning))
    sure = {name: next(iter(meanings)) for name, meanings in found.items() if len(meanings) == 1}
    return Definitions(
        enums={name: text for name, (what, text) in sure.items() if what == "enum"},
        structs=frozenset(name for name, (what, _) in sure.items() if what == "struct"),
        aliases={name: text for name, (what, text) in sure.items() if what == "alias"},
    )


def _enum(code: list[str], index: int) -> tuple[str, str, str] | None:
    at = index + 1
    if _text(code, at) in ("class", "struct"):
        at += 1
    name, at = _text(code, at), at + 1
    if not _IDENTIFIER.match(name):
        return None
    underlying = []
    if _text(code, at) == ":":
        at += 1
        while _text(code, at) not in ("{", ";", ""):
            underlying.append(_text(code, at))
            at += 1
    return (name, "enum", join_tokens(underlying) or "int") if _text(code, at) == "{" else None


def _struct(code: list[str], index: int) -> tuple[str, str, str] | None:
    if _text(code, index - 1) in ("enum", "<", ",", "typename"):  # `enum class X`, `template <class T>`
        return None
    at = index + 1
    name = ""
    while (text := _text(code, at)) not in ("{", ":", ";", ")", ">", ",", "=", ""):
        if text == "(":  # alignas(8), __attribute__((...))
            at = _past_group(code, at)
            continue
        name = text if _IDENTIFIER.match(text) and text != "final" else name
        at += 1
    return (name, "struct", "") if name and _text(code, at) in ("{", ":") else None


def _using(code: list[str], index: int) -> tuple[str, str, str] | None:
    name = _text(code, index + 1)
    if not _IDENTIFIER.match(name) or _text(code, index + 2) != "=" or _text(code, index - 1) == ">":
        return None  # a using-declaration, or an alias template
    return name, "alias", join_tokens(_until_semicolon(code, index + 3))


def _typedef(code: list[str], index: int) -> tuple[str, str, str] | None:
    words = _until_semicolon(code, index + 1)
    if "{" in words:
        # `typedef struct Tag { ... } Name;`
        name = words[-1] if words and words[0] in ("struct", "union") and words[-2] == "}" else ""
        return (name, "struct", "") if _IDENTIFIER.match(name) else None
    if len(words) < 2 or not _IDENTIFIER.match(words[-1]) or "(" in words:
        return None
    return words[-1], "alias", join_tokens(words[:-1])


_FORMS = {"enum": _enum, "struct": _struct, "class": _struct, "union": _struct, "using": _using, "typedef": _typedef}


def _text(code: list[str], index: int) -> str:
    return code[index] if 0 <= index < len(code) else ""


def _past_group(code: list[str], at: int) -> int:
    depth = 0
    while at < len(code):
        depth += (code[at] == "(") - (code[at] == ")")
        at += 1
        if depth == 0:
            break
    return at


def _until_semicolon(code: list[str], at: int) -> list[str]:
    words: list[str] = []
    depth = 0
    while at < len(code) and not (depth == 0 and code[at] == ";"):
        depth += (code[at] in ("{", "(")) - (code[at] in ("}", ")"))
        words.append(code[at])
        at += 1
    return words


def split_arguments(text: str) -> list[str] | None:
    """Split the text between `<` and `>` at its outer commas; None when its brackets do not match."""
    parts: list[list[str]] = [[]]
    open_: list[str] = []
    for token in split_type(text):
        # Inside parentheses `<` and `>` compare; outside they are brackets.
        is_angle = token in "<>" and bool(open_) and open_[-1] == ")"
        if token in _OPEN and not is_angle:
            open_.append(_OPEN[token])
        elif token in (">", ")", "]", "}") and not is_angle and (not open_ or open_.pop() != token):
            return None
        if token == "," and not open_:
            parts.append([])
        else:
            parts[-1].append(token)
    if open_:
        return None
    return [] if parts == [[]] else [join_tokens(part) for part in parts]
