"use strict";
// A client of `mcprove drive`: one JSON object per line in both directions.

const { spawn, spawnSync } = require("node:child_process");
const path = require("node:path");
const readline = require("node:readline");

/** A request that could not be done: a mistake in it, or a server that could not be reached. */
class DriveError extends Error {
  constructor(error) {
    const lines = [error.message];
    if (error.evidence) lines.push(`  it sent: ${error.evidence}`);
    if (error.help) lines.push(`  help: ${error.help}`);
    super(lines.join("\n"));
    this.name = "DriveError";
    this.kind = error.kind ?? "other";
    this.findings = error.findings ?? [];
  }
}

/** A reply or a test that is not as expected; its message is mcprove's. */
class ExpectationFailed extends Error {
  constructor(message, place) {
    super(message);
    this.name = "ExpectationFailed";
    // Runners show the place of a failure from the stack.
    if (place) this.stack = `ExpectationFailed: ${message}\n    at ${path.resolve(place.cwd, place.file)}:${place.line}:1`;
  }
}

/** The program: `MCPROVE`, the one that is named, that of the npm package `mcprove`, or that of the PATH. */
function findProgram(named) {
  if (process.env.MCPROVE) return process.env.MCPROVE;
  if (named) return named;
  try {
    return require("mcprove").program;
  } catch {
    return "mcprove";
  }
}

function notStarted(program, error) {
  const help = "install mcprove, or set MCPROVE to the full path of the program";
  return new DriveError({ message: `\`${program}\` could not be started: ${error.message}`, help });
}

const ANOTHER_PROGRAM = "if this is not mcprove, set MCPROVE to the full path of the program";

function ended(program, code, hasAnswered) {
  const message = `\`${program} drive\` ended (exit code ${code}); its standard error says why`;
  return new DriveError(hasAnswered ? { message } : { message, help: ANOTHER_PROGRAM });
}

