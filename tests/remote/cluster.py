"""The setup of examples/remote on this machine: Redis, workers, and nginx or HAProxy in front of them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

import pytest

ROOT = Path(__file__).parents[2]
Balancer: TypeAlias = Literal["nginx", "haproxy"]


class Cluster:
    """Running workers behind a load balancer."""

    def __init__(self, url: str, redis: str, ports: list[int]) -> None:
        self.url = url
        """The URL of the agent, for HTTP."""
        self.redis = redis
        self.ports = ports
        """The ports of the workers."""
        self._workers = [self._start(port) for port in ports]

    def _start(self, port: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.remote.worker", str(port), self.redis]
        return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL)

    def kill(self, number: int) -> None:
        """Kill a worker, as if its machine had failed, and start another one in its place."""
        self._workers[number].kill()
        self._workers[number].wait()
        self._workers[number] = self._start(self.ports[number])

    def stop(self) -> None:
        """Stop all workers."""
        for each in self._workers:
            each.send_signal(signal.SIGTERM)
        for each in self._workers:
            try:
                each.wait(10)
            except subprocess.TimeoutExpired:
                each.kill()


@contextmanager
def cluster(folder: Path, balancer: Balancer, *, workers: int = 4) -> Generator[Cluster]:
    """Run the cluster in the block. The test is skipped if a program is not installed."""
    redis_port, front, *ports = free_ports(workers + 2)
    with ExitStack() as stack:
        command = [program("redis-server"), "--port", str(redis_port), "--save", "", "--bind", "127.0.0.1"]
        stack.enter_context(running([*command, "--dir", str(folder), "--loglevel", "warning"]))
        wait_for(redis_port)
        running_cluster = Cluster(f"http://127.0.0.1:{front}/acp", f"redis://127.0.0.1:{redis_port}/0", ports)
        stack.callback(running_cluster.stop)
        for port in ports:
            wait_for(port)
        stack.enter_context(running(balancer_command(folder, balancer, front, ports)))
        wait_for(front)
        yield running_cluster


def balancer_command(folder: Path, balancer: Balancer, front: int, ports: list[int]) -> list[str]:
    """Write the configuration of examples/remote with these ports, and return the command."""
    file = ROOT / "examples/remote" / ("nginx.conf" if balancer == "nginx" else "haproxy.cfg")
    text = file.read_text(encoding="utf-8").replace("0.0.0.0:8080", f"127.0.0.1:{front}")
    # Each line with the first worker, once for each worker.
    text = re.sub(
        r".*127\.0\.0\.1:8001.*\n",
        lambda line: "".join(re.sub(r"8001|(?<=worker)1", str(port), line[0]) for port in ports),
        re.sub(r".*127\.0\.0\.1:8002.*\n", "", text),
    )
    # nginx keeps other files where only its service may write.
    paths = "".join(
        f"{each}_temp_path {folder}/{each};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / file.name
    config.write_text(text.replace("http {\n", f"http {{ {paths}\n"), encoding="utf-8")
    if balancer == "nginx":
        return [program("nginx"), "-p", str(folder), "-g", f"daemon off; pid {folder}/nginx.pid;", "-c", str(config)]
    return [program("haproxy"), "-db", "-f", str(config)]


def program(name: str) -> str:
    """Return the path of a program; Debian keeps those of servers out of the path of users."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
    return shutil.which(name, path=path) or pytest.skip(f"{name} is not installed")


@contextmanager
def running(command: list[str]) -> Generator[None]:
    """Run a program in the block."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_ports(count: int) -> list[int]:
    """Return ports that nothing uses."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def wait_for(port: int, *, seconds: float = 30.0) -> None:
    """Wait until something accepts connections.

    Raises:
        TimeoutError: nothing does in time.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise TimeoutError(f"nothing accepts connections at port {port}") from None
            time.sleep(0.05)
        else:
            return
