export type Expectation = Record<string, unknown> | Array<{ target: string; matcher: Record<string, unknown> }>;
export type ServerDescription = string | Record<string, unknown>;
export interface RequestOptions {
  expect?: Expectation;
  timeoutMs?: number;
}
export interface Test {
  name: string;
  file: string;
  line: number;
  variant: string | null;
  trial: number;
  server: string | null;
  tags: string[];
  skip: string | null;
}
export interface DriverOptions {
  program?: string;
  cwd?: string;
  /** How snapshots are stored, for messages. */
  update?: string;
}
export interface SuiteOptions extends DriverOptions {
  /** Arguments of `mcprove run`. */
  args?: string[];
  /** Run all tests of a file when the first of them is wanted, so that they share a server. */
  batch?: boolean;
}
export class DriveError extends Error {
  kind: string;
  findings: unknown[];
}
export class ExpectationFailed extends Error {}
export class Driver {
  constructor(options?: DriverOptions);
  cwd: string;
  request(method: string, params?: Record<string, unknown>): Promise<any>;
  open(server: ServerDescription, params?: { file?: string; update_snapshots?: boolean; timeout_ms?: number }): Promise<Server>;
  runTest(test: Test, args?: string[]): Promise<unknown>;
  close(): Promise<void>;
}
export class Server {
  name: string;
  version: string;
  protocol: string;
  capabilities: unknown;
  call(tool: string, args?: Record<string, unknown>, options?: RequestOptions): Promise<Reply>;
  read(uri: string, options?: RequestOptions): Promise<Reply>;
  prompt(name: string, args?: Record<string, string>, options?: RequestOptions): Promise<Reply>;
  test(test: Record<string, unknown>): Promise<Reply>;
  list(): Promise<{ tools: any[]; resources: any[]; resource_templates: any[]; prompts: any[]; findings: any[] }>;
  close(): Promise<void>;
}
export class Reply {
  outcome: "result" | "error" | "malformed" | "refused" | "timeout" | "closed" | "cancelled" | "none";
  result?: any;
  error?: { code: number; message: string; data: unknown };
  text: string;
  isError: boolean;
  structured?: any;
  durationMs: number;
  passed: boolean;
  message: string;
  findings: unknown[];
  json(): any;
  expect(expect: Expectation): Promise<Reply>;
  snapshot(name: string, target?: string): Promise<Reply>;
}
export function collect(args: string[], options?: DriverOptions): { tests: Test[]; usable: boolean; findings: unknown[]; message: string };
