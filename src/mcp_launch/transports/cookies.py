"""The cookies that can be sent back: another one would fail every request that follows."""

from __future__ import annotations

from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from urllib.request import Request

__all__ = ["cookie_jar"]


def cookie_jar() -> CookieJar:
    """A jar that keeps no cookie which is not ASCII: neither library writes it."""
    return CookieJar(_Ascii())


class _Ascii(DefaultCookiePolicy):
    def set_ok(self, cookie: Cookie, request: Request) -> bool:
        return f"{cookie.name}{cookie.value}".isascii() and super().set_ok(cookie, request)
