// The report as `mcprove` embeds it; see crates/report/src/formats/json.rs.

export type Verdict = 'passed' | 'failed' | 'error' | 'unfinished' | 'skipped';
export type Severity = 'note' | 'warning' | 'error' | 'high' | 'critical';

export interface Place {
  text?: { file: string; line: number; column: number; end_line: number; end_column: number; excerpt: string };
  wire?: { server: string; pointer: string };
}

export interface Finding {
  rule: string;
  severity: Severity;
  message: string;
  place?: Place;
  expected?: string;
  actual?: string;
  /** All of what `actual` shows a part of. */
  seen?: string;
  diff?: string;
  evidence?: { request: string; reply?: string };
  help?: string;
}

export interface Call {
  role: string;
  method: string;
  subject?: string;
  server?: string;
  fault?: string;
  request: string;
  reply?: string;
  elapsed_us: number;
}

export interface Frame {
  session: number;
  at_us: number;
  direction: 'sent' | 'received';
  kind: string;
  part?: {
    http_request?: { method: string; url: string; headers: [string, string][] };
    http_response?: { status: number; headers: [string, string][] };
    stream_event?: { event: string };
  };
  text: string;
  cut?: number;
  binary?: boolean;
}

export interface Agent {
  model: string;
  replayed?: boolean;
  prompts: string[];
  answer?: string;
  stop_reason: unknown;
  turns: number;
  usage: Record<string, number>;
  cost_usd_micros?: number;
  recovery?: string;
}

/** What a load measured, as a table. */
export interface LoadTable { facts: [string, string][]; head: string[]; rows: string[][] }

export interface Case {
  name: string;
  file: string;
  line: number;
  trial: number;
  server?: string;
  variant?: string;
  tags?: string[];
  verdict: Verdict;
  reason?: string;
  duration_us: number;
  timings?: Record<string, number>;
  findings: Finding[];
  calls: Call[];
  agent?: Agent;
  load_table?: LoadTable;
  sessions: { session: number; transport: string; protocol: string; server_name: string; server_version: string }[];
  stderr: string;
  process_end?: { code: number | null; signal: number | null };
  frames?: Frame[];
  frames_left_out?: number;
}

export interface Trials {
  name: string;
  file: string;
  variant?: string;
  run: number;
  passed: number;
  pass_at_k: boolean;
  pass_up_k: boolean;
  flaky: boolean;
  failing_trial?: number;
  message?: string;
}

/** Where and how a run was made. */
export interface RunContext {
  command?: string;
  commit?: string;
  branch?: string;
  ci_url?: string;
  host?: string;
}

export interface Report {
  program?: string;
  started?: string;
  duration_us?: number;
  interrupted: boolean;
  strict: boolean;
  jobs?: number;
  planned?: number;
  summary: { passed: number; failed: number; skipped: number; errors: number; unfinished: number };
  timings?: Record<string, number>;
  hint?: string;
  context?: RunContext;
  reliability?: { judged: number; capable: number; reliable: number; cases: Trials[] };
  findings: Finding[];
  cases: Case[];
}

/** The report as it is stored: texts of frames stand in one list, each once. */
export type ReportData = Omit<Report, 'cases'> & {
  texts?: string[];
  cases: (Omit<Case, 'frames'> & { frames?: (Omit<Frame, 'text'> & { text: string | number })[] })[];
};

/** Puts the texts of frames back where they belong; equal texts stay one string in memory. */
export function prepare(data: ReportData): Report {
  for (const one of data.cases) {
    for (const frame of one.frames ?? []) {
      if (typeof frame.text === 'number') frame.text = data.texts?.[frame.text] ?? '';
    }
  }
  return data as unknown as Report;
}

/** A run that goes on: the log may end within a test, and nothing is wrong with it yet. */
export function following(data: ReportData): ReportData {
  return { ...data, summary: { ...data.summary, unfinished: 0 }, cases: data.cases.filter(one => one.verdict !== 'unfinished') };
}

/** All trials of one test: one row of the page. */
export interface Row {
  /** Stable over runs: it is in the URL. */
  id: string;
  position: number;
  trials: Case[];
  worst: Verdict;
  hay: string | null;
}

const RANK: Record<Verdict, number> = { failed: 0, error: 0, unfinished: 0, passed: 1, skipped: 2 };

export const keyOf = (one: { file: string; name: string; variant?: string }): string => one.file + '\u0000' + one.name + '\u0000' + (one.variant ?? '');

/** Groups trials; a test keeps its id from run to run, as long as file, name and variant stay. */
export function rowsOf(cases: Case[]): Row[] {
  const rows = new Map<string, Row>();
  const known = new Map<string, number>();
  for (const one of cases) {
    let key = keyOf(one);
    // The same trial again is another test of the same name.
    const seen = rows.get(key)?.trials.some(other => other.trial === one.trial);
    if (seen) {
      const count = (known.get(key) ?? 1) + 1;
      known.set(key, count);
      key += '\u0000' + count;
    }
    const row = rows.get(key);
    if (!row) {
      rows.set(key, { id: idOf(key), position: rows.size, trials: [one], worst: one.verdict, hay: null });
    } else {
      row.trials.push(one);
      if (RANK[one.verdict] < RANK[row.worst]) row.worst = one.verdict;
    }
  }
  return [...rows.values()];
}

export const rank = (verdict: Verdict): number => RANK[verdict];

/** FNV-1a, 32 bits: short enough for a URL. */
export function idOf(key: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return 'test-' + (hash >>> 0).toString(16).padStart(8, '0');
}

/** The text that searching looks in. */
export function hayOf(row: Row): string {
  if (row.hay === null) {
    const parts: string[] = [];
    for (const one of row.trials) {
      parts.push(one.name, one.variant ?? '', one.file, one.server ?? '', one.reason ?? '', one.stderr, ...(one.tags ?? []));
      for (const f of one.findings) parts.push(f.rule, f.message, f.expected ?? '', f.actual ?? '', f.help ?? '');
      for (const c of one.calls) parts.push(c.method, c.subject ?? '', c.request, c.reply ?? '');
      if (one.agent) parts.push(...one.agent.prompts, one.agent.answer ?? '');
    }
    row.hay = parts.join('\n').toLowerCase();
  }
  return row.hay;
}

const SEVERITIES: Severity[] = ['note', 'warning', 'error', 'high', 'critical'];

/** One line that says why a test ended as it did. */
export function reasonOf(one: Case): string {
  if (one.reason) return one.reason;
  if (one.verdict === 'unfinished') return 'the run was stopped before it ended, or its log breaks off';
  const sorted = [...one.findings].sort((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity));
  return sorted[0]?.message ?? '';
}

export const WORDS: Record<Verdict, string> = { passed: 'passed', failed: 'failed', error: 'could not run', unfinished: 'did not end', skipped: 'skipped' };
export const SIGNS: Record<Verdict, [string, string]> = { passed: ['✓', 'good'], failed: ['✗', 'bad'], error: ['!', 'bad'], unfinished: ['!', 'bad'], skipped: ['○', 'skip'] };
