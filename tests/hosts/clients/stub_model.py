"""A language model on 127.0.0.1 that calls `search`, then `read`, then ends: the chat completions of OpenAI, as far as agents need them."""

import http.server
import json
import threading

PLAN = ["search", "read"]


class Stub(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        results = sum(message["role"] == "tool" for message in body["messages"])
        offered = [tool["function"]["name"] for tool in body.get("tools", [])]
        message = {"role": "assistant", "content": "Done."}
        wanted = next((name for name in offered if name.endswith(PLAN[results])), None) if results < len(PLAN) else None
        if wanted is not None:
            call = {"id": f"call-{results}", "type": "function", "function": {"name": wanted, "arguments": "{}"}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if wanted else "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        reply = {"id": "stub", "object": "chat.completion", "created": 0, "model": "stub", "choices": [choice], "usage": usage}
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def serve():
    """Starts the model; its base URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"
