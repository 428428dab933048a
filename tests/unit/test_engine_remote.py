"""The step cache behind HTTP: shared by machines, believed in nothing, given up when it costs more than it saves."""

from __future__ import annotations

import base64
import hashlib
import os
import pwd
import re
import shutil
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from skrules.engine.action_result import unwrap, wrap
from skrules.engine.cache import StepCache
from skrules.engine.entries import Blob, Variant, decode, encode
from skrules.engine.remote import Patience, Remote
from skrules.engine.remote_settings import remote_from
from skrules.errors import UsageError

ROOT = Path(__file__).parents[2]
KEY = hashlib.sha256(b"one step").hexdigest()
OUTPUTS = ("out/a.o", "out/b.d")
SHORT = Patience(answer=0.2)


class Server:
    """A cache server in this process. `answer`, when set, is called for every request and may answer it itself."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.log: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.answer = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                outer.connections += 1
                super().setup()

            def do_GET(self):
                self._note()
                if not (outer.answer and outer.answer(self)):
                    data = outer.files.get(self.path)
                    self.reply(404 if data is None else 200, data or b"")

            def do_PUT(self):
                self._note()
                if not (outer.answer and outer.answer(self)):
                    outer.files[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
                    self.reply(201, b"")

            def _note(self):
                outer.log.append(f"{self.command} {self.path}")
                outer.headers.append(dict(self.headers))

            def reply(self, status, data, **headers):
                self.send_response(status)
                self.send_header("Content-Length", headers.pop("length", str(len(data))))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, request, client_address):
                pass  # a client that hung up is what some tests are about

        self._server = Quiet(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/team"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server():
    made = Server()
    yield made
    made.close()


@pytest.fixture
def said():
    return []


@pytest.fixture
def machine(server, said, tmp_path):
    """Make the cache of one machine more, with a workspace of its own that has a header and outputs."""
    made = []

    def make(url=None, *, warn=said.append, patience=None, readonly=False, authorization=""):
        remote = Remote(url or server.url, warn=warn, patience=patience, readonly=readonly, authorization=authorization)
        folder = tmp_path / str(len(made))
        store = StepCache(folder / "cache", remote=remote, warn=pytest.fail)
        made.append(store)
        root = folder / "workspace"
        for name, text in (("a.h", "header"), ("out/a.o", "A" * 5000), ("out/b.d", "b")):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        (root / "out/a.o").chmod(0o755)
        return store, root

    yield make
    for store in made:
        store.remote.close()


def digest_in(root):
    return lambda path: hashlib.sha256((root / path).read_bytes()).hexdigest() if (root / path).is_file() else ""


def find(store, root, key=KEY):
    return store.find(key, OUTPUTS, digest_in(root), lambda _: ())


def keep(store, root, key=KEY):
    store.store(key, root, OUTPUTS, {"a.h": digest_in(root)("a.h")})
    store.remote.close()


def made_in(root):
    return {path: (root / path).read_text() for path in OUTPUTS if (root / path).exists()}


def wipe(root):
    made = made_in(root)
    for path in OUTPUTS:
        (root / path).unlink(missing_ok=True)
    return made


def test_what_one_machine_made_another_takes(server, machine, said):
    keep(*machine())
    assert sorted(path.split("/")[2] for path in server.files) == ["ac", "cas", "cas"]
    store, root = machine()
    made = wipe(root)
    found = find(store, root)
    assert found.source == "remote"
    assert store.restore(found, root)
    assert made_in(root) == made
    assert (root / "out/a.o").stat().st_mode & 0o100
    server.log.clear()
    found = find(store, root)
    assert found.source == "local", "what was fetched is kept"
    assert store.restore(found, root)
    assert server.log == []
    assert said == []


def test_contents_are_sent_before_the_entry_that_names_them(server, machine):
    keep(*machine())
    assert [line.split("/")[2] for line in server.log] == ["cas", "cas", "ac", "ac"]
    assert server.log[-2:] == [f"GET /team/ac/{KEY}", f"PUT /team/ac/{KEY}"]


def test_connections_are_used_again(server, machine):
    store, root = machine()
    for number in range(30):
        assert find(store, root, hashlib.sha256(str(number).encode()).hexdigest()) is None
    assert len(server.log) == 30
    assert server.connections == 1


def test_a_connection_that_the_server_closed_meanwhile_is_no_failure(server, machine, said):
    server.answer = lambda handler: setattr(handler, "close_connection", True)
    store, root = machine()
    for number in range(10):
        assert find(store, root, hashlib.sha256(str(number).encode()).hexdigest()) is None
    assert len(server.log) == server.connections == 10
    assert said == []


def test_another_header_on_another_machine_is_a_variant_of_one_entry(server, machine):
    keep(*machine())
    store, root = machine()
    (root / "a.h").write_text("other header")
    assert find(store, root) is None
    keep(store, root)
    assert len(decode(KEY, unwrap(server.files[f"/team/ac/{KEY}"]))) == 2
    store, root = machine()
    assert find(store, root) is not None


def test_the_same_result_is_not_entered_again(server, machine):
    keep(*machine())
    server.log.clear()
    keep(*machine())
    assert f"PUT /team/ac/{KEY}" not in server.log


def test_readonly_sends_nothing(server, machine):
    store, root = machine(readonly=True)
    keep(store, root)
    assert server.log == []
    keep(*machine())
    store, root = machine(readonly=True)
    assert store.restore(find(store, root), root)


def test_a_damaged_local_content_is_fetched_anew(server, machine):
    store, root = machine()
    keep(store, root)
    made = wipe(root)
    for place in (store.folder / "cas").glob("*/*"):
        place.chmod(0o644)
        place.write_bytes(b"x")
    found = find(store, root)
    assert found.source == "local"
    assert store.restore(found, root)
    assert made_in(root) == made
    server.files.clear()
    wipe(root)
    assert store.restore(find(store, root), root), "and kept"


@pytest.mark.parametrize("damage", [b"", b"x", b"A" * 4999, b"A" * 4999 + b"B", b"A" * 5001, b"A" * 9_000_000])
def test_a_wrong_content_from_the_server_is_never_used(server, machine, damage, said):
    keep(*machine())
    path = f"/team/cas/{hashlib.sha256(b'A' * 5000).hexdigest()}"
    assert path in server.files
    server.files[path] = damage
    store, root = machine()
    made = wipe(root)
    assert not store.restore(find(store, root), root)
    assert made_in(root) == {}
    assert not any(root.rglob("*.tmp"))
    # The step runs, and its result mends the server.
    for name, text in made.items():
        (root / name).write_text(text)
    (root / "out/a.o").chmod(0o755)
    keep(store, root)
    store, root = machine()
    assert store.restore(find(store, root), root)
    assert said == []


@pytest.mark.parametrize(
    "kept", [b"", b"\n", b"<html>Please log in</html>", wrap(b""), wrap(b"x" * 300), b"\x2a", b"\x2a\xff\x01", b"\xff" * 20]
)
def test_garbage_for_an_entry_is_a_miss_and_soon_the_end(server, machine, kept, said):
    server.files[f"/team/ac/{KEY}"] = kept
    store, root = machine()
    for _ in range(5):
        assert find(store, root) is None
    assert len(server.log) == 3
    assert len(said) == 1
    assert "is not used any more in this build" in said[0]


def test_an_entry_of_another_key_is_refused(server, machine):
    keep(*machine())
    other = hashlib.sha256(b"other").hexdigest()
    server.files[f"/team/ac/{other}"] = server.files[f"/team/ac/{KEY}"]
    store, root = machine()
    assert find(store, root, other) is None


def test_a_content_that_is_gone_is_a_miss(server, machine, said):
    keep(*machine())
    for path in [path for path in server.files if "/cas/" in path]:
        del server.files[path]
    store, root = machine()
    for _ in range(5):
        assert not store.restore(find(store, root), root)
    assert said == []


@pytest.mark.parametrize("status", [301, 400, 401, 403, 429, 500, 502, 503])
def test_a_server_that_only_fails_is_given_up(server, machine, status, said):
    server.answer = lambda handler: handler.reply(status, b"no", Location="http://127.0.0.1:1/") or True
    store, root = machine()
    for _ in range(6):
        assert find(store, root) is None
    keep(store, root)
    assert len(server.log) == 3
    assert len(said) == 1
    assert str(status) in said[0]
    assert server.url in said[0]


def test_failures_between_successes_are_borne(server, machine, said):
    keep(*machine())
    server.log.clear()
    server.answer = lambda handler: bool(len(server.log) % 3) and (handler.reply(500, b"") or True)
    store, root = machine()
    found = [find(store, root) is not None for _ in range(12)]
    assert found == [False, False, True] * 4
    assert said == []


def test_a_dead_server_costs_little(machine, said):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        store, root = machine(f"http://127.0.0.1:{taken.getsockname()[1]}")
        begun = time.monotonic()
        for _ in range(50):
            assert find(store, root) is None
        keep(store, root)
        assert time.monotonic() - begun < 10
    assert len(said) == 1
    assert "refused" in said[0]
    assert find(store, root) is not None, "the local cache goes on"


def slow_header(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(40):
        handler.wfile.write(b"X: y\r\n")
        handler.wfile.flush()
        time.sleep(0.05)
    return True


def slow_body(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(40):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.05)
    return True


def silent(handler):
    time.sleep(2.0)
    handler.close_connection = True
    return True


@pytest.mark.parametrize("answer", [slow_header, slow_body, silent])
def test_a_slow_server_is_given_up(server, machine, answer, said):
    server.answer = answer
    store, root = machine(patience=SHORT)
    begun = time.monotonic()
    for _ in range(20):
        assert find(store, root) is None
    assert time.monotonic() - begun < 3, "three times 0.2 s, not twenty times"
    assert len(said) == 1
    assert "no answer in" in said[0]


def test_a_server_that_hangs_on_what_is_sent_holds_no_build(server, machine, said):
    server.answer = lambda handler: handler.command == "PUT" and silent(handler)
    store, root = machine(patience=Patience(answer=30.0, flush=0.2))
    begun = time.monotonic()
    store.store(KEY, root, OUTPUTS, {})
    assert time.monotonic() - begun < 0.9, "sending does not hold the step"
    store.close()
    assert time.monotonic() - begun < 1.8
    assert len(said) == 1
    assert "not everything could be sent in 0.2 s" in said[0]


@pytest.mark.parametrize("status", [401, 403, 405])
def test_a_server_that_takes_nothing_is_still_asked(server, machine, status, said):
    keep(*machine())

    def answer(handler):
        if handler.command == "PUT":
            handler.rfile.read(int(handler.headers["Content-Length"]))
            handler.reply(status, b"")
        return handler.command == "PUT"

    server.answer = answer
    store, root = machine()
    for number in range(5):
        store.store(hashlib.sha256(str(number).encode()).hexdigest(), root, OUTPUTS, {})
    store.remote.close()
    assert len(said) == 1
    assert str(status) in said[0]
    assert find(store, root) is not None


def test_a_file_that_is_too_large_for_the_server_is_left_out(server, machine, said):
    def answer(handler):
        if handler.command != "PUT" or int(handler.headers["Content-Length"]) < 1_000_000:
            return False
        handler.close_connection = True  # says so and hangs up, as nginx does
        handler.reply(413, b"", Connection="close")
        return True

    server.answer = answer
    store, root = machine()
    (root / "out/a.o").write_bytes(os.urandom(20_000_000))
    for number in range(5):
        store.store(hashlib.sha256(str(number).encode()).hexdigest(), root, OUTPUTS, {})
    keep(store, root)
    assert not any("/ac/" in path for path in server.files)
    (root / "out/a.o").write_text("small")
    keep(store, root)
    assert f"/team/ac/{KEY}" in server.files
    assert len(said) == 1
    assert "20000000 bytes" in said[0]


def test_many_threads(server, machine, said):
    keep(*machine())
    store, root = machine()
    wrong = []

    def work(number):
        key = hashlib.sha256(str(number % 3).encode()).hexdigest()
        for _ in range(10):
            if find(store, root) is None:
                wrong.append("miss")
            store.store(key, root, OUTPUTS, {})
            found = find(store, root, key)
            if found is None:
                wrong.append("stored and not found")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    assert wrong == said == []
    assert sum("/ac/" in path for path in server.files) == 4


def test_credentials_are_sent_and_never_said(server, said):
    server.answer = lambda handler: handler.reply(500, b"") or True
    url = server.url.replace("//", "//me:s%40cret@")
    remote = remote_from({"SKRULES_REMOTE_CACHE": url}, warn=said.append)
    for _ in range(3):
        assert remote.variants(KEY) == ()
    assert server.headers[0]["Authorization"] == "Basic " + base64.b64encode(b"me:s@cret").decode()
    assert len(said) == 1
    assert "cret" not in said[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("machine 127.0.0.1 login bearer password tok", "Bearer tok"),
        ("machine 127.0.0.1 login me password pw", "Basic " + base64.b64encode(b"me:pw").decode()),
        ("machine elsewhere login me password pw", None),
    ],
)
def test_credentials_of_netrc(server, tmp_path, text, expected):
    (tmp_path / ".netrc").write_text(text + "\n")
    (tmp_path / ".netrc").chmod(0o600)
    remote_from({"SKRULES_REMOTE_CACHE": server.url, "HOME": str(tmp_path)}).variants(KEY)
    assert server.headers[0].get("Authorization") == expected


def test_a_netrc_that_cannot_be_understood(tmp_path):
    (tmp_path / "netrc").write_text("machine x login y password z\nbogus\n")
    with pytest.raises(UsageError, match=r"netrc:\d"):
        remote_from({"SKRULES_REMOTE_CACHE": "http://host", "NETRC": str(tmp_path / "netrc")})
    assert remote_from({"NETRC": str(tmp_path / "netrc")}) is None
    assert remote_from({"SKRULES_REMOTE_CACHE": "http://host", "NETRC": str(tmp_path / "none")}) is not None


@pytest.mark.parametrize(
    "url",
    ["host:80", "ftp://host", "http://", "http:///path", "http://host:port", "http://host:99999", "http://host:0", "http://[::1",
     "http://ho st", "http://host/\n", "http://host?a=b", "http://host#a", "/folder", "http://hüst", "http://u:secret@host:x/",
     "http://a..b/x", f"http://{'a' * 64}/x"],
)  # fmt: skip
def test_addresses_that_are_none(url):
    with pytest.raises(UsageError, match="is not an address of a cache: ") as error:
        remote_from({"SKRULES_REMOTE_CACHE": url})
    assert "secret" not in str(error.value)
    assert "http://host:port/path" in str(error.value)


def test_settings():
    assert remote_from({}) is None
    assert remote_from({"SKRULES_REMOTE_CACHE": ""}) is None
    assert not remote_from({"SKRULES_REMOTE_CACHE": "http://[::1]:80/a/", "SKRULES_REMOTE_CACHE_READONLY": "0"}).readonly
    assert remote_from({"SKRULES_REMOTE_CACHE": "https://host", "SKRULES_REMOTE_CACHE_READONLY": "1"}).readonly
    with pytest.raises(UsageError, match="not a switch"):
        remote_from({"SKRULES_REMOTE_CACHE_READONLY": "yes"})


def test_the_message_is_one_that_servers_may_write_anew():
    # Fields before and after, of every wire type, as a server that adds what it knows would write them.
    before = b"\x20\x01" + b"\x12\x02ab"
    after = b"\x4a\x0b\x0a\x09127.0.0.1" + b"\x51" + b"12345678" + b"\x5d" + b"1234"
    for size in (0, 1, 127, 128, 300, 70_000):
        data = os.urandom(size)
        assert unwrap(wrap(data)) == data
        assert unwrap(before + wrap(data) + after) == data
    assert unwrap(before + after) is None
    assert unwrap(b"") is None
    for cut in range(1, 303):
        assert unwrap(wrap(b"x" * 300)[:cut]) is None
    assert unwrap(b"\x2b" + b"x") is None  # a group
    assert unwrap(b"\xff" * 11) is None
    assert wrap(b"abc") == b"\x2a\x03abc"


def nginx_configuration() -> str:
    """Return the configuration that the guide shows."""
    text = (ROOT / "docs" / "caching.md").read_text()
    return re.search(r"```nginx\n(.*?)```", text, re.DOTALL)[1]


@pytest.mark.skipif(not shutil.which(os.environ.get("NGINX", "nginx")), reason="needs nginx")
def test_nginx_as_the_guide_sets_it_up(tmp_path, machine, said):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = nginx_configuration().replace("listen 8080", f"listen 127.0.0.1:{port}").replace("/srv/skrules", f"{tmp_path}/srv")
    assert f"127.0.0.1:{port}" in server
    assert f"{tmp_path}/srv" in server
    (tmp_path / "srv").mkdir()
    user = pwd.getpwuid(os.getuid()).pw_name  # else workers of a root's nginx are a user who may not enter here
    temporary = "\n".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in ("fastcgi", "proxy", "scgi", "uwsgi"))
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; user {user}; pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}}\n"
        f"http {{ access_log {tmp_path}/access.log; {temporary}\n{server}}}\n"
    )
    nginx = shutil.which(os.environ.get("NGINX", "nginx"))
    process = subprocess.Popen([nginx, "-p", tmp_path, "-e", tmp_path / "error.log", "-c", tmp_path / "nginx.conf"])
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        url = f"http://127.0.0.1:{port}/skrules"
        store, root = machine(url)
        (root / "out/a.o").write_bytes(os.urandom(8_000_000))
        (root / "out/a.o").chmod(0o755)
        expected = (root / "out/a.o").read_bytes()
        keep(store, root)
        store, root = machine(url)
        found = find(store, root)
        assert found is not None, (tmp_path / "error.log").read_text()
        assert store.restore(found, root)
        assert (root / "out/a.o").read_bytes() == expected
        (place,) = (tmp_path / "srv").rglob(KEY)
        place.write_bytes(b"garbage")
        store, root = machine(url)
        assert find(store, root) is None
        assert said == []
    finally:
        process.terminate()
        process.wait(10)


def test_a_variant_goes_through_a_message():
    variant = Variant(found={"a.h": "1" * 40}, outputs={"o": Blob(digest="0" * 64, size=3)})
    assert decode(KEY, unwrap(wrap(encode(KEY, [variant])))) == (variant,)


@pytest.mark.parametrize("token", ["t\u00f6ken", "\u4ee4\u724c"])
def test_a_token_that_no_header_can_have(tmp_path, token):
    (tmp_path / "netrc").write_text(f"machine host login bearer password {token}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="bearer token") as error:
        remote_from({"SKRULES_REMOTE_CACHE": "http://host", "NETRC": str(tmp_path / "netrc")})
    assert token not in str(error.value)
