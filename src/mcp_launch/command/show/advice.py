"""What to try for each code of a failure, in general, as its page in docs/failures says it too."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_launch.failures import Code

__all__ = ["ADVICE"]

ADVICE: Mapping[Code, str] = {
    "invalid_spec": "Correct the entry where the message points; nothing of it was started.",
    "duplicate_name": "Give one of the two another name; the first was started, this one was not.",
    "unsupported_transport": "Ask for a transport that the agent takes: stdio always, http and sse where it says so.",
    "invalid_options": "Correct the option or the directory that the message names; nothing was started.",
    "command_not_found": (
        "Give the command as an absolute path, or install it. Servers get a small environment: a program that your "
        "shell finds may not be on the PATH here."
    ),
    "not_executable": "Make the file executable, or name its interpreter as the command and the file as an argument.",
    "exited": (
        "Run the command by hand in the same directory. What works there and not here most often lacks a variable, "
        "which the entry's env has to name."
    ),
    "refused": "Start the server, and compare host and port with where it says that it listens.",
    "dns": (
        "Check how the host is spelt. Some names are known only inside a company or a container, or through a proxy "
        "(HTTPS_PROXY)."
    ),
    "tls": (
        "Open the URL in a browser. If that complains too, the certificate is wrong; if not, name the file of the "
        "authority that issued it in SSL_CERT_FILE."
    ),
    "disconnected": "Look into the server's own log at that moment; a proxy on the way may have cut it off too.",
    "unauthorized": "Put a valid token into the entry's headers, as Authorization, or log in as the server asks.",
    "forbidden": "The login is known but not allowed: ask whoever runs the server, or use another token.",
    "not_found": "Compare the path of the URL with the server's documentation; most end in /mcp, older ones in /sse.",
    "method_not_allowed": "Something else answers at this URL: compare its path with the server's documentation.",
    "rate_limited": "Wait as long as the answer says, and start fewer servers of this host at once.",
    "http_error": "Look for this status in the log of the server, or of the gateway in front of it.",
    "redirected": "Put the URL to which it was sent into the entry, if that is a place you trust.",
    "wrong_transport": "Change the entry's type to the transport that the message names.",
    "cross_origin_endpoint": (
        "Use the server's own address. A gateway that changes the host has to change it in the endpoint event too."
    ),
    "session_lost": (
        "Start again. If it comes back, the server restarts, or several of it share an address but not their sessions."
    ),
    "not_mcp": (
        "See that this is the server itself and not its web page, that it logs to standard error, and whether it "
        "needs an argument to speak MCP."
    ),
    "timeout": (
        "Run it once by hand, since a first start may download packages; if it is only slow, give it longer with "
        "--timeout."
    ),
    "rejected": "The server understood and refused: what it says in the message is most often a setting it lacks.",
    "unsupported_version": "Update the server, or this package if the server is the newer one.",
    "invalid_response": "Update the server; if there is no newer release, show its makers the field in the facts.",
    "failed": "Nothing more is known than the message and the facts say; a report of it to us would be welcome.",
}
