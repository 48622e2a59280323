// Runs: event logs of a folder and the runs of this page. One is shown, two are compared, all together are a trend per test.
import { type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { hashParams, setHash } from '../location';
import { type Actions, ActionsContext } from '../report/actions';
import { type Report, type ReportData, type Verdict, SIGNS, WORDS, idOf, keyOf, prepare } from '../report/data';
import { ReportPage } from '../report/page';
import { human, oneLine, visible } from '../text';
import { type Api, type State } from './api';

interface Listed { runs: { run: number; shown: string; over: boolean }[]; logs: { name: string; bytes: number }[] }
interface Past { id: string; started_unix_ms: number; context: { commit?: string; branch?: string } | null; passed: number; failed: number; skipped: number }
type Outcome = [run: number, verdict: Verdict, duration: number];
interface History { runs: Past[]; tests: { file: string; name: string; variant: string | null; results: Outcome[] }[] }

/** Runs that a trend shows. */
const TREND = 20;
const ROWS = 200;

export interface Trend {
  id: string;
  name: string;
  file: string;
  variant: string | null;
  results: Outcome[];
  passed: number;
  judged: number;
  /** Changes between passing and failing from one result to the next. */
  flips: number;
  /** Median of the durations of the older half and of the newer half. */
  before: number | null;
  after: number | null;
}

const median = (values: number[]): number | null => (values.length ? [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)]! : null);

export function trendsOf(history: History): Trend[] {
  return history.tests.map(test => {
    const results = test.results.filter(([run]) => run >= history.runs.length - TREND);
    const judged = results.filter(([, verdict]) => verdict !== 'skipped' && verdict !== 'unfinished');
    const good = judged.map(([, verdict]) => verdict === 'passed');
    const times = judged.map(([, , us]) => us);
    const half = Math.floor(times.length / 2);
    return {
      id: idOf(keyOf({ file: test.file, name: test.name, ...(test.variant === null ? {} : { variant: test.variant }) })), name: test.name, file: test.file, variant: test.variant, results,
      passed: good.filter(Boolean).length, judged: judged.length, flips: good.filter((each, at) => at > 0 && each !== good[at - 1]).length,
      before: median(times.slice(0, half)), after: median(times.slice(half)),
    };
  });
}

function Sparkline({ results }: { results: Outcome[] }): JSX.Element | null {
  const times = results.filter(([, verdict]) => verdict !== 'skipped').map(([, , us]) => us);
  const most = Math.max(...times, 1);
  if (times.length < 2) return null;
  const points = times.map((us, at) => `${(at / (times.length - 1)) * 78 + 1},${19 - (us / most) * 17}`).join(' ');
  return <svg width={80} height={20} role="img" aria-label={`durations: ${times.map(human).join(', ')}`}><polyline points={points} class="spark" /></svg>;
}

type Only = 'all' | 'flaky' | 'failing' | 'slower';

const isFlaky = (trend: Trend): boolean => trend.flips >= 2;
const isSlower = (trend: Trend): boolean => trend.judged >= 4 && trend.before !== null && trend.after !== null && trend.after > trend.before * 1.5 && trend.after - trend.before > 5000;
const FILTERS: Record<Only, (trend: Trend) => boolean> = { all: () => true, flaky: isFlaky, failing: trend => ['failed', 'error'].includes(trend.results[trend.results.length - 1]?.[1] ?? ''), slower: isSlower };

