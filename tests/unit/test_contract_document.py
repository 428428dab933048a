from __future__ import annotations

import pytest
import yaml

from skrules.contract.document import read_document
from skrules.contract.tree import Node
from skrules.errors import UsageError


def _plain(node: Node) -> object:
    if isinstance(node.value, tuple):
        return [_plain(item) for item in node.value]
    return {key: _plain(item) for key, item in node.value.items()} if hasattr(node.value, "items") else node.value


def _failure(data: bytes, path: str = "c.yaml") -> str:
    with pytest.raises(UsageError) as caught:
        read_document(path, data)
    assert caught.value.at is not None
    return str(caught.value)


@pytest.fixture(params=["libyaml", "python"])
def _any_loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "python":
        monkeypatch.setattr(yaml, "CSafeLoader", yaml.SafeLoader, raising=False)


@pytest.mark.usefixtures("_any_loader")
class TestYaml:
    def test_positions_of_keys_and_values(self) -> None:
        root = read_document("c.yaml", b"a: 1\nlong:\n  - x\n  - {y: 2}\n")
        assert (root.keys["long"].line, root.keys["long"].column) == (2, 1)
        items = root.value["long"].value  # type: ignore[index,call-overload]
        assert [(item.at.line, item.at.column) for item in items] == [(3, 5), (4, 5)]
        assert (items[1].value["y"].at.line, items[1].value["y"].at.column) == (4, 9)

    @pytest.mark.parametrize(
        ("word", "value"),
        [
            ("1", 1),
            ("-7", -7),
            ("0x1F", 31),
            ("1.5", 1.5),
            ("1e3", 1000.0),
            (".5", 0.5),
            ("true", True),
            ("null", None),
            ("~", None),
            ("", None),
            ("yes", "yes"),
            ("y", "y"),
            ("010", "010"),
            ("1_000", "1_000"),
            ("12:30:45", "12:30:45"),
            ("2020-01-01", "2020-01-01"),
            ("'8'", "8"),
            ('"true"', "true"),
            (".inf", float("inf")),
        ],
    )
    def test_plain_scalars_follow_the_core_schema(self, word: str, value: object) -> None:
        found = _plain(read_document("c.yaml", f"k: {word}\n".encode()))
        assert found == {"k": value} and type(found["k"]) is type(value)  # type: ignore[index]

    def test_nan(self) -> None:
        value = read_document("c.yaml", b"k: .nan").value["k"].value  # type: ignore[index,call-overload]
        assert value != value

    @pytest.mark.parametrize(
        ("text", "place", "message"),
        [
            ("a: 1\nb: 2\na: 3\n", "c.yaml:3:1", "key 'a' appears twice, first in line 1"),
            ("a: &x 1\n", "c.yaml:1:4", "anchors and aliases"),
            ("a: 1\nb: *x\n", "c.yaml:2:4", "anchors and aliases"),
            ("a: 1\n<<: {b: 1}\n", "c.yaml:2:1", "merge keys"),
            ("a: !!str 1\n", "c.yaml:1:4", "tag"),
            ("a: !!map {b: 1}\n", "c.yaml:1:4", "tag"),
            ("a: 1\n---\nb: 2\n", "c.yaml:2:1", "second document"),
            ("- 1\n", "c.yaml:1:1", "must hold a mapping, not a list"),
            ("", "c.yaml:1:1", "not nothing"),
            ("# only a comment\n", "c.yaml:1:1", "not nothing"),
            ("just text\n", "c.yaml:1:1", "not the text 'just text'"),
            ("a:\n  1: x\n", "c.yaml:2:3", "a key must be text"),
            ("? [a]\n: b\n", "c.yaml:1:3", "not a collection"),
            ("a: b: c\n", "c.yaml:1:5", "not YAML"),
            ("a:\n\t- b\n", "c.yaml:2:1", "blanks, not with tabs"),
            ("a: 1e999\n", "c.yaml:1:4", "too large"),
            ("a: " + "9" * 5000 + "\n", "c.yaml:1:4", "5000 characters"),
            ("a: \x01\n", "c.yaml:1:4", "control character U+0001"),
        ],
    )
    def test_what_is_refused_and_where(self, text: str, place: str, message: str) -> None:
        assert f"{place}: " in _failure(text.encode()) and message in _failure(text.encode())

    def test_depth_is_limited(self) -> None:
        assert "nest" in _failure(b"a: " + b"[" * 100_000)
        assert "deeper than 32" in _failure(b"a: " + b"[" * 40 + b"]" * 40)

    def test_column_counts_characters_after_a_bom(self) -> None:
        at = read_document("c.yaml", "\ufeffé: 1\n".encode()).value["é"].at  # type: ignore[index,call-overload]
        assert (at.line, at.column) == (1, 4)


class TestJson:
    def test_tabs_and_escapes(self) -> None:
        text = '{\n\t"a": [1, -2.5e1, true, false, null, "\\u00e9\\n\\ud83d\\ude00"],\n\t"b": {}\n}'
        assert _plain(read_document("c.json", text.encode())) == {"a": [1, -25.0, True, False, None, "é\n😀"], "b": {}}

    def test_json_is_recognised_by_content(self) -> None:
        root = read_document("contract", b'{\n\t"a":\t[1]}')
        assert (root.keys["a"].line, root.keys["a"].column) == (2, 2)

    def test_flow_yaml_is_no_broken_json(self) -> None:
        assert _plain(read_document("c.yaml", b"{a: b, c: [1]}")) == {"a": "b", "c": [1]}

    def test_the_reading_that_got_further_is_reported(self) -> None:
        assert "c.yaml:1:17: not YAML" in _failure(b"{a: b, c: [1,2,3}")

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ('{"a": 1,}', "1:9"),
            ('{"a": [1,]}', "1:10"),
            ('{"a": 01}', "1:7"),
            ('{"a": NaN}', "1:7"),
            ('{"a" 1}', "1:6"),
            ('{"a": 1} x', "1:10"),
            ('{"a": 1', "1:8"),
            ('{"a": ]}', "1:7"),
            ('{"a": (1)}', "1:7"),
            ("{a: 1}", "1:2"),
            ('{"a": 1, "a": 2}', "1:10"),
            ('{"a": "\\ud800"}', "1:7"),
            ('{"a": "\\x"}', "1:7"),
            ('{"a": "x\ny"}', "1:7"),
            ('{"a": "x\ty"}', "1:7"),
            ('"x"', "1:1"),
            ("", "1:1"),
            ('{"a":\n // c\n1}', "2:2"),
        ],
    )
    def test_what_is_refused_and_where(self, text: str, place: str) -> None:
        assert f"error: c.json:{place}: " in _failure(text.encode(), "c.json")

    def test_depth_is_limited(self) -> None:
        assert "c.json:1:38: nested deeper than 32" in _failure(b'{"a": ' + b"[" * 100_000, "c.json")


def test_other_encodings_are_refused_with_their_place() -> None:
    assert "c.yaml:2:4: byte 0xff is not UTF-8" in _failure(b"a: 1\nb: \xff\n")
    assert "c.yaml:1:1: byte 0xff" in _failure("a: 1".encode("utf-16"))


def test_size_is_limited() -> None:
    assert "more than 1048576" in _failure(b"a: 1\n" + b"#" * (1 << 20))
