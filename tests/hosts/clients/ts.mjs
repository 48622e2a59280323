// A plain client on the official TypeScript SDK, with the SDK's defaults: lists the tools, calls `search` as often as CALLS says,
// lists again if that is more than once, then calls `read`. ERA=modern speaks 2026-07-28.
import { appendFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const told = (step) => appendFileSync(process.env.OUTCOMES, JSON.stringify(step) + "\n");

async function attempt(name, work) {
    const began = Date.now();
    told({ step: name, outcome: "begun" });
    try {
        const result = await work();
        const isError = result?.isError === true;
        const described = result?.tools?.map((tool) => `${tool.name}: ${tool.description}`);
        told({ step: name, outcome: isError ? "isError" : "result", described, ms: Date.now() - began });
    } catch (error) {
        told({ step: name, outcome: "error", message: String(error?.message ?? error), ms: Date.now() - began });
    }
}

process.on("uncaughtException", (error) => {
    told({ step: "process", outcome: "uncaught", message: String(error?.message ?? error) });
    process.exit(1);
});

const { command, url } = JSON.parse(process.env.MCPROVE_SERVERS)[0];
const options = process.env.ERA === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
const client = new Client({ name: "ts-sdk", version: "1.0.0" }, options);
const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: "ignore" });
client.onerror = () => {};
const calls = Number(process.env.CALLS ?? 1);
await attempt("connect", () => client.connect(transport));
await attempt("list", () => client.listTools());
for (let call = 1; call <= calls; call += 1) {
    await attempt(`search ${call}`, () => client.callTool({ name: "search", arguments: {} }));
}
if (calls > 1) await attempt("list again", () => client.listTools());
await attempt("read", () => client.callTool({ name: "read", arguments: {} }));
await attempt("close", () => client.close());
process.exit(0);
