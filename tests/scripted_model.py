"""A language model's endpoint on loopback that answers as a script says."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = tuple[int, bytes, dict[str, str]]  # the status, the body and further headers of an answer


def said(text: str) -> Step:
    return 200, json.dumps({"choices": [{"message": {"content": text}}]}).encode(), {}


class Scripted:
    """A server that answers with one step after the other, the last of them for ever."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        script = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                script.requests.append((self.path, dict(self.headers), json.loads(body)))
                status, content, headers = script.steps.pop(0) if len(script.steps) > 1 else script.steps[0]
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"
