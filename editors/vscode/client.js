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
    const end = (message) => {
      if (this.process === started) this.process = null;
      for (const { reject } of this.waiting.splice(0)) reject(new Error(message));
    };
    started.on("error", (error) => end(`${this.program} could not be started: ${error.message}`));
    started.on("exit", (code) => end(`mcprove ended with exit code ${code}`));
    started.stdin.on("error", () => {});
    started.stderr.on("data", (data) => this.log(String(data)));
    readline.createInterface({ input: started.stdout }).on("line", (line) => {
      const { resolve, reject } = this.waiting.shift();
      const reply = JSON.parse(line);
      if (reply.error) reject(new Error(reply.error.message));
      else resolve(reply.result);
    });
    this.process = started;
    return started;
  }

  dispose() {
    this.process?.stdin.end();
  }
}

module.exports = { Client };