function TrendTable({ history, onOpen }: { history: History; onOpen: (run: string, test: string) => void }): JSX.Element {
  const [only, setOnly] = useState<Only>(() => { const only = hashParams().get('only'); return only && only in FILTERS ? (only as Only) : 'all'; });
  const [text, setText] = useState(() => hashParams().get('test') ?? '');
  const [limit, setLimit] = useState(ROWS);
  useEffect(() => setHash({ only: only === 'all' ? null : only, test: text }), [only, text]);
  const trends = trendsOf(history).sort((a, b) => b.flips - a.flips || a.passed / (a.judged || 1) - b.passed / (b.judged || 1) || (a.name < b.name ? -1 : 1));
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = trends.filter(trend => FILTERS[only](trend) && words.every(word => (trend.file + ' ' + trend.name).toLowerCase().includes(word)));
  const run = (at: number) => history.runs[at]!;
  return (
    <section id="trend" aria-label="trend per test">
      <h2>Tests over {history.runs.length === 1 ? '1 run' : Math.min(history.runs.length, TREND) + ' runs'}</h2>
      <p class="muted">Oldest first. A test is flaky when it changed between passing and failing at least twice.</p>
      <div class="tools">
        <div class="filters" role="group" aria-label="filter the tests">{(Object.keys(FILTERS) as Only[]).map(key => <button key={key} type="button" data-only={key} aria-pressed={only === key} onClick={() => setOnly(key)}>{key}<b>{trends.filter(FILTERS[key]).length}</b></button>)}</div>
        <input type="search" id="trend-search" aria-label="search the tests of all runs" placeholder="search tests" value={text} onInput={event => setText(event.currentTarget.value)} />
      </div>
      <div class="card scroll" tabIndex={0}><table>
        <thead><tr><th scope="col">test</th><th scope="col">results</th><th class="num" scope="col">passed</th><th class="num" scope="col">changes</th><th scope="col">time</th><th class="num" scope="col">median</th></tr></thead>
        <tbody>{found.slice(0, limit).map(trend => (
          <tr key={trend.id + trend.file}>
            <td>{oneLine(trend.name)}{trend.variant !== null && <span class="chip muted">{oneLine(trend.variant)}</span>}{isFlaky(trend) && <span class="chip warn">flaky</span>}<span class="muted about">{oneLine(trend.file)}</span></td>
            <td class="dots">{trend.results.map(([at, verdict, us], index) => {
              const title = `${new Date(run(at).started_unix_ms).toLocaleString()}${run(at).context?.commit ? ' ' + run(at).context!.commit!.slice(0, 8) : ''}: ${WORDS[verdict]} in ${human(us)}`;
              return <button key={index} type="button" class={'dot ' + SIGNS[verdict][1]} title={title} aria-label={title} onClick={() => onOpen(run(at).id, trend.id)}>{SIGNS[verdict][0]}</button>;
            })}</td>
            <td class="num">{trend.passed} / {trend.judged}</td><td class={'num' + (isFlaky(trend) ? ' warn' : '')}>{trend.flips}</td>
            <td><Sparkline results={trend.results} /></td><td class={'num' + (isSlower(trend) ? ' warn' : '')}>{trend.before === null ? '' : human(trend.before) + ' → '}{trend.after === null ? '–' : human(trend.after)}</td>
          </tr>
        ))}</tbody></table></div>
      {found.length > limit && <button type="button" class="quiet" onClick={() => setLimit(limit + ROWS)}>show more of {found.length}</button>}
    </section>
  );
}

