// Runs mcprove suites in Vitest, and drives MCP servers from its tests.

import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import drive from "@mcprove/drive";

/** Defines a test for each test of the suites. */
export function suites(paths, options = {}) {
  const files = drive.byFile([paths].flat(), options);
  let driver;
  const running = () => (driver ??= new drive.Driver(options));
  for (const [file, tests] of files) {
    const run = drive.runner(running, tests, options);
    describe(file, () => {
      for (const one of tests) {
        test(drive.title(one), { timeout: 0 }, async (context) => {
          if (one.skip !== null) context.skip(one.skip);
          const result = await run(one);
          if (result.verdict === "skipped") context.skip(result.reason);
        });
      }
    });
  }
  afterAll(() => driver?.close());
}

/** A server for the tests of the current file: a function that returns the open session, fresh for each test. */
export function mcpServer(server, { updateSnapshots = updatesSnapshots(), timeoutMs, ...options } = {}) {
  let driver, session;
  beforeEach(async () => {
    driver ??= new drive.Driver({ update: "`vitest --update`", ...options });
    const file = expect.getState().testPath;
    const params = { file, update_snapshots: updateSnapshots };
    session = await driver.open(server, timeoutMs === undefined ? params : { ...params, timeout_ms: timeoutMs });
    // The program has its own time limit, and says which server did not start.
  }, 0);
  afterEach(async () => {
    const opened = session;
    session = undefined;
    // The test may have closed it.
    await opened?.close().catch((error) => {
      if (!(error instanceof drive.DriveError)) throw error;
    });
  }, 0);
  afterAll(() => driver?.close());
  return () => session;
}

/** `vitest --update` also stores the snapshots of mcprove. */
function updatesSnapshots() {
  return expect.getState().snapshotState?._updateSnapshot === "all";
}
