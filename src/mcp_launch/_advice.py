"""Advice after a failure: by its code, unless the diagnosis has more specific advice."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcp_launch.report import Code

ADVICE: Mapping[Code, str] = {
    "invalid_spec": "Correct the entry at the place that the message names. The server was not started.",
    "duplicate_name": "Rename one of the two servers. Only the first was started.",
    "unsupported_transport": "Use a transport that the agent supports: stdio always, http and sse if advertised.",
    "invalid_options": "Correct the option or the variable that the message names. The server was not started.",
    "command_not_found": (
        "Use an absolute path for the command, or install it. Servers inherit few variables, so a program that your "
        "shell finds may not be on their PATH."
    ),
    "not_executable": "Make the file executable, or name its interpreter as the command and the file as an argument.",
    "exited": (
        "Run the command by hand in the same directory. If it works there, it probably needs a variable; add it "
        "to the env of the entry."
    ),
    "refused": "Start the server, and compare host and port with the address that it listens on.",
    "dns": (
        "Check the spelling of the host. Some names can only be resolved inside a company network or a container, or "
        "through a proxy (HTTPS_PROXY)."
    ),
    "tls": (
        "Open the URL in a browser. If the browser complains too, the certificate is wrong. Otherwise set "
        "SSL_CERT_FILE to the file of the authority that issued it."
    ),
    "disconnected": "Look at the server's own log at that time. A proxy may also have closed the connection.",
    "unauthorized": (
        "Run the mcp-launch login that the message names, if it names one. Otherwise add a valid token to the headers "
        "of the entry as Authorization."
    ),
    "forbidden": "The login is valid but not permitted. Ask the operator of the server, or use another token.",
    "not_found": "Compare the path of the URL with the server's documentation. Most end in /mcp, older ones in /sse.",
    "method_not_allowed": "Something else responds at this URL. Compare its path with the server's documentation.",
    "rate_limited": "Wait as long as the response says, and start fewer servers of this host at once.",
    "http_error": "Look for this status in the log of the server or of the gateway in front of it.",
    "redirected": "Use the URL of the redirect in the entry, if you trust it.",
    "wrong_transport": "Change the entry's type to the transport that the message names.",
    "cross_origin_endpoint": (
        "Use the server's own address. A gateway that changes the host must change it in the endpoint event too."
    ),
    "session_lost": (
        "Try again. If it happens again, the server restarts, or several instances share an address but not sessions."
    ),
    "not_mcp": (
        "Check that this is the server and not its web page, that it logs to standard error, and whether it needs an "
        "argument to use MCP."
    ),
    "timeout": (
        "Run it once by hand, because the first start may download packages. If it is only slow, increase --timeout."
    ),
    "rejected": "The server rejected the request. Its message often names a missing setting.",
    "unsupported_version": "Update the server, or this package if the server is newer.",
    "invalid_response": "Update the server. If it is up to date, report the field in the facts to its authors.",
    "changed": (
        "Read the difference. If you trust the new tools, accept them with mcp-launch lock --update. Do not accept a "
        "description that gives the model instructions about other tools, files or secrets."
    ),
    "failed": "No more is known than the message and the facts. Please report it to us.",
}


def sentence(advice: str) -> str:
    """Return the advice in a message as a sentence."""
    # Not the first letter of a command or URL.
    first = advice[:1].upper() if re.match(r"[a-z]+[\s,;]", advice) else advice[:1]
    return f"{first}{advice[1:]}{'' if advice.endswith(('.', '?')) else '.'}"
