// The report of one run.
import { type JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { CopyButton, ThemeButton } from '../parts';
import { hashParams, setHash } from '../location';
import { human, oneLine } from '../text';
import { CaseRow } from './case';
import { type Report, type Row, type RunContext, type Verdict, SIGNS, WORDS, hayOf, keyOf, rank, rowsOf } from './data';
import { FindingBox } from './finding';
import { Matrix, ReliabilityTable, ToolsTable } from './tables';
import { Timings } from './timings';

const PAGE = 100;

type Filter = 'all' | Verdict | 'flaky' | 'warned';
const FILTERS: [Filter, string][] = [['all', 'all'], ['failed', 'failed'], ['error', 'could not run'], ['unfinished', 'did not end'], ['flaky', 'flaky'], ['warned', 'with warnings'], ['passed', 'passed'], ['skipped', 'skipped']];
type Order = 'worst' | 'plan' | 'slow';
type Group = 'none' | 'file' | 'tag';

/** The filters are in the URL, so that a link shows what its sender saw. */
interface View { filter: Filter; order: Order; group: Group; text: string; open: string[] }

function viewOfHash(): View {
  const params = hashParams();
  const linked = /^#(test-[0-9a-f]{8})$/.exec(location.hash)?.[1];
  const pick = <T extends string>(value: string | null, all: readonly T[], other: T) => (all.includes(value as T) ? (value as T) : other);
  return {
    filter: pick(params.get('show'), FILTERS.map(([key]) => key), 'all'),
    order: pick(params.get('order'), ['worst', 'plan', 'slow'] as const, 'worst'),
    group: pick(params.get('group'), ['none', 'file', 'tag'] as const, 'none'),
    text: params.get('q') ?? '',
    open: linked ? [linked] : (params.get('open')?.split(',').filter(id => /^test-[0-9a-f]{8}$/.test(id)) ?? []),
  };
}

const paramsOf = (view: View): Record<string, string | null> => ({
  show: view.filter === 'all' ? null : view.filter,
  order: view.order === 'worst' ? null : view.order,
  group: view.group === 'none' ? null : view.group,
  q: view.text,
  open: view.open.slice(-10).join(','),
});

/** What the search looks in is prepared before anyone types, a few rows at a time. */
function prepareSearch(rows: Row[]): () => void {
  let at = 0;
  let timer = 0;
  const some = () => {
    const until = performance.now() + 8;
    while (at < rows.length && performance.now() < until) hayOf(rows[at++]!);
    if (at < rows.length) timer = setTimeout(some, 4);
  };
  timer = setTimeout(some, 50);
  return () => clearTimeout(timer);
}

function Context({ context }: { context: RunContext }): JSX.Element {
  // Only a web address becomes a link; a log may hold anything.
  const link = context.ci_url && /^https?:\/\//.test(context.ci_url) ? context.ci_url : null;
  return (
    <p class="muted context">
      {context.command && <span><code>{oneLine(context.command)}</code> <CopyButton text={context.command} /></span>}
      {context.commit && <span>commit <code>{oneLine(context.commit.slice(0, 12))}</code>{context.branch ? ' on ' + oneLine(context.branch) : ''}</span>}
      {link && <a href={link} rel="noreferrer noopener" target="_blank">CI run</a>}
      {context.host && <span>on {oneLine(context.host)}</span>}
    </p>
  );
}

function Head({ report, inside }: { report: Report; inside: boolean }): JSX.Element {
  const s = report.summary;
  const counts: [Verdict, number][] = [['passed', s.passed], ['failed', s.failed], ['error', s.errors], ['unfinished', s.unfinished], ['skipped', s.skipped]];
  const bad = s.failed + s.errors + s.unfinished;
  const Title = inside ? 'h2' : 'h1';
  const Box = inside ? 'div' : 'header';
  const said = counts.filter(([key, n]) => n > 0 || key === 'passed').map(([key, n]) => n + ' ' + WORDS[key]).join(', ');
  useEffect(() => { if (!inside) document.title = 'mcprove: ' + said; }, [said]);
  const facts = [report.program, report.started && new Date(report.started).toLocaleString(), report.duration_us !== undefined && 'took ' + human(report.duration_us),
    (report.jobs ?? 1) > 1 && report.jobs + ' jobs', report.strict && 'strict', report.interrupted && 'interrupted'];
  return (
    <Box class="report-head">
      <div class="wide">
        <div class="bar">
          <Title><span class="brand">{inside ? 'run' : 'mcprove'}</span> <span id="verdict">{counts.filter(([key, n]) => n > 0 || (key === 'passed' && !bad)).map(([key, n]) => <span key={key} class={'part ' + SIGNS[key][1]}>{n} {WORDS[key]}</span>)}</span></Title>
          {!inside && <ThemeButton />}
        </div>
        <p id="facts" class="muted">{facts.filter(Boolean).map(fact => oneLine(String(fact))).join(' · ')}</p>
        {report.context && <Context context={report.context} />}
        <div class="share" role="img" aria-label={said}>{counts.map(([key, n]) => (n ? <span key={key} class={key} style={{ flex: `${n} 1 0` }} /> : null))}</div>
      </div>
    </Box>
  );
}

/** `inside` another page, the report leaves the title and the theme to that page. */
export function ReportPage({ report, inside = false }: { report: Report; inside?: boolean }): JSX.Element {
  const rows = useMemo(() => rowsOf(report.cases), [report]);
  const flaky = useMemo(() => new Set((report.reliability?.cases ?? []).filter(each => each.flaky).map(keyOf)), [report]);
  const [view, setView] = useState<View>(viewOfHash);
  const [limit, setLimit] = useState(PAGE);
  const search = useRef<HTMLInputElement>(null);
  const change = (part: Partial<View>) => setView(old => ({ ...old, ...part }));

  useEffect(() => {
    // A link to one test alone has no parameters yet.
    if (/^#test-[0-9a-f]{8}$/.test(location.hash)) setHash(paramsOf(view), '');
    else setHash(paramsOf(view));
  }, [view]);
  useEffect(() => prepareSearch(rows), [rows]);
  useEffect(() => {
    const onHash = () => setView(viewOfHash());
    window.addEventListener('hashchange', onHash);
    return () => window.removeEventListener('hashchange', onHash);
  }, []);
  useEffect(() => {
    const first = view.open[0];
    if (first) document.getElementById(first)?.scrollIntoView({ block: 'start' });
    const onKey = (event: KeyboardEvent) => {
      if (event.key === '/' && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')) {
        event.preventDefault();
        search.current?.focus();
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);

  const isFlaky = (row: Row) => flaky.has(keyOf(row.trials[0]!));
  const matches = (row: Row, filter: Filter) => {
    if (filter === 'all') return true;
    if (filter === 'flaky') return isFlaky(row);
    if (filter === 'warned') return row.trials.some(one => one.findings.some(f => f.severity === 'warning'));
    return row.worst === filter;
  };
  const counts = useMemo(() => FILTERS.map(([key]) => rows.filter(row => matches(row, key)).length), [rows, flaky]);
  const found = useMemo(() => {
    const words = view.text.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = rows.filter(row => matches(row, view.filter) && words.every(word => hayOf(row).includes(word)));
    const time = (row: Row) => row.trials.reduce((sum, one) => sum + one.duration_us, 0);
    if (view.order === 'worst') kept.sort((a, b) => rank(a.worst) - rank(b.worst) || a.position - b.position);
    if (view.order === 'slow') kept.sort((a, b) => time(b) - time(a) || a.position - b.position);
    return kept;
  }, [rows, view.filter, view.order, view.text]);

  const openRow = (row: Row) => {
    setView(old => ({ ...old, filter: 'all', text: '', open: [...old.open.filter(id => id !== row.id), row.id] }));
    setLimit(Math.max(limit, rows.indexOf(row) + PAGE));
    setTimeout(() => document.getElementById(row.id)?.scrollIntoView({ block: 'start' }), 0);
  };
  const toggle = (row: Row) => change({ open: view.open.includes(row.id) ? view.open.filter(id => id !== row.id) : [...view.open, row.id] });
  const rowNode = (row: Row) => <CaseRow key={row.id} row={row} open={view.open.includes(row.id)} flaky={isFlaky(row)} onToggle={() => toggle(row)} />;
  const shown = found.slice(0, limit);
  const groups = groupsOf(shown, view.group);
  const all = rows.length;
  const hasTags = report.cases.some(one => one.tags?.length);
  // They do not change while someone types.
  const tables = useMemo(() => (
    <>
      <Matrix rows={rows} onOpen={openRow} />
      <ReliabilityTable report={report} rows={rows} onOpen={openRow} />
      <ToolsTable cases={report.cases} />
    </>
  ), [report]);
  const Main = inside ? 'div' : 'main';

  return (
    <>
      <Head report={report} inside={inside} />
      <Main class="wide">
        {report.findings.length > 0 && <section id="run-findings"><h2>About the run</h2>{report.findings.map((each, index) => <FindingBox key={index} one={each} />)}</section>}
        {report.timings && <section id="times"><Timings timings={report.timings} hint={report.hint} ofRun /></section>}
        <section aria-label="tests">
          <h2>Tests</h2>
          <div class="tools">
            <div id="filters" class="filters" role="group" aria-label="filter by status">
              {FILTERS.map(([key, label], at) => {
                const n = counts[at]!;
                if (!n && key !== 'all') return null;
                return <button key={key} type="button" data-filter={key} aria-pressed={view.filter === key} onClick={() => { change({ filter: key }); setLimit(PAGE); }}>{label}<b>{n}</b></button>;
              })}
            </div>
            <label class="order"><span class="muted">group</span>
              <select id="group" value={view.group} onChange={event => change({ group: event.currentTarget.value as Group })}>
                <option value="none">no groups</option><option value="file">by file</option>{hasTags && <option value="tag">by tag</option>}
              </select></label>
            <label class="order"><span class="muted">order</span>
              <select id="order" value={view.order} onChange={event => change({ order: event.currentTarget.value as Order })}>
                <option value="worst">failures first</option><option value="plan">as planned</option><option value="slow">slowest first</option>
              </select></label>
            <input id="search" ref={search} type="search" placeholder="search names, findings, calls, stderr ( / )" aria-label="search" autocomplete="off" spellcheck={false}
              value={view.text} onInput={event => { change({ text: event.currentTarget.value }); setLimit(PAGE); }} />
          </div>
          <p id="shown" class="muted" aria-live="polite">{found.length === all ? (all === 1 ? '1 test' : all + ' tests') : found.length + ' of ' + all + ' tests'}</p>
          <div id="cases">
            {groups.map(([name, members]) => (name === null ? members.map(rowNode) : (
              <section class="group" key={name} aria-label={name}>
                <h2>{oneLine(name)} <span class="muted">{members.length}</span></h2>
                {members.map(rowNode)}
              </section>
            )))}
          </div>
          {found.length > shown.length && <button id="more" type="button" onClick={() => setLimit(limit + PAGE)}>show {Math.min(PAGE, found.length - shown.length)} more</button>}
        </section>
        {tables}
      </Main>
      {!inside && <footer class="wide muted" id="foot">Everything here is in this file; nothing is loaded from elsewhere.</footer>}
    </>
  );
}

function groupsOf(rows: Row[], group: Group): [string | null, Row[]][] {
  if (group === 'none') return [[null, rows]];
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const one = row.trials[0]!;
    const names = group === 'file' ? [one.file] : one.tags?.length ? one.tags : ['(no tag)'];
    for (const name of names) groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups];
}
