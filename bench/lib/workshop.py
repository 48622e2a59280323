"""The programs that take part, and the files they work on."""

import json
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Workshop:
    def __init__(self, folder, quick, mcprove, peers=None):
        self.folder, self.quick, self.peers = folder, quick, peers
        self.mcprove = Path(mcprove).resolve() if mcprove else None
        self.http_server = None

    def build(self, programs=("floor", "tiny-server", "fuzz-memory")):
        """Builds as a release is built: mcprove and the programs that it is compared with."""
        host = re.search(r"host: (\S+)", subprocess.check_output(["rustc", "-vV"], text=True)).group(1)
        packages = [*programs, *([] if self.mcprove else ["mcprove"])]
        built = subprocess.check_output([ROOT / "packaging/build.sh", host, *packages], cwd=ROOT, text=True)
        built = (ROOT / built.strip()).resolve()
        self.mcprove = self.mcprove or built / "mcprove"
        self.floor, self.tiny, self.fuzz_memory = built / "floor", built / "tiny-server", built / "fuzz-memory"

    def version(self):
        return subprocess.run([self.mcprove, "--version"], capture_output=True, text=True, check=True).stdout.strip()

    def amount(self, number):
        """A tenth of it when things are to be quick."""
        return max(1, number // 10) if self.quick else number

    def peer(self, name):
        """The path of a peer that is to take part: all that are on the PATH, unless some were named."""
        return shutil.which(name) if self.peers is None or name in self.peers else None

    def url(self):
        """The address of the tiny server over HTTP; it is started once and ends with us."""
        if self.http_server is None:
            words = [self.tiny, "--http"]
            self.http_server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.address = self.http_server.stdout.readline().strip()
        return self.address

    def end(self):
        if self.http_server is not None:
            self.http_server.stdin.close()
            self.http_server.wait()

    def real_servers(self):
        """Installs the pinned servers of npm and PyPI; their commands, as far as they could be."""
        subprocess.run([ROOT / "tests/real/install"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        cache = ROOT / ".cache/servers"
        found = {
            "server-everything (Node)": (
                [cache / "node_modules/.bin/mcp-server-everything"], {"name": "echo", "arguments": {"message": "hello"}},
            ),
            "mcp-server-time (Python)": (
                [cache / "venv/bin/mcp-server-time", "--local-timezone", "UTC"],
                {"name": "get_current_time", "arguments": {"timezone": "UTC"}},
            ),
        }
        return {name: both for name, both in found.items() if both[0][0].exists()}

    def once(self, name, make):
        """A file or folder that is made the first time it is asked for."""
        path = self.folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            make(path)
        return path

    def assertions(self, count, server=None, call=None, fixture=None):
        """A folder of assertion files, each with a server of its own."""
        words = [str(word) for word in server or [self.tiny]]
        name = f"assertions-{Path(words[0]).name}-{count}"
        return self.once(name, lambda path: write_assertions(path, count, words, call))

    def suite(self, count, parallel=None, url=None):
        """One suite file with this many tests of three checks each."""
        kind = "http" if url else "stdio"
        server = {"url": url} if url else {"command": [str(self.tiny)]}
        return self.once(
            f"suite-{kind}-{count}-{parallel}.yml", lambda path: path.write_text(suite_text(count, server, parallel)))

    def composition(self, count, graphs):
        """One suite file with this many nodes in so many graphs; several graphs are chains."""
        return self.once(
            f"compositions-{count}-{graphs}.yml", lambda path: path.write_text(composition_text(count, graphs, self.tiny)))

    def catalog(self, count):
        """What `tools/list` of a server with this many tools answers."""
        return self.once(f"tools-{count}.json", lambda path: path.write_text(json.dumps(catalog(count))))

    def log(self, count):
        """The event log of a run with this many cases."""

        def make(path):
            words = [self.mcprove, "run", "--quiet", "--events", path, self.suite(count)]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)

        return self.once(f"log-{count}.ndjson", make)

    def tree(self, count):
        """A folder with this many small files, a hundred to a folder."""

        def make(path):
            for number in range(count):
                file = path / f"{number // 100:04}" / f"{number:06}.txt"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"file {number}\n" * 10)

        return self.once(f"tree-{count}", make)


def write_assertions(path, count, words, call):
    path.mkdir()
    command, *args = words
    for number in range(count):
        wanted = call or {"name": "echo", "arguments": {"text": f"hello {number}"}}
        expect = {"not_error": True} if call else {"not_error": True, "equals": f"hello {number}"}
        document = {
            "name": f"{wanted['name']} {number}",
            "server": {"command": command, **({"args": args} if args else {})},
            "assert": {"tool": wanted["name"], "args": wanted["arguments"], "expect": expect},
        }
        (path / f"{number:06}.yaml").write_text(yaml(document))


def suite_text(count, server, parallel):
    head = {"servers": {"tiny": server}}
    if parallel:
        head["run_options"] = {"parallel": parallel}
    tests = "".join(suite_test(number) for number in range(count))
    return f"{yaml(head)}tools:\n{tests}"


def suite_test(number):
    return (
        f"  - name: echo {number}\n"
        f"    server: tiny\n"
        f"    tool: echo\n"
        f"    args: {{text: \"hello {number}\"}}\n"
        f"    expect:\n"
        f"      - {{target: \"result.content[0].text\", matcher: {{exact: \"hello {number}\"}}}}\n"
        f"      - {{target: \"result.content[0].type\", matcher: {{exact: text}}}}\n"
        f"      - {{target: \"result.content.length\", matcher: {{exact: 1}}}}\n"
    )


def composition_text(count, graphs, tiny):
    text = yaml({"servers": {"tiny": {"command": [str(tiny)]}}}) + "compositions:\n"
    size = count // graphs
    for graph in range(graphs):
        text += f"  - name: graph {graph}\n    nodes:\n"
        for number in range(size):
            needs = f", needs: [n{number - 1}]" if graphs > 1 and number else ""
            text += f"      - {{id: n{number}, tool: echo, args: {{text: \"hello {number}\"}}{needs}}}\n"
        text += f"    expect: [{{target: \"output.content[0].text\", matcher: {{exact: \"hello {size - 1}\"}}}}]\n"
    return text


def catalog(count):
    """Tools as people write them: closed objects with a few described properties."""
    kinds = [{"type": "string", "maxLength": 200}, {"type": "integer", "minimum": 0, "maximum": 100},
             {"type": "boolean"}, {"type": "array", "items": {"type": "string"}, "maxItems": 10}]
    tools = []
    for number in range(count):
        properties = {f"field_{place}": {"description": f"Field {place} of tool {number}", **kind}
                      for place, kind in enumerate(kinds)}
        tools.append({
            "name": f"tool_{number}", "description": f"Does the thing that is called number {number}",
            "inputSchema": {"type": "object", "properties": properties, "required": list(properties),
                            "additionalProperties": False},
        })
    return {"tools": tools}


def yaml(document):
    """JSON is YAML; one key a line at the top is how people write it."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in document.items())
