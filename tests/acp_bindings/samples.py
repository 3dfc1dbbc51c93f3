"""A request with a secret, for tests of creating, writing and showing models."""

from acp_bindings import v1

SECRET = "hunter2-hunter2"


def a_request() -> v1.NewSessionRequest:
    server = v1.McpServerStdio(name="s", command="/s", args=["-v"], env=[v1.EnvVariable(name="TOKEN", value=SECRET)])
    return v1.NewSessionRequest(cwd="/", mcp_servers=[server])
