"""nginx in front of our server, with the configuration of the guide on deployment.

Our client drives every feature through it, in each revision over HTTP. Two rows of their own need what a client does not show: a
stream that is resumed, and a large body over TLS.
"""

import http.client
import json
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from processes import free_address, serving

GUIDE = Path(__file__).resolve().parent.parent / "mcp-tokio" / "src" / "guide" / "deploy.md"
# What the table has in addition to the features.
ROWS = ["resume", "large body"]
REVISION = "2025-11-25"


@contextmanager
def proxied(server: str, work: Path) -> Iterator[tuple[str, str]]:
    """Two addresses of nginx in front of the server: without TLS, which our client needs no certificate for, and with it."""
    work.mkdir(parents=True, exist_ok=True)
    plain, secure = free_address(), free_address()
    certificate, key = work / "certificate.pem", work / "key.pem"
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-out", certificate, "-keyout", key)
    site = GUIDE.read_text().split("```nginx\n")[1].split("```")[0]
    for there, here in {
        "server 127.0.0.1:8000;": f"server {server};",
        "listen 443 ssl;": f"listen {plain};\n    listen {secure} ssl;",
        "server_name mcp.example.com;": "server_name localhost;",
        "/etc/ssl/certs/mcp.example.com.pem": str(certificate),
        "/etc/ssl/private/mcp.example.com.pem": str(key),
    }.items():
        assert site.count(there) == 1, f"{there} stands {site.count(there)} times in {GUIDE}"
        site = site.replace(there, here)
    kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    folders = "\n".join(f"{kind}_temp_path {work / kind};" for kind in kinds)
    configuration = work / "nginx.conf"
    # Without a master, the process that writes into the folders has the user to whom they belong.
    configuration.write_text(
        f"daemon off;\nmaster_process off;\npid {work / 'pid'};\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{folders}\n{site}}}\n"
    )
    nginx = [installed(work), "-e", "stderr", "-p", str(work), "-c", str(configuration)]
    with serving(nginx, plain, work / "nginx.log"):
        yield plain, secure


def installed(work: Path) -> str:
    """nginx of this machine, or Debian's, unpacked and not installed, since the package starts a server."""
    unpacked = work / "package"
    if not shutil.which("nginx") and not (unpacked / "usr/sbin/nginx").exists():
        unpacked.mkdir(parents=True, exist_ok=True)
        run("apt-get", "-o", "DPkg::Lock::Timeout=300", "-qq", "update")
        run("apt-get", "-o", "APT::Sandbox::User=root", "-qq", "download", "nginx", cwd=unpacked)
        run("dpkg", "-x", *unpacked.glob("nginx_*.deb"), unpacked)
    return shutil.which("nginx") or str(unpacked / "usr/sbin/nginx")


def run(*command: str | Path, cwd: Path | None = None) -> None:
    subprocess.run([str(part) for part in command], cwd=cwd, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def rows(secure: str) -> dict[str, dict]:
    """What the rows of their own have to say, as the lines of a driver."""
    lines = {}
    for name, check in zip(ROWS, [resume, large_body]):
        try:
            check(secure)
            lines[name] = {"ok": True}
        except (AssertionError, OSError, http.client.HTTPException) as wrong:
            lines[name] = {"ok": False, "detail": repr(wrong)}
    return lines


def resume(address: str) -> None:
    """A stream that breaks before the question of a tool is resumed; the question and the result come, each at once."""
    session = Session(address)
    parameters = {"name": "test_elicitation", "arguments": {"message": "Who?"}}
    broken = session.post({"id": 2, "method": "tools/call", "params": parameters})
    last, _ = next(events(broken))
    broken.close()
    resumed = events(session.send("GET", {"Last-Event-ID": last}))
    # A proxy that buffers the stream delivers no question, which the result waits for.
    question = next(message for _, message in resumed if message)
    assert question["method"] == "elicitation/create", question
    answer = {"action": "accept", "content": {"username": "Ada", "email": "ada@example.com"}}
    session.post({"id": question["id"], "result": answer}).read()
    result = next(message for _, message in resumed if message)
    assert result["id"] == 2 and "Ada" in json.dumps(result["result"]), result


def large_body(address: str) -> None:
    """A request of almost 4 MiB arrives."""
    filler = "x" * (4 * 1024 * 1024 - 1024)
    answer = Session(address).post({"id": 2, "method": "ping", "params": {"_meta": {"filler": filler}}})
    assert answer.status == 200, answer.status


class Session:
    """A session over TLS with a connection for each request."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.id = None
        parameters = {
            "protocolVersion": REVISION,
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "proxies", "version": "1"},
        }
        opened = self.post({"id": 1, "method": "initialize", "params": parameters})
        assert opened.status == 200, opened.status
        self.id = opened.headers["Mcp-Session-Id"]
        opened.read()
        self.post({"method": "notifications/initialized"}).read()

    def post(self, message: dict) -> http.client.HTTPResponse:
        return self.send("POST", {"Content-Type": "application/json"}, json.dumps({"jsonrpc": "2.0", **message}))

    def send(self, method: str, headers: dict[str, str], body: str | None = None) -> http.client.HTTPResponse:
        trusting = ssl.create_default_context()
        trusting.check_hostname = False
        trusting.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(self.address, timeout=30, context=trusting)
        session = {"Mcp-Session-Id": self.id, "MCP-Protocol-Version": REVISION} if self.id else {}
        accepted = "text/event-stream" if method == "GET" else "application/json, text/event-stream"
        connection.request(method, "/mcp", body, {"Accept": accepted, **session, **headers})
        return connection.getresponse()


def events(response: http.client.HTTPResponse) -> Iterator[tuple[str, dict | None]]:
    """The id and the message of each event; an event that only has an id has no message."""
    assert response.status == 200, response.status
    last, data = "", ""
    while line := response.readline().decode():
        name, _, value = line.rstrip("\n").partition(":")
        if name == "id":
            last = value.strip()
        elif name == "data":
            data += value.strip()
        elif not line.strip() and last:
            yield last, json.loads(data) if data else None
            data = ""
    raise AssertionError("the stream has ended")
