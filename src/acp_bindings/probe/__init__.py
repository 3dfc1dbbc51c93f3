"""Check whether an agent conforms to the protocol, as the command `acp-bindings probe` does.

    report = await probe(["agent", "--acp"])
    for result in report.results:
        print(result.status, result.check.id, result.message)

It needs the extra `connection`, and for an agent at a URL the extra `remote`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_bindings._lazy import lazy_names

if TYPE_CHECKING:
    from acp_bindings.probe._check import Check, Status
    from acp_bindings.probe._checks import CHECKS
    from acp_bindings.probe._probe_report import Report, Result
    from acp_bindings.probe._probing import probe
else:
    _, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_check": "Check Status",
            "_checks": "CHECKS",
            "_probing": "probe",
            "_probe_report": "Report Result",
        },
    )

__all__ = ["CHECKS", "Check", "Report", "Result", "Status", "probe"]
