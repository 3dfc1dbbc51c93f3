"""MCP over SSE, the transport that Streamable HTTP replaced: a GET for what comes in, a POST for each message out.

A small transport of our own, because the SDK's waits for ever for an endpoint that is refused, and turns a POST that
fails into silence. Imported only for a server that wants it: it brings httpx, which takes a tenth of a second.
"""