export function Runs({ api, state }: { api: Api; state: State }): JSX.Element {
  const [listed, setListed] = useState<Listed | null>(null);
  const [history, setHistory] = useState<History | null>(null);
  const [shown, setShown] = useState<string[]>(() => ['a', 'b'].flatMap(name => hashParams().get(name) ?? []));
  const [reports, setReports] = useState<Record<string, Report | null>>({});
  const [problem, setProblem] = useState('');
  useEffect(() => {
    void api.call<Listed>('GET', 'runs').then(setListed, (error: Error) => setProblem(error.message));
    void api.call<History>('GET', 'history').then(setHistory, (error: Error) => setProblem(error.message));
  }, []);
  useEffect(() => {
    for (const id of shown) {
      if (id in reports) continue;
      const [kind, name] = [id.slice(0, 3), id.slice(4)];
      const asked = kind === 'run' ? api.call<{ report: ReportData | null }>('GET', 'runs/' + name) : api.call<{ report: ReportData | null }>('POST', 'logs', { name });
      asked.then(({ report }) => {
        if (!report) setProblem(`${name} holds no run: it is empty, or not an event log`);
        setReports(old => ({ ...old, [id]: report && prepare(report) }));
      }, (error: Error) => setProblem(`${id}: ${error.message}`));
    }
  }, [shown]);
  const facts = new Map(history?.runs.map(run => [run.id, run]) ?? []);
  const names = listed ? [...listed.runs.map(run => ({ id: 'run/' + run.run, name: run.shown })), ...listed.logs.map(log => ({ id: 'log/' + log.name, name: log.name }))] : [];
  const show = (next: string[], open = '') => {
    setProblem('');
    setHash({ a: next[0] ?? null, b: next[1] ?? null, ...(open ? { open, show: null, q: null } : { open: null }) });
    setShown(next);
  };
  const choose = (id: string) => show(shown.includes(id) ? shown.filter(each => each !== id) : [...shown, id].slice(-2));
  const [first, second] = shown.map(id => reports[id]);
  const actions: Actions = { folder: state.folder, explain: async rule => (await api.call<{ text: string }>('GET', 'explain/' + rule)).text };
  return (
    <section aria-label="runs">
      {problem && <p class="bad" role="alert">{visible(problem)}</p>}
      <div class="card"><h2>Runs</h2><p class="muted">One is shown, two are compared.</p>
        {names.map(each => {
          const run = facts.get(each.id);
          return (
            <label class="check" key={each.id}><input type="checkbox" checked={shown.includes(each.id)} onChange={() => choose(each.id)} /> <code>{oneLine(each.name)}</code>
              {run && <span class="muted"> {new Date(run.started_unix_ms).toLocaleString()}{run.context?.commit && ' ' + oneLine(run.context.commit.slice(0, 8))} <span class="good">{run.passed} passed</span>{run.failed > 0 && <span class="bad"> {run.failed} failed</span>}</span>}</label>
          );
        })}
        {listed && names.length === 0 && <p class="muted">There are no event logs (`*.ndjson`) in this folder, and nothing was run yet.</p>}
      </div>
      {first && second ? <Comparison before={first} after={second} /> : first && <ActionsContext.Provider value={actions}><ReportPage key={shown[0]} report={first} inside /></ActionsContext.Provider>}
      {shown.length === 0 && history && history.runs.length > 0 && <TrendTable history={history} onOpen={(run, test) => show([run], test)} />}
    </section>
  );
}

/** The tests of two runs: verdicts that changed first, then shifts of latency. */
export function Comparison({ before, after }: { before: Report; after: Report }): JSX.Element {
  const old = new Map(before.cases.map(one => [keyOf(one) + one.trial, one]));
  const now = new Map(after.cases.map(one => [keyOf(one) + one.trial, one]));
  const rows = [...new Set([...old.keys(), ...now.keys()])].map(key => ({ was: old.get(key), is: now.get(key) }));
  const word = (verdict: Verdict | undefined) => (verdict ? WORDS[verdict] : 'absent');
  const changed = rows.filter(row => row.was?.verdict !== row.is?.verdict);
  const shifts = rows.filter(row => row.was && row.is && row.was.verdict === row.is.verdict && row.was.duration_us > 0)
    .map(row => ({ ...row, factor: row.is!.duration_us / row.was!.duration_us }))
    .filter(row => (row.factor > 1.5 || row.factor < 0.67) && Math.abs(row.is!.duration_us - row.was!.duration_us) > 5000)
    .sort((a, b) => b.factor - a.factor);
  const times = (report: Report) => median(report.cases.filter(one => one.verdict === 'passed').map(one => one.duration_us));
  const [was, is] = [times(before), times(after)];
  return (
    <div class="card scroll" id="comparison" tabIndex={0}>
      <h2>Compared</h2>
      <p>{changed.length === 0 ? 'no verdict has changed' : changed.length === 1 ? '1 verdict has changed' : changed.length + ' verdicts have changed'}{was !== null && is !== null && `; median of passing tests ${human(was)} → ${human(is)}`}</p>
      <table><thead><tr><th scope="col">test</th><th scope="col">before</th><th scope="col">after</th><th class="num" scope="col">time before</th><th class="num" scope="col">time after</th></tr></thead>
        <tbody>{[...changed, ...shifts].slice(0, 500).map((row, index) => (
          <tr key={index}><td>{oneLine((row.is ?? row.was)!.name)}</td><td class="dots">{word(row.was?.verdict)}</td><td class={'dots ' + (row.is?.verdict === 'passed' ? 'good' : row.is && row.is.verdict !== 'skipped' ? 'bad' : 'muted')}>{word(row.is?.verdict)}</td>
            <td class="num">{row.was ? human(row.was.duration_us) : '–'}</td><td class="num">{row.is ? human(row.is.duration_us) : '–'}</td></tr>
        ))}</tbody></table>
    </div>
  );
}
