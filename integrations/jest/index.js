"use strict";
// Runs mcprove suites in Jest, and drives MCP servers from its tests.

const drive = require("@mcprove/drive");

/** Longer than any test: mcprove has deadlines of its own. */
const NEVER_MS = 2 ** 31 - 1;

/** Defines a test for each test of the suites. */
function suites(paths, options = {}) {
  const files = drive.byFile([paths].flat(), options);
  let driver;
  const running = () => (driver ??= new drive.Driver(options));
  for (const [file, tests] of files) {
    const run = drive.runner(running, tests, options);
    describe(file, () => {
      for (const one of tests) {
        // Jest has no place for the reason.
        if (one.skip !== null) test.skip(drive.title(one), () => {});
        else test(drive.title(one), () => run(one), NEVER_MS);
      }
    });
  }
  afterAll(() => driver?.close());
}

/** A server for the tests of the current file: a function that returns the open session, fresh for each test. */
function mcpServer(server, { updateSnapshots = updatesSnapshots(), timeoutMs, ...options } = {}) {
  let driver, session;
  beforeEach(async () => {
    driver ??= new drive.Driver({ update: "`jest --updateSnapshot`", ...options });
    const params = { file: expect.getState().testPath, update_snapshots: updateSnapshots };
    session = await driver.open(server, timeoutMs === undefined ? params : { ...params, timeout_ms: timeoutMs });
    // The program has its own time limit, and says which server did not start.
  }, NEVER_MS);
  afterEach(async () => {
    const opened = session;
    session = undefined;
    // The test may have closed it.
    await opened?.close().catch((error) => {
      if (!(error instanceof drive.DriveError)) throw error;
    });
  }, NEVER_MS);
  afterAll(() => driver?.close());
  return () => session;
}

/** `jest --updateSnapshot` also stores the snapshots of mcprove. */
function updatesSnapshots() {
  return expect.getState().snapshotState?._updateSnapshot === "all";
}

module.exports = { mcpServer, suites };
