// Tests, scans and earlier runs: each is an event log, shown by the page of a report.
import { type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Report, type ReportData, type Verdict, WORDS, keyOf, prepare } from '../report/data';
import { ReportPage } from '../report/page';
import { human, oneLine, visible } from '../text';
import { type Api, type State } from './api';

interface Run { run: number; words: string[]; over: boolean; complaint: string | null; report: ReportData | null }

/** A run that is followed until it is over. */
export function RunView({ api, run, onAgain }: { api: Api; run: number; onAgain: (words: string[]) => void }): JSX.Element {
  const [shown, setShown] = useState<Run | null>(null);
  useEffect(() => {
    let live = true;
    const follow = async () => {
      while (live) {
        const next = await api.call<Run>('GET', 'runs/' + run).catch(() => null);
        if (!live || !next) return;
        setShown(next);
        if (next.over) return;
        await new Promise(resolve => setTimeout(resolve, 700));
      }
    };
    void follow();
    return () => { live = false; };
  }, [run]);
  if (!shown) return <p class="muted">starting …</p>;
  return (
    <div>
      <p class="buttons"><code>mcprove {oneLine(shown.words.join(' '))}</code> <span class={shown.over ? 'muted' : 'warn'} id="run-state">{shown.over ? 'done' : 'running …'}</span>
        {shown.over && <button type="button" class="quiet" onClick={() => onAgain(shown.words)}>run again</button>}</p>
      {shown.complaint && <pre role="alert">{visible(shown.complaint)}</pre>}
      {shown.report && <ReportPage key={shown.over ? 'over' : 'running'} report={prepare(shown.report)} inside />}
    </div>
  );
}

export function Tests({ api, state, path }: { api: Api; state: State; path: string }): JSX.Element {
  const [words, setWords] = useState(path ? [path] : state.suites);
  const [filter, setFilter] = useState('');
  const [run, setRun] = useState<number | null>(null);
  const [problem, setProblem] = useState('');
  const start = async (line: string[]) => {
    setProblem('');
    try {
      setRun((await api.call<{ run: number }>('POST', 'runs', { words: line })).run);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const submit = (event: Event) => {
    event.preventDefault();
    void start(['run', ...words.filter(Boolean), ...(filter ? ['--filter', filter] : [])]);
  };
  return (
    <section aria-label="tests">
      <form class="card row-fields" onSubmit={submit}>
        <label for="suites">suites</label><input id="suites" value={words.join(' ')} placeholder="evals" onInput={event => setWords(event.currentTarget.value.split(' '))} />
        <label for="filter">filter</label><input id="filter" value={filter} onInput={event => setFilter(event.currentTarget.value)} />
        <button type="submit" class="primary" id="run-tests">run</button>
      </form>
      {problem && <p class="bad" role="alert">{visible(problem)}</p>}
      {run !== null && <RunView key={run} api={api} run={run} onAgain={line => void start(line)} />}
    </section>
  );
}

const SCANS: [string, string][] = [['audit', 'call every tool once'], ['negative', 'send what must be rejected'], ['fuzz', 'send what breaks programs']];

export function Scans({ api, server }: { api: Api; server: string }): JSX.Element {
  const [command, setCommand] = useState(server);
  const [run, setRun] = useState<number | null>(null);
  const [problem, setProblem] = useState('');
  const start = async (words: string[]) => {
    setProblem('');
    try {
      setRun((await api.call<{ run: number }>('POST', 'runs', { words })).run);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const subject = /^https?:\/\//.test(command) ? ['--url', command] : ['--server', command];
  return (
    <section aria-label="scans">
      <div class="card">
        <label for="scan-server">server</label> <input id="scan-server" value={command} placeholder="npx -y my-server" onInput={event => setCommand(event.currentTarget.value)} />
        <p class="muted">A scan calls tools, and tools may do what they say. Tools that say that they write are left out.</p>
        <div class="buttons">{SCANS.map(([name, about]) => <button key={name} type="button" class="quiet" title={about} disabled={!command.trim()} onClick={() => start([name, ...subject])}>{name}: {about}</button>)}</div>
      </div>
      {problem && <p class="bad" role="alert">{visible(problem)}</p>}
      {run !== null && <RunView key={run} api={api} run={run} onAgain={words => void start(words)} />}
    </section>
  );
}

interface Listed { runs: { run: number; words: string[]; over: boolean }[]; logs: { name: string; bytes: number }[] }

export function Runs({ api }: { api: Api }): JSX.Element {
  const [listed, setListed] = useState<Listed | null>(null);
  const [shown, setShown] = useState<string[]>([]);
  const [reports, setReports] = useState<Record<string, Report>>({});
  useEffect(() => { void api.call<Listed>('GET', 'runs').then(setListed); }, []);
  const names = listed ? [...listed.runs.map(run => ({ id: 'run/' + run.run, name: 'mcprove ' + run.words.join(' ') })), ...listed.logs.map(log => ({ id: 'log/' + log.name, name: log.name }))] : [];
  const choose = async (id: string) => {
    const next = shown.includes(id) ? shown.filter(each => each !== id) : [...shown, id].slice(-2);
    setShown(next);
    if (!reports[id]) {
      const [kind, name] = [id.slice(0, 3), id.slice(4)];
      const { report } = await api.call<{ report: ReportData | null }>('GET', kind === 'run' ? 'runs/' + name : 'logs/' + encodeURIComponent(name));
      if (report) setReports(old => ({ ...old, [id]: prepare(report) }));
    }
  };
  const [first, second] = shown.map(id => reports[id]);
  return (
    <section aria-label="runs">
      <div class="card"><h2>Runs</h2><p class="muted">One is shown, two are compared.</p>
        {names.map(each => <label class="check" key={each.id}><input type="checkbox" checked={shown.includes(each.id)} onChange={() => choose(each.id)} /> <code>{oneLine(each.name)}</code></label>)}
        {listed && names.length === 0 && <p class="muted">There are no event logs (`*.ndjson`) in this folder, and nothing was run yet.</p>}
      </div>
      {first && second ? <Comparison before={first} after={second} /> : first && <ReportPage key={shown[0]} report={first} inside />}
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
  return (
    <div class="card scroll" id="comparison">
      <h2>Compared</h2>
      <p>{changed.length === 0 ? 'no verdict has changed' : changed.length === 1 ? '1 verdict has changed' : changed.length + ' verdicts have changed'}</p>
      <table><thead><tr><th scope="col">test</th><th scope="col">before</th><th scope="col">after</th><th class="num" scope="col">time before</th><th class="num" scope="col">time after</th></tr></thead>
        <tbody>{[...changed, ...shifts].slice(0, 500).map((row, index) => (
          <tr key={index}><td>{oneLine((row.is ?? row.was)!.name)}</td><td>{word(row.was?.verdict)}</td><td class={row.is?.verdict === 'passed' ? 'good' : row.is && row.is.verdict !== 'skipped' ? 'bad' : 'muted'}>{word(row.is?.verdict)}</td>
            <td class="num">{row.was ? human(row.was.duration_us) : '–'}</td><td class="num">{row.is ? human(row.is.duration_us) : '–'}</td></tr>
        ))}</tbody></table>
    </div>
  );
}
