"""The forms in which programs repeat a secret in their errors."""

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus


def forms(value: str) -> list[str]:
    """Return the value unquoted, quoted for JSON, Python, a URL and HTML, and in base64."""
    data = value.encode()
    return [
        value,
        json.dumps(value),
        json.dumps(value, ensure_ascii=False),
        repr(value),
        quote(value),
        re.sub("%..", lambda escape: escape[0].lower(), quote(value, safe="")),
        quote_plus(value),
        html.escape(value),
        base64.b64encode(data).decode(),
        base64.urlsafe_b64encode(data).decode().rstrip("="),
    ]
