"""Have client.py play a scenario, and fail if it does: `relay.py SOCKET PACKAGE BACKEND URL`."""

import json
import os
import socket
import sys

_, place, *arguments = sys.argv
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(place)
    connection.sendall(json.dumps([dict(os.environ), *arguments]).encode() + b"\n")
    said = connection.makefile(encoding="utf-8").read()
sys.exit(0 if said == "ok" else said or "the client has died")
