"""Which shared cache the user's environment names, and with which credentials."""

from __future__ import annotations

import base64
import netrc
from collections.abc import Callable, Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from skrules.engine.remote import Remote
from skrules.errors import Location, UsageError

_SWITCHES = {"": False, "0": False, "1": True}


def remote_from(environ: Mapping[str, str], *, warn: Callable[[str], None] | None = None) -> Remote | None:
    """Return the cache of `SKRULES_REMOTE_CACHE`, or None when that is not set.

    `SKRULES_REMOTE_CACHE_READONLY=1` sends nothing to it. Credentials are those in the address, else those that `$NETRC`
    or `~/.netrc` has for its host; a login of `bearer` there makes the password a bearer token.
    Raises UsageError for a value that is no address or no switch, and for a netrc file that cannot be understood or used.
    """
    readonly = environ.get("SKRULES_REMOTE_CACHE_READONLY", "")
    if readonly not in _SWITCHES:
        raise UsageError(f"SKRULES_REMOTE_CACHE_READONLY={readonly}: not a switch", allowed=("0", "1"))
    url = environ.get("SKRULES_REMOTE_CACHE", "")
    if not url:
        return None
    try:
        parts = urlsplit(url)
        wrong = _what_is_wrong(url, parts)
    except ValueError as error:  # a port that is no number, half a pair of brackets
        wrong = str(error)
    if wrong:
        shown = url.rpartition("@")[2]  # never a password
        raise UsageError(
            f"SKRULES_REMOTE_CACHE: '{shown}' is not an address of a cache: {wrong}",
            allowed=("http://host:port/path", "https://host:port/path"),
        )
    authorization = _authorization(parts, environ)
    return Remote(url, readonly=_SWITCHES[readonly], authorization=authorization, warn=warn)


def _what_is_wrong(url: str, parts: SplitResult) -> str:
    if not url.isascii() or not url.isprintable() or " " in url:
        return "it has characters that an address cannot have"
    if parts.scheme not in ("http", "https"):
        return "it does not begin with http:// or https://"
    if not parts.hostname or parts.port == 0:
        return "it names no host" if not parts.hostname else "it names no port"
    parts.hostname.encode("idna")  # a ValueError for what no host is called: an empty part, or a long one
    if parts.query or parts.fragment:
        return "it has more than a path"
    return ""


def _authorization(parts: SplitResult, environ: Mapping[str, str]) -> str:
    if parts.username is not None:
        return _basic(unquote(parts.username), unquote(parts.password or ""))
    place = environ.get("NETRC") or (f"{environ['HOME']}/.netrc" if environ.get("HOME") else "")
    if not place:
        return ""
    try:
        found = netrc.netrc(place).authenticators(parts.hostname or "")
    except (OSError, UnicodeDecodeError):
        return ""
    except netrc.NetrcParseError as error:
        at = Location(file=str(error.filename), line=error.lineno or 0)
        raise UsageError(f"credentials for the remote cache cannot be read: {error.msg}", at=at) from None
    if found is None:
        return ""
    login, _, password = found
    if login != "bearer":
        return _basic(login, password or "")
    if not password or not password.isascii() or not password.isprintable():
        raise UsageError(f"the bearer token for the remote cache in {place} has characters that no token has, or none")
    return f"Bearer {password}"


def _basic(login: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{login}:{password}".encode()).decode()
