// A plain client on the official TypeScript SDK: lists the tools, calls `search`, then `read`, with the SDK's defaults.
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
        told({ step: name, outcome: isError ? "isError" : "result", ms: Date.now() - began });
    } catch (error) {
        told({ step: name, outcome: "error", message: String(error?.message ?? error), ms: Date.now() - began });
    }
}

process.on("uncaughtException", (error) => {
    told({ step: "process", outcome: "uncaught", message: String(error?.message ?? error) });
    process.exit(1);
});

const { command, url } = JSON.parse(process.env.MCPROVE_SERVERS)[0];
const client = new Client({ name: "ts-sdk", version: "1.0.0" });
const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: "ignore" });
client.onerror = () => {};
await attempt("connect", () => client.connect(transport));
await attempt("list", () => client.listTools());
await attempt("search", () => client.callTool({ name: "search", arguments: {} }));
await attempt("read", () => client.callTool({ name: "read", arguments: {} }));
await attempt("close", () => client.close());
process.exit(0);
