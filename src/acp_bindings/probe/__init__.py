"""Check whether an agent conforms to the protocol, as the command `acp-bindings probe` does.

    report = await probe(["agent", "--acp"])
    for result in report.results:
        print(result.status, result.check.id, result.message)

It needs the extra `connection`, and for an agent at a URL the extra `remote`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._check import Check as Check
    from ._check import Status as Status
    from ._checks import CHECKS as CHECKS
    from ._probe_report import Report as Report
    from ._probe_report import Result as Result
    from ._probing import probe as probe
else:
    from acp_bindings._lazy import lazy_names

    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_check": "Check Status",
            "_checks": "CHECKS",
            "_probing": "probe",
            "_probe_report": "Report Result",
        },
        extra="connection",
    )
