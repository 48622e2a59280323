"use strict";
// Suites in the editor: mistakes and failures at their lines, and a run button at every test. The program does the work.

const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { Client } = require("./client.js");

/** The state of a workspace folder. */
class Folder {
  constructor(folder, extension) {
    this.root = folder.uri.fsPath;
    this.extension = extension;
    this.tests = new Map();
    this.byId = new Map();
    const settings = vscode.workspace.getConfiguration("mcprove", folder.uri);
    this.suites = settings.get("suites");
    this.args = settings.get("args");
    this.client = new Client(settings.get("program"), this.root, (text) => extension.output.append(text));
  }

  /** Lists the tests again, and shows the mistakes. */
  async refresh() {
    const { mistakes } = this.extension;
    const suites = this.suites.filter((suite) => fs.existsSync(path.join(this.root, suite)));
    if (suites.length === 0) return;
    const found = await this.client.request("collect", { args: [...suites, ...this.args] });
    for (const [file, diagnostics] of this.diagnostics(found.findings)) mistakes.set(this.uri(file), diagnostics);
    for (const test of found.tests) this.addTest(test);
  }

  addTest(test) {
    const { controller } = this.extension;
    const uri = this.uri(test.file);
    let file = controller.items.get(uri.toString());
    if (!file) {
      file = controller.createTestItem(uri.toString(), test.file, uri);
      controller.items.add(file);
    }
    const id = [test.file, test.name, test.variant ?? "", test.trial].join("\n");
    const label = test.variant ? `${test.name} [${test.variant}]` : test.name;
    const item = controller.createTestItem(id, label, uri);
    item.range = new vscode.Range(test.line - 1, 0, test.line - 1, 0);
    item.tags = test.tags.map((tag) => new vscode.TestTag(tag));
    item.description = test.skip === null ? undefined : `skipped: ${test.skip}`;
    file.children.add(item);
    this.extension.known.set(item, { folder: this, test });
    this.tests.set(id, item);
    this.byId.set(id, test);
  }

  /** Runs tests of this folder, and reports each. */
  async run(items, run, token) {
    const { failures } = this.extension;
    const tests = items.map((item) => this.byId.get(item.id));
    for (const item of items) run.started(item);
    const files = [...new Set(tests.map((test) => test.file))];
    const wanted = tests.map(({ file, name }) => ({ file, name }));
    let answer;
    try {
      answer = await this.client.request("run", { args: [...files, ...this.args], tests: wanted });
    } catch (error) {
      if (token?.isCancellationRequested) return;
      for (const item of items) run.errored(item, new vscode.TestMessage(error.message));
      return;
    }
    for (const file of files) failures.delete(this.uri(file));
    const failing = [];
    for (const result of answer.results) {
      const item = this.tests.get([result.file, result.name, result.variant ?? "", result.trial].join("\n"));
      if (!item || !items.includes(item)) continue;
      this.report(item, result, run);
      if (result.verdict === "failed" || result.verdict === "error") failing.push(...result.findings);
    }
    for (const [file, diagnostics] of this.diagnostics(failing)) failures.set(this.uri(file), diagnostics);
  }

  report(item, result, run) {
    const took = result.duration_us / 1000;
    if (result.verdict === "passed") run.passed(item, took);
    else if (result.verdict === "skipped") run.skipped(item);
    else {
      const message = new vscode.TestMessage(result.message);
      const place = result.findings.map((finding) => finding.place?.text).find(Boolean);
      const range = place ? rangeOf(place) : item.range;
      message.location = new vscode.Location(place ? this.uri(place.file) : item.uri, range);
      if (result.verdict === "failed") run.failed(item, message, took);
      else run.errored(item, message, took);
    }
  }

  /** Findings with a place, as diagnostics by file. */
  diagnostics(findings) {
    const byFile = new Map();
    for (const finding of findings) {
      const place = finding.place?.text;
      if (!place) continue;
      const severity = { note: 2, warning: 1 }[finding.severity] ?? 0;
      const lines = [finding.message];
      if (finding.expected !== undefined) lines.push(`expected: ${finding.expected}`);
      if (finding.actual !== undefined) lines.push(`actual: ${finding.actual}`);
      if (finding.help !== undefined) lines.push(`help: ${finding.help}`);
      const diagnostic = new vscode.Diagnostic(rangeOf(place), lines.join("\n"), severity);
      diagnostic.source = "mcprove";
      diagnostic.code = finding.rule;
      if (!byFile.has(place.file)) byFile.set(place.file, []);
      byFile.get(place.file).push(diagnostic);
    }
    return byFile;
  }

