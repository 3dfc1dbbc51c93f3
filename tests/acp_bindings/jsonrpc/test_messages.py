"""Message objects: they do not show secrets, can be copied, and carry the requested findings."""

import copy
import pickle
from typing import Any

from acp_bindings import v1, v2_unstable
from acp_bindings.jsonrpc import BadLine, Codec, ErrorResponse, Notification, Request, Response
from tests.acp_bindings.jsonrpc.support import agent, line


def test_messages_do_not_show_secrets() -> None:
    servers = [{"type": "stdio", "name": "n", "command": "c", "args": [], "env": [{"name": "K", "value": "hunter2"}]}]
    params: Any = {"cwd": "/", "mcpServers": servers}
    wrapped = {"method": "session/new", "params": params}
    proxy = Codec(v2_unstable, role="proxy", pass_unknown=True)
    proxy.request(method="_acme/do")
    shown = [
        proxy.request(v2_unstable.ProxySuccessorRequest(method="session/new", params=params)),
        proxy.read(line(method="_acme/did", params=[{"headers": "hunter2"}])),
        proxy.read(line(id=0, result={"env": "hunter2"})),
        proxy.read(line(id=1, error={"code": 1, "message": "m", "data": {"env": "hunter2"}})),
        *(
            proxy.read(line(id=1, method=method, params=params | wrapped))
            for method in ("session/new", "session/newer", "proxy/successor", "session/cancel", "session/delete")
        ),
    ]

    assert "hunter2" not in repr(shown)
    assert repr(shown[0]) == "Sent(id=1, line=…)"
    assert repr(shown[1]) == "Notification(method='_acme/did', params=[{'headers': '…'}])"
    assert repr(shown[2]) == "Response(id=0, method='_acme/do', result={'env': '…'})"
    assert [type(each) for each in shown[3:]] == [ErrorResponse, Request, Request, Request, BadLine, BadLine]


def test_messages_can_be_pickled_and_copied() -> None:
    params = {"sessionId": "s", "configId": "c", "type": "boolean", "value": True}
    request = agent().read(line(id=1, method="session/set_config_option", params=params))

    assert pickle.loads(pickle.dumps(request)) == copy.deepcopy(request) == request


def test_a_codec_with_findings_reports_tolerated_errors() -> None:
    codec = Codec(v1, role="client", findings=True)
    codec.request(v1.InitializeRequest(protocol_version=1))
    update = {"sessionUpdate": "plan", "entries": [5]}

    response = codec.read(line(id=0, result={"protocolVersion": 1, "agentCapabilities": 7}))
    notification = codec.read(line(method="session/update", params={"sessionId": "s", "update": update}))

    assert isinstance(response, Response)
    assert [(each.path, each.rule) for each in response.findings] == [(("agentCapabilities",), "default-on-error")]
    assert isinstance(notification, Notification)
    assert [each.path for each in notification.findings] == [("update", "entries", 0)]
