"""What every HTTP edge does alike: same-origin check and errors as `{code, message}`."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.http import HttpRequest

from dsupport.contract.errors import Forbidden


def check_same_origin(request: HttpRequest) -> None:
    """Refuse a state-changing request that another site's page sent with the visitor's cookie.

    Browsers say where a request comes from in `Sec-Fetch-Site` or `Origin`; programs send
    neither and carry no ambient authority. See Fetch Metadata (W3C) and RFC 6454, section 7.
    """
    if request.method in {"GET", "HEAD", "OPTIONS"}:
        return
    site = request.headers.get("Sec-Fetch-Site", "")
    origin = request.headers.get("Origin", "")
    foreign_site = site not in {"", "same-origin", "none"}
    foreign_origin = bool(origin) and urlsplit(origin).netloc != request.get_host()
    if foreign_site or foreign_origin:
        raise Forbidden(
            "This request came from another site. Open the chat on the shop's own address.",
            code="foreign_origin",
        )
