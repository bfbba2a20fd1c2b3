"""Logs in at a protected server with mcp-cmd at a terminal, lists its tools and calls one.

Usage: login_cmd.py MCP-CMD REVISION URL

Prints one JSON line per step, as client.py does.
"""

import asyncio
import json
import os
import pty
import re
import subprocess
import sys
import tempfile

from browser import browse


def main(program: str, revision: str, url: str) -> None:
    with tempfile.TemporaryDirectory() as state:
        # A terminal for the user, who is told which page to open; no browser starts.
        environment = os.environ | {"XDG_STATE_HOME": state, "BROWSER": "true", "PATH": state, "NO_COLOR": "1"}

        def run(feature: str, *arguments: str) -> str:
            command = [program, "--revisions", revision, "--json", url, *arguments]
            user, terminal = pty.openpty()
            with subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, text=True, env=environment) as child:
                os.close(terminal)
                said = ""
                while page := read(user):
                    said += page
                    if found := re.search(r"Log in at (\S+)\s", said):
                        said = ""
                        try:
                            asyncio.run(browse(found[1]))
                            print(json.dumps({"feature": "log in", "ok": True}), flush=True)
                        except Exception as error:
                            print(json.dumps({"feature": "log in", "ok": False, "detail": repr(error)}), flush=True)
                            child.terminate()
                output = child.stdout.read()
            os.close(user)
            ok = child.returncode == 0
            print(json.dumps({"feature": feature, "ok": ok} | ({} if ok else {"detail": said + output})), flush=True)
            return output

        run("list", "list", "tools")
        # The next one has the token of the first.
        output = run("call", "call", "echo", "text=hello")
        assert "hello" in output, output


def read(terminal: int) -> str:
    try:
        return os.read(terminal, 4096).decode(errors="replace")
    except OSError:
        # The other end is closed.
        return ""


main(*sys.argv[1:])