  uri(file) {
    return vscode.Uri.file(path.resolve(this.root, file));
  }
}

function rangeOf(place) {
  return new vscode.Range(place.line - 1, place.column - 1, place.end_line - 1, place.end_column - 1);
}

/** Everything of the extension: one test controller, the folders, and what is known of each test. */
class Extension {
  constructor() {
    this.output = vscode.window.createOutputChannel("mcprove");
    this.controller = vscode.tests.createTestController("mcprove", "mcprove");
    this.mistakes = vscode.languages.createDiagnosticCollection("mcprove-suites");
    this.failures = vscode.languages.createDiagnosticCollection("mcprove-failures");
    this.known = new Map();
    this.folders = [];
    this.refreshed = Promise.resolve();
    this.controller.refreshHandler = () => this.refresh();
    this.listed = new vscode.EventEmitter();
    const run = (request, token) => this.run(request, token);
    this.controller.createRunProfile("Run", vscode.TestRunProfileKind.Run, run, true);
  }

  /** Lists everything again; one after the other, because files are saved faster than suites are listed. */
  refresh() {
    this.refreshed = this.refreshed.then(() => this.list());
    return this.refreshed;
  }

  async list() {
    for (const folder of this.folders) folder.client.dispose();
    this.known.clear();
    this.controller.items.replace([]);
    this.mistakes.clear();
    this.folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => new Folder(folder, this));
    for (const folder of this.folders) {
      try {
        await folder.refresh();
        this.told = undefined;
      } catch (error) {
        this.tell(error.message);
      }
    }
    // Run buttons were made for the tests that were listed before.
    this.listed.fire();
  }

  /** Shows a message once, not at every file that is saved. */
  tell(message) {
    this.output.appendLine(message);
    if (this.told === message) return;
    this.told = message;
    void vscode.window.showErrorMessage(`mcprove: ${message}`);
  }

  /** Runs the test that a run button names. */
  async runTest(id) {
    const item = [...this.known.keys()].find((item) => item.id === id);
    if (item) await this.run({ include: [item] });
    else void vscode.window.showInformationMessage("mcprove: this test is not in the file any more; save the file to list its tests again");
  }

  async run(request, token) {
    const run = this.controller.createTestRun(request);
    const wanted = [];
    const add = (item) => {
      if (request.exclude?.includes(item)) return;
      if (this.known.has(item)) wanted.push(item);
      item.children.forEach(add);
    };
    if (request.include) request.include.forEach(add);
    else this.controller.items.forEach(add);
    // Tests may be listed again meanwhile.
    const byFolder = new Map();
    for (const item of wanted) {
      const { folder } = this.known.get(item);
      byFolder.set(folder, [...(byFolder.get(folder) ?? []), item]);
    }
    const stop = token?.onCancellationRequested(() => byFolder.forEach((_, folder) => folder.client.stop()));
    for (const [folder, items] of byFolder) {
      if (!token?.isCancellationRequested) await folder.run(items, run, token);
    }
    stop?.dispose();
    run.end();
  }

  lenses(document) {
    const lenses = [];
    for (const item of this.known.keys()) {
      if (item.uri.toString() !== document.uri.toString()) continue;
      const command = { title: "▶ Run test", command: "mcprove.runTest", arguments: [item.id] };
      lenses.push(new vscode.CodeLens(item.range, command));
    }
    return lenses;
  }

  dispose() {
    for (const folder of this.folders) folder.client.dispose();
    for (const part of [this.controller, this.mistakes, this.failures, this.listed, this.output]) part.dispose();
  }
}

async function activate(context) {
  const extension = new Extension();
  const isSuite = (document) => document.languageId === "yaml";
  context.subscriptions.push(
    extension,
    vscode.commands.registerCommand("mcprove.refresh", () => extension.refresh()),
    vscode.commands.registerCommand("mcprove.runTest", (id) => extension.runTest(id)),
    vscode.languages.registerCodeLensProvider(
      { language: "yaml" },
      { onDidChangeCodeLenses: extension.listed.event, provideCodeLenses: (document) => extension.lenses(document) },
    ),
    vscode.workspace.onDidSaveTextDocument((document) => (isSuite(document) ? extension.refresh() : undefined)),
    vscode.workspace.onDidChangeConfiguration((event) => (event.affectsConfiguration("mcprove") ? extension.refresh() : undefined)),
    vscode.workspace.onDidChangeWorkspaceFolders(() => extension.refresh()),
  );
  await extension.refresh();
  return extension;
}

module.exports = { activate, deactivate() {} };
