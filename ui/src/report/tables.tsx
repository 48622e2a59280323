// Tables over all tests: variants, trials, tools.
import { type ComponentChildren, type JSX } from 'preact';
import { human, oneLine } from '../text';
import { type Case, type Report, type Row, SIGNS, WORDS, keyOf } from './data';
import { parsed } from './frames';

const MOST = 2000;

function Table({ heads, children }: { heads: [string, string?][]; children: ComponentChildren }): JSX.Element {
  return (
    <div class="card scroll" tabIndex={0}>
      <table>
        <thead><tr>{heads.map(([text, name], index) => <th key={index} class={name ?? ''} scope="col">{text}</th>)}</tr></thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Dot({ one, title, onOpen }: { one: Case; title: string; onOpen: () => void }): JSX.Element {
  const [sign, tone] = SIGNS[one.verdict];
  return <button type="button" class={'dot ' + tone} title={title + ': ' + WORDS[one.verdict]} aria-label={title + ': ' + WORDS[one.verdict]} onClick={onOpen}>{sign}</button>;
}

type Open = (row: Row) => void;

/** The same tests on several servers or revisions. */
export function Matrix({ rows, onOpen }: { rows: Row[]; onOpen: Open }): JSX.Element | null {
  const columns = [...new Set(rows.flatMap(row => row.trials.flatMap(one => (one.variant === undefined ? [] : [one.variant]))))];
  if (!columns.length) return null;
  const lines = new Map<string, { name: string; cells: Map<string, [Row, Case][]> }>();
  for (const row of rows) {
    for (const one of row.trials) {
      const key = one.file + '\u0000' + one.name;
      if (!lines.has(key)) lines.set(key, { name: one.name, cells: new Map() });
      const cells = lines.get(key)!.cells;
      cells.set(one.variant ?? '', [...(cells.get(one.variant ?? '') ?? []), [row, one]]);
    }
  }
  return (
    <section id="matrix">
      <h2>Matrix</h2>
      <Table heads={[['test'], ...columns.map((column): [string] => [oneLine(column)])]}>
        {[...lines.values()].slice(0, MOST).map((line, index) => (
          <tr key={index}>
            <td>{oneLine(line.name)}</td>
            {columns.map(column => <td key={column}>{(line.cells.get(column) ?? []).map(([row, one], at) => <Dot key={at} one={one} title={oneLine(column)} onOpen={() => onOpen(row)} />)}</td>)}
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** Tests that were tried more than once. */
export function ReliabilityTable({ report, rows, onOpen }: { report: Report; rows: Row[]; onOpen: Open }): JSX.Element | null {
  const part = report.reliability;
  if (!part) return null;
  const byKey = new Map(rows.map(row => [keyOf(row.trials[0]!), row]));
  const mark = (run: number, yes: boolean) => <td class={run ? (yes ? 'good' : 'bad') : 'muted'}>{run ? (yes ? 'yes' : 'no') : '–'}</td>;
  return (
    <section id="reliability">
      <h2>Reliability</h2>
      <p class="muted">pass@k: {part.capable}/{part.judged} passed at least once, pass^k: {part.reliable}/{part.judged} passed every time</p>
      <Table heads={[['test'], ['trials'], ['passed', 'num'], ['pass@k'], ['pass^k']]}>
        {part.cases.slice(0, MOST).map((each, index) => {
          const row = byKey.get(keyOf(each));
          return (
            <tr key={index}>
              <td>
                {oneLine(each.name)}
                {each.variant !== undefined && <span class="chip muted">{oneLine(each.variant)}</span>}
                {each.flaky && <span class="chip warn">flaky</span>}
                {each.flaky && each.message && <div class="muted">trial {each.failing_trial}: {oneLine(each.message)}</div>}
              </td>
              <td class="dots">{row?.trials.map(one => <Dot key={one.trial} one={one} title={'trial ' + one.trial} onOpen={() => onOpen(row)} />)}</td>
              <td class="num">{each.passed} / {each.run}</td>
              {mark(each.run, each.pass_at_k)}
              {mark(each.run, each.pass_up_k)}
            </tr>
          );
        })}
      </Table>
    </section>
  );
}

/** Bars over powers of two, the same scale for every tool, so that shapes can be compared. */
function Histogram({ values, low, high }: { values: number[]; low: number; high: number }): JSX.Element {
  const bins = new Array<number>(high - low + 1).fill(0);
  for (const us of values) bins[Math.floor(Math.log2(Math.max(us, 1))) - low]!++;
  const width = Math.min(28, Math.floor(300 / bins.length));
  const height = 34;
  const most = Math.max(...bins);
  return (
    <svg width={Math.max(bins.length * width, 64)} height={height + 14} role="img" aria-label="latency distribution">
      <line x1={0} x2={bins.length * width} y1={height + 0.5} y2={height + 0.5} />
      {bins.map((count, index) => {
        if (!count) return null;
        const tall = Math.max(2, Math.round((count / most) * (height - 2)));
        return <rect key={index} x={index * width + 1} y={height - tall} width={width - 2} height={tall} rx={1}><title>{human(2 ** (low + index))} to {human(2 ** (low + index + 1))}: {count === 1 ? '1 call' : count + ' calls'}</title></rect>;
      })}
      <text x={0} y={height + 12}>{human(2 ** low)}</text>
      {bins.length * width > 90 && <text x={bins.length * width} y={height + 12} text-anchor="end">{human(2 ** (high + 1))}</text>}
    </svg>
  );
}

/** Listed tools and their calls. A call without a reply counts as a call, and has no latency. */
export function toolsOf(cases: Case[]): { tools: Map<string, { calls: number; times: number[] }>; listed: Set<string> } {
  const tools = new Map<string, { calls: number; times: number[] }>();
  const listed = new Set<string>();
  const seen = new Set<string>();
  for (const one of cases) {
    for (const frame of one.frames ?? []) {
      if (frame.kind !== 'reply' || seen.has(frame.text) || !frame.text.includes('"tools"')) continue;
      seen.add(frame.text);
      const list = (parsed(frame.text)?.result as { tools?: unknown } | undefined)?.tools;
      if (!Array.isArray(list)) continue;
      for (const tool of list as { name?: unknown }[]) if (typeof tool?.name === 'string') listed.add(tool.name);
    }
    for (const call of one.calls) {
      const key = call.subject ?? call.method;
      const known = tools.get(key) ?? { calls: 0, times: [] };
      known.calls++;
      if (call.reply !== undefined) known.times.push(call.elapsed_us);
      tools.set(key, known);
    }
  }
  for (const { times } of tools.values()) times.sort((a, b) => a - b);
  return { tools, listed };
}

export function ToolsTable({ cases }: { cases: Case[] }): JSX.Element | null {
  const { tools, listed } = toolsOf(cases);
  const untested = [...listed].filter(tool => !tools.has(tool)).sort();
  if (!tools.size && !untested.length) return null;
  const log = (us: number) => Math.floor(Math.log2(Math.max(us, 1)));
  const measured = [...tools.values()].filter(tool => tool.times.length);
  const low = Math.min(...measured.map(tool => log(tool.times[0]!)));
  const high = Math.max(0, ...measured.map(tool => log(tool.times[tool.times.length - 1]!)));
  const at = (values: number[], share: number) => (values.length ? human(values[Math.min(values.length - 1, Math.ceil(values.length * share) - 1)]!) : '–');
  const sorted = [...tools].sort((a, b) => b[1].calls - a[1].calls || (a[0] < b[0] ? -1 : 1)).slice(0, 500);
  return (
    <section id="tools">
      <h2>Tools</h2>
      {listed.size > 0 && <p class="muted">{listed.size - untested.length} of {listed.size} listed tools were called</p>}
      <Table heads={[['tool'], ['calls', 'num'], ['median', 'num'], ['95 %', 'num'], ['slowest', 'num'], ['latency']]}>
        {sorted.map(([tool, { calls, times }]) => (
          <tr key={tool}>
            <td class="mono">{oneLine(tool)}{times.length < calls && <span class="chip bad">{calls - times.length} without a reply</span>}</td>
            <td class="num">{calls}</td>
            <td class="num">{at(times, 0.5)}</td>
            <td class="num">{at(times, 0.95)}</td>
            <td class="num">{at(times, 1)}</td>
            <td>{times.length > 0 && <Histogram values={times} low={low} high={high} />}</td>
          </tr>
        ))}
        {untested.slice(0, 500).map(tool => <tr key={tool}><td class="mono">{oneLine(tool)}</td><td class="num warn">0</td><td class="num">–</td><td class="num">–</td><td class="num">–</td><td class="warn">never called</td></tr>)}
      </Table>
    </section>
  );
}
