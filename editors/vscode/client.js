"use strict";
// A client of `mcprove drive`: one JSON object per line in both directions.

const { spawn } = require("node:child_process");
const readline = require("node:readline");

/** A running `mcprove drive` in a folder; it is started by the first request, and again if it ended. */
class Client {
  constructor(program, cwd, log) {
    this.program = program;
    this.cwd = cwd;
    this.log = log;
    this.waiting = [];
    this.process = null;
  }

  request(method, params) {
    const process = this.start();
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      process.stdin.write(`${JSON.stringify({ id: null, method, params })}\n`);
    });
  }

  start() {
    if (this.process) return this.process;
    const started = spawn(this.program, ["drive"], { cwd: this.cwd, stdio: ["pipe", "pipe", "pipe"] });
    let hasAnswered = false;
    const end = (message) => {
      if (this.process !== started) return;
      this.process = null;
      const help = hasAnswered ? "" : "; the setting `mcprove.program` names the mcprove program";
      for (const { reject } of this.waiting.splice(0)) reject(new Error(message + help));
    };
    started.on("error", (error) => end(`\`${this.program}\` could not be started: ${error.message}`));
    // Later than "exit": what it wrote has been read by then.
    started.on("close", (code) => end(`\`${this.program} drive\` ended (exit code ${code})`));
    started.stdin.on("error", () => {});
    started.stderr.on("data", (data) => this.log(String(data)));
    readline.createInterface({ input: started.stdout }).on("line", (line) => {
      if (this.process !== started) return;
      const reply = decode(line);
      if (!reply || this.waiting.length === 0) {
        end(`\`${this.program} drive\` sent \`${line.trim().slice(0, 80)}\`, which is no reply`);
        started.kill();
        return;
      }
      hasAnswered = true;
      const { resolve, reject } = this.waiting.shift();
      if (reply.error) reject(new Error(reply.error.message));
      else resolve(reply.result);
    });
    this.process = started;
    return started;
  }

  /** Ends what is being done; the next request starts the program again. */
  stop() {
    const stopped = this.process;
    this.process = null;
    stopped?.kill();
    for (const { reject } of this.waiting.splice(0)) reject(new Error("the run was stopped"));
  }

  dispose() {
    this.process?.stdin.end();
  }
}

/** The reply in a line, or undefined if it holds none. */
function decode(line) {
  try {
    const reply = JSON.parse(line);
    return reply?.result || reply?.error ? reply : undefined;
  } catch {
    return undefined;
  }
}

module.exports = { Client };
