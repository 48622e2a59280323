import type { ServerDescription, Server, SuiteOptions } from "@mcprove/drive";
/** Defines a test for each test of the suites. */
export function suites(paths: string | string[], options?: SuiteOptions): void;
/** A server for the tests of the current file: a function that returns the open session, fresh for each test. */
export function mcpServer(server: ServerDescription, params?: { updateSnapshots?: boolean; timeoutMs?: number }): () => Server;