function noReply(program, line) {
  const message = `\`${program} drive\` sent \`${line.trim().slice(0, 80)}\`, which is no reply`;
  return new DriveError({ message, help: ANOTHER_PROGRAM });
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

/** A running `mcprove drive`. */
class Driver {
  #process;
  #program;
  #waiting = [];
  #id = 0;
  #hasAnswered = false;
  #ended = null;

  /** `update` is how the snapshots of these tests are stored, for messages. */
  constructor({ program, cwd = process.cwd(), update = "`open` with `update_snapshots: true`" } = {}) {
    this.update = update;
    const found = (this.#program = findProgram(program));
    this.cwd = cwd;
    this.#process = spawn(found, ["drive"], { cwd, stdio: ["pipe", "pipe", "inherit"] });
    this.#process.on("error", (error) => this.#end(notStarted(found, error)));
    // Later than "exit": what it wrote has been read by then.
    this.#process.on("close", (code) => this.#end(ended(found, code, this.#hasAnswered)));
    // A write to a program that is gone is reported by its end.
    this.#process.stdin.on("error", () => {});
    readline.createInterface({ input: this.#process.stdout }).on("line", (line) => this.#take(line));
  }

  #take(line) {
    if (this.#ended) return;
    const reply = decode(line);
    if (!reply || this.#waiting.length === 0) {
      this.#end(noReply(this.#program, line));
      this.#process.kill();
      return;
    }
    this.#hasAnswered = true;
    const { resolve, reject } = this.#waiting.shift();
    if (reply.error) reject(new DriveError(reply.error));
    else resolve(reply.result);
  }

  #end(error) {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }

  /** Sends a request and waits for its result. */
  request(method, params = {}) {
    if (this.#ended) return Promise.reject(this.#ended);
    this.#id += 1;
    const line = JSON.stringify({ id: this.#id, method, params });
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#process.stdin.write(`${line}\n`);
    });
  }

  /** Starts or reaches a server. */
  async open(server, params = {}) {
    return new Server(this, await this.request("open", { server, ...params }));
  }

  /** Runs a test of a suite; throws if it does not pass. */
  async runTest(test, args = []) {
    const tests = [{ file: test.file, name: test.name }];
    const answer = await this.request("run", { args: [test.file, ...args], tests });
    return check(test, answer, this.cwd);
  }

  /** Ends the program, and with it all of its servers. */
  async close() {
    if (this.#ended) return;
    const ended = new Promise((resolve) => this.#process.once("close", resolve));
    this.#process.stdin.end();
    await ended;
  }
}

/** The result of a test among those of a run; throws if it did not pass. */
function check(test, answer, cwd) {
  const isIt = (result) =>
    result.file === test.file && result.name === test.name && result.variant === test.variant && result.trial === test.trial;
  const result = answer.results.find(isIt);
  if (!result) throw new ExpectationFailed("mcprove did not report a result for this test", { ...test, cwd });
  if (result.verdict === "failed" || result.verdict === "error") {
    throw new ExpectationFailed(result.message, { ...test, cwd });
  }
  return result;
}

/** An open session with a server. */
class Server {
  #driver;
  #session;

  constructor(driver, opened) {
    this.#driver = driver;
    this.#session = opened.session;
    this.name = opened.server.name;
    this.version = opened.server.version;
    this.protocol = opened.protocol;
    this.capabilities = opened.capabilities;
  }

  /** Calls a tool. */
  call(tool, args = {}, options = {}) {
    return this.#ask("call", { tool, args }, options);
  }

  /** Reads a resource. */
  read(uri, options = {}) {
    return this.#ask("read", { uri }, options);
  }

  /** Gets a prompt. */
  prompt(name, args = {}, options = {}) {
    return this.#ask("prompt", { name, arguments: args }, options);
  }

  /** Runs an assertion as a suite would; throws if it fails. */
  async test(test) {
    const reply = new Reply(this, await this.#request("test", { test }));
    reply.mustHavePassed();
    return reply;
  }

  /** Tools, resources, resource templates and prompts. */
  list() {
    return this.#request("list", {});
  }

  /** Ends the session and the process of the server. */
  async close() {
    await this.#request("close", {});
  }

  /** A message about a reply, with what to do in tests of JavaScript. */
  explained(message) {
    return message
      .replaceAll("`mcprove run --update-snapshots`", this.#driver.update)
      .replaceAll("raise `timeout:` of the case (or `--timeout`) if", "give the call a longer `timeoutMs` if");
  }

  /** Judges an earlier reply. */
  judge(reply, expect) {
    return this.#request("expect", { reply, expect });
  }

  #request(method, params) {
    return this.#driver.request(method, { session: this.#session, ...params });
  }

  async #ask(method, params, { expect, timeoutMs, ...unknown }) {
    const [key] = Object.keys(unknown);
    if (key) throw new TypeError(`unknown option \`${key}\`; known are \`expect\` and \`timeoutMs\``);
    if (expect !== undefined) params.expect = expect;
    if (timeoutMs !== undefined) params.timeout_ms = timeoutMs;
    const reply = new Reply(this, await this.#request(method, params));
    // An error of the protocol is an answer, which may be expected later; silence is not.
    if (expect !== undefined || !["result", "error"].includes(reply.outcome)) reply.mustHavePassed();
    return reply;
  }
}

/** The reply of a server. */
class Reply {
  #server;
  #number;

  constructor(server, fields) {
    this.#server = server;
    this.#number = fields.reply;
    this.outcome = fields.outcome;
    this.result = fields.result;
    this.error = fields.error;
    this.text = fields.text ?? "";
    this.isError = fields.is_error ?? false;
    this.structured = fields.structured;
    this.durationMs = (fields.duration_us ?? 0) / 1000;
    this.passed = fields.passed;
    this.message = fields.message;
    this.findings = fields.findings;
  }

  /** The text as JSON. */
  json() {
    return JSON.parse(this.text);
  }

  /** Judges the reply with mcprove's checks and matchers; throws if it is not as expected. */
  async expect(expect) {
    const judged = await this.#server.judge(this.#number, expect);
    if (!judged.passed) throw new ExpectationFailed(this.#server.explained(judged.message));
    return this;
  }

  /** Compares a part of the reply with what is stored under a name. */
  snapshot(name, target = "result") {
    return this.expect([{ target, matcher: { snapshot: name } }]);
  }

  mustHavePassed() {
    if (!this.passed) throw new ExpectationFailed(this.#server.explained(this.message));
  }
}

/** The tests of suites, listed before this returns: runners want to know their tests at once. */
function collect(args, { program, cwd = process.cwd() } = {}) {
  const found = findProgram(program);
  const input = `${JSON.stringify({ id: 1, method: "collect", params: { args } })}\n`;
  const stdio = ["pipe", "pipe", "inherit"];
  const done = spawnSync(found, ["drive"], { cwd, input, stdio, encoding: "utf8", maxBuffer: 1 << 28 });
  if (done.error && done.error.code !== "EPIPE") throw notStarted(found, done.error);
  if (done.stdout.trim() === "") throw ended(found, done.status, false);
  const reply = decode(done.stdout);
  if (!reply) throw noReply(found, done.stdout);
  if (reply.error) throw new DriveError(reply.error);
  return reply.result;
}

/** The title of a test: its name, with the variant of a matrix and the trial. */
function title(test) {
  const variant = test.variant ? ` [${test.variant}]` : "";
  return test.name + variant + (test.trial > 1 ? ` (trial ${test.trial})` : "");
}

/** The tests by file, in order. A suite with mistakes throws, with all of them. */
function byFile(suites, { args = [], ...options }) {
  const found = collect([...suites, ...args], options);
  if (!found.usable) throw new DriveError({ message: found.message });
  const files = new Map();
  for (const test of found.tests) {
    if (!files.has(test.file)) files.set(test.file, []);
    files.get(test.file).push(test);
  }
  return files;
}

/**
 * Runs the tests of a file one by one, or all of them when the first is wanted.
 * @returns a function from a test to a promise of its result.
 */
function runner(driver, tests, { args = [], batch = false }) {
  if (!batch) return (test) => driver().runTest(test, args);
  let answer;
  return async (test) => {
    const all = tests.map(({ file, name }) => ({ file, name }));
    answer ??= driver().request("run", { args: [test.file, ...args], tests: all });
    return check(test, await answer, driver().cwd);
  };
}

module.exports = { DriveError, Driver, ExpectationFailed, Reply, Server, byFile, collect, findProgram, runner, title };
