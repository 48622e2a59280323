"use strict";
// Runs the extension with a stand-in for the editor, on the project of tests/integrations. MCPROVE names the program.

const assert = require("node:assert");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");

const program = process.env.MCPROVE ?? "mcprove";
const source = path.join(__dirname, "../../../tests/integrations/project/evals");
const root = fs.mkdtempSync(path.join(os.tmpdir(), "mcprove-vscode-"));
fs.cpSync(source, path.join(root, "evals"), { recursive: true });
fs.writeFileSync(path.join(root, "evals/wrong.yaml"), "name: wrong\nassrt: {tool: x}\n");

// The part of the editor that the extension uses.
const uri = (fsPath) => ({ fsPath, toString: () => `file://${fsPath}` });
class Items extends Map {
  add(item) {
    this.set(item.id, item);
  }
  replace(items) {
    this.clear();
    for (const item of items) this.add(item);
  }
}
class Plain {
  constructor(...parts) {
    this.parts = parts;
  }
}
class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}
const collections = {};
const commands = {};
const results = [];
const saved = [];
const told = [];
const informed = [];
let listedAgain = 0;
let configured = program;
let lensProvider;
const controller = {
  items: new Items(),
  createTestItem(id, label, at) {
    const item = { id, label, uri: at, children: new Items() };
    const add = item.children.add;
    item.children.add = (child) => {
      child.parent = item;
      add.call(item.children, child);
    };
    return item;
  },
  createRunProfile: (_name, _kind, run) => (controller.runAll = run),
  createTestRun: () => ({
    started: () => {},
    passed: (item) => results.push([item.label, "passed"]),
    failed: (item, message) => results.push([item.label, "failed", message]),
    errored: (item, message) => results.push([item.label, "errored", message]),
    skipped: (item) => results.push([item.label, "skipped"]),
    end: () => {},
  }),
  dispose() {},
};
const vscode = {
  window: {
    createOutputChannel: () => ({ append() {}, appendLine() {}, dispose() {} }),
    showErrorMessage: (message) => told.push(message),
    showInformationMessage: (message) => informed.push(message),
  },
  tests: { createTestController: () => controller },
  languages: {
    createDiagnosticCollection: (name) => {
      const found = new Map();
      collections[name] = found;
      return { set: (at, list) => found.set(at.fsPath, list), delete: (at) => found.delete(at.fsPath), clear: () => found.clear(), dispose() {} };
    },
    registerCodeLensProvider: (_filter, provider) => {
      lensProvider = provider;
      provider.onDidChangeCodeLenses(() => (listedAgain += 1));
    },
  },
  workspace: {
    workspaceFolders: [{ uri: uri(root) }],
    getConfiguration: () => ({ get: (key) => ({ program: configured, suites: ["mcprove.yml", "evals"], args: [] })[key] }),
    onDidSaveTextDocument: (listener) => saved.push(listener),
    onDidChangeConfiguration() {},
    onDidChangeWorkspaceFolders() {},
  },
  commands: { registerCommand: (name, run) => (commands[name] = run) },
  Uri: { file: uri },
  EventEmitter: class {
    listeners = [];
    event = (listener) => this.listeners.push(listener);
    fire() {
      for (const listener of this.listeners) listener();
    }
    dispose() {}
  },
  Range: class { constructor(line, column, endLine, endColumn) { Object.assign(this, { line, column, endLine, endColumn }); } },
  Location: Plain,
  TestTag: Plain,
  TestMessage: class { constructor(message) { this.message = message; } },
  Diagnostic,
  CodeLens: class { constructor(range, command) { Object.assign(this, { range, command }); } },
  TestRunProfileKind: { Run: 1 },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

(async () => {
  const extension = await require("../extension.js").activate({ subscriptions: [] });
  try {
    const wrong = collections["mcprove-suites"].get(path.join(root, "evals/wrong.yaml"));
    assert.strictEqual(wrong[0].code, "unknown-key");
    assert.strictEqual(wrong[0].range.line, 1);
    // A mistake that is corrected goes away when the file is saved.
    fs.rmSync(path.join(root, "evals/wrong.yaml"));
    await saved[0]({ languageId: "yaml" });
    assert.strictEqual(collections["mcprove-suites"].size, 0);
    const library = path.join(root, "evals/library.yaml");
    const lenses = lensProvider.provideCodeLenses({ uri: uri(library) });
    assert.strictEqual(lenses.length, 16);
    assert.strictEqual(lenses[0].range.line, 8);
    const lens = lenses.find((one) => one.command.arguments[0].includes("fails: the wrong title"));
    await commands[lens.command.command](...lens.command.arguments);
    assert.strictEqual(results.length, 1);
    assert.deepStrictEqual(results[0].slice(0, 2), ["fails: the wrong title", "failed"]);
    assert.match(results[0][2].message, /error\[exact\]/);
    const [failure] = collections["mcprove-failures"].get(library);
    assert.strictEqual(failure.range.line, 35);
    assert.match(failure.message, /expected: Walden\nactual: Moby-Dick/);
    results.length = 0;
    await controller.runAll({});
    const count = (verdict) => results.filter((result) => result[1] === verdict).length;
    assert.deepStrictEqual(["passed", "failed", "errored", "skipped"].map(count), [12, 5, 1, 2]);
    // A run button of before the last save runs the test of now, and says so if there is none.
    const again = listedAgain;
    await saved[0]({ languageId: "yaml" });
    assert.strictEqual(listedAgain, again + 1, "run buttons are made again");
    results.length = 0;
    await commands[lens.command.command](...lens.command.arguments);
    assert.deepStrictEqual(results[0].slice(0, 2), ["fails: the wrong title", "failed"]);
    await commands[lens.command.command]("evals/library.yaml\nno such test\n\n1");
    assert.match(informed[0], /this test is not in the file any more/);
    // A run that is stopped ends, and the next one works.
    const manifest = path.join(root, "evals/fixtures/library.mock.yaml");
    const server = `{command: mcprove, args: [mock, --tools-from, ${JSON.stringify(manifest)}, --fault, search=hang]}`;
    const hangs = `name: hangs\nserver: ${server}\ntimeout: 600s\nassert: {tool: search, args: {word: whale}, expect: {not_error: true}}\n`;
    fs.writeFileSync(path.join(root, "evals/hangs.yaml"), hangs);
    await saved[0]({ languageId: "yaml" });
    results.length = 0;
    const token = { isCancellationRequested: false, onCancellationRequested: (stop) => ((token.stop = stop), { dispose() {} }) };
    const include = [...controller.items.values()].filter((file) => file.label === "evals/hangs.yaml");
    const stopped = controller.runAll({ include }, token);
    token.isCancellationRequested = true;
    token.stop();
    await stopped;
    assert.deepStrictEqual(results, []);
    fs.rmSync(path.join(root, "evals/hangs.yaml"));
    await saved[0]({ languageId: "yaml" });
    await commands[lens.command.command](...lens.command.arguments);
    assert.deepStrictEqual(results[0].slice(0, 2), ["fails: the wrong title", "failed"]);
    // A test that is gone is no longer listed, however often and fast files are saved.
    const listed = () => [...controller.items.values()].map((file) => [file.label, file.children.size]);
    const before = listed();
    fs.rmSync(path.join(root, "evals/1-search.yaml"));
    await Promise.all([saved[0]({ languageId: "yaml" }), saved[0]({ languageId: "yaml" })]);
    assert.deepStrictEqual(listed(), before.filter(([file]) => file !== "evals/1-search.yaml"));
    assert.strictEqual(lensProvider.provideCodeLenses({ uri: uri(library) }).length, 16);
    assert.deepStrictEqual(told, []);
    // A program that is missing, or another one, is named once.
    const other = path.join(root, "other");
    fs.writeFileSync(other, "#!/bin/sh\necho hello\ncat >/dev/null\n", { mode: 0o755 });
    for (const [wrong, message] of [["no-such-mcprove", /`no-such-mcprove` could not be started/], [other, /sent `hello`, which is no reply/]]) {
      configured = wrong;
      told.length = 0;
      await saved[0]({ languageId: "yaml" });
      await saved[0]({ languageId: "yaml" });
      assert.strictEqual(told.length, 1, told);
      assert.match(told[0], message);
      assert.match(told[0], /the setting `mcprove.program` names the mcprove program/);
    }
    console.log("the extension shows mistakes, runs tests and shows failures");
  } finally {
    extension.dispose();
    fs.rmSync(root, { recursive: true });
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
