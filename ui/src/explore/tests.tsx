// Test: the suites as a tree, run as a whole or in part, again when a file changes.
import { type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { hashParams, setHash } from '../location';
import { EDITORS, editorName, exactly, setEditor } from '../report/actions';
import { type Case, type Finding, type Report, type Verdict, SIGNS, WORDS } from '../report/data';
import { FindingBox } from '../report/finding';
import { oneLine, visible } from '../text';
import { type Api, type State } from './api';
import { type Order, RunView, startRun } from './run-view';

interface Test { name: string; file: string; line: number; tags: string[]; server: string | null; is_skipped: boolean }
interface Suites { stamp: string; paths?: string[]; tests?: Test[]; findings?: Finding[] }

/** Tests of a file that are drawn at first. */
const SHOWN = 100;

const key = (file: string, name: string): string => file + '\u0000' + name;

/** Words of a line as a shell splits them, with quotes; the paths of suites. */
const pathsOf = (line: string): string[] => [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(match => match[1] ?? match[2] ?? match[3] ?? '');

function verdictsOf(report: Report | null): Map<string, Verdict> {
  const found = new Map<string, Verdict>();
  for (const one of report?.cases ?? []) {
    const known = found.get(key(one.file, one.name));
    if (!known || known === 'passed' || known === 'skipped') found.set(key(one.file, one.name), one.verdict);
  }
  return found;
}

function Tree({ tests, verdicts, onRun }: { tests: Test[]; verdicts: Map<string, Verdict>; onRun: (words: string[]) => void }): JSX.Element {
  const [text, setText] = useState('');
  const [group, setGroup] = useState<'file' | 'tag'>('file');
  const [more, setMore] = useState<Record<string, number>>({});
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = tests.filter(test => words.every(word => (test.file + ' ' + test.name + ' ' + test.tags.join(' ')).toLowerCase().includes(word)));
  const groups = new Map<string, Test[]>();
  for (const test of found) {
    for (const name of group === 'file' ? [test.file] : test.tags.length ? test.tags : ['(no tag)']) {
      const members = groups.get(name);
      if (members) members.push(test);
      else groups.set(name, [test]);
    }
  }
  const sign = (test: Test) => {
    const verdict = verdicts.get(key(test.file, test.name));
    if (!verdict) return <span class="sign muted" title={test.is_skipped ? 'skipped' : 'not run'}>{test.is_skipped ? '○' : '·'}</span>;
    return <span class={'sign ' + SIGNS[verdict][1]} title={WORDS[verdict]}>{SIGNS[verdict][0]}</span>;
  };
  const runGroup = (name: string) => onRun(group === 'file' ? [name] : [...new Set((groups.get(name) ?? []).map(test => test.file)), '--tag', name]);
  return (
    <nav class="catalog suite-tree" aria-label="tests of the suites">
      <input type="search" aria-label="search the tests" placeholder={`search ${tests.length} ${tests.length === 1 ? 'test' : 'tests'}`} value={text} onInput={event => setText(event.currentTarget.value)} />
      <label class="order"><span class="muted">by</span> <select value={group} onChange={event => setGroup(event.currentTarget.value as 'file' | 'tag')}><option value="file">file</option><option value="tag">tag</option></select></label>
      {[...groups].map(([name, members]) => (
        <div class="suite-group" key={name}>
        {name !== '(no tag)' && <button type="button" class="link" aria-label={'run all of ' + name} onClick={() => runGroup(name)}>run all</button>}
        <details open={groups.size === 1 || found.length <= 300}>
          <summary><b>{oneLine(name)}</b> <span class="muted">{members.length}</span></summary>
          <ul>
            {members.slice(0, more[name] ?? SHOWN).map((test, index) => (
              <li key={index}>{sign(test)} <span>{oneLine(test.name)}{test.tags.map(tag => <span class="chip muted" key={tag}>{oneLine(tag)}</span>)}</span>
                <button type="button" class="link" aria-label={'run ' + test.name} onClick={() => onRun([test.file, '--filter', exactly(test.name)])}>run</button></li>
            ))}
          </ul>
          {members.length > (more[name] ?? SHOWN) && <button type="button" class="quiet" onClick={() => setMore({ ...more, [name]: (more[name] ?? SHOWN) + 500 })}>show more of {members.length}</button>}
        </details>
        </div>
      ))}
    </nav>
  );
}

export function Tests({ api, state, path }: { api: Api; state: State; path: string }): JSX.Element {
  const [line, setLine] = useState(path || state.suites.join(' '));
  const [filter, setFilter] = useState('');
  const [suites, setSuites] = useState<Suites | null>(null);
  const [run, setRun] = useState<number | null>(() => Number(hashParams().get('run')) || null);
  const [result, setResult] = useState<{ report: Report | null; over: boolean }>({ report: null, over: true });
  const [watch, setWatch] = useState(false);
  const [problem, setProblem] = useState('');
  const [editor, chooseEditor] = useState(editorName);
  const last = useRef<string[]>([]);
  const stamp = useRef('');

  const load = async (): Promise<boolean> => {
    const next = await api.call<Suites>('POST', 'suites', { paths: pathsOf(line), stamp: stamp.current });
    const isNew = next.stamp !== stamp.current;
    stamp.current = next.stamp;
    if (next.tests) setSuites(next);
    return isNew;
  };
  const start = async (order: Order) => {
    setProblem('');
    try {
      const number = await startRun(api, order);
      if (order.failed_of === undefined) last.current = order.words;
      setHash({ run: String(number) });
      setResult({ report: null, over: false });
      setRun(number);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const runWords = (words: string[]) => void start({ words: ['run', ...words] });
  useEffect(() => {
    stamp.current = '';
    const timer = setTimeout(() => void load().catch((error: Error) => setProblem(error.message)), 200);
    return () => clearTimeout(timer);
  }, [line]);
  useEffect(() => {
    if (!watch) return;
    let live = true;
    const follow = async () => {
      while (live) {
        const isNew = await load().catch(() => false);
        if (live && isNew) await start({ words: last.current.length ? last.current : ['run', ...pathsOf(line)] });
        await new Promise(resolve => setTimeout(resolve, 700));
      }
    };
    void follow();
    return () => { live = false; };
  }, [watch, line]);
  const submit = (event: Event) => {
    event.preventDefault();
    runWords([...pathsOf(line), ...(filter ? ['--filter', filter] : [])]);
  };
  const bad = result.report ? result.report.summary.failed + result.report.summary.errors + result.report.summary.unfinished : 0;
  const one = (each: Case) => [each.file, '--filter', exactly(each.name)];
  const actions = { folder: state.folder, rerun: (each: Case) => runWords(one(each)), accept: (each: Case) => runWords([...one(each), '--update-snapshots']), explain: async (rule: string) => (await api.call<{ text: string }>('GET', 'explain/' + rule)).text };
  return (
    <section aria-label="suites" class="suites">
      <form class="card row-fields" onSubmit={submit}>
        <label for="suites">suites</label><input id="suites" value={line} placeholder="evals" autocomplete="off" spellcheck={false} onInput={event => setLine(event.currentTarget.value)} />
        <label for="filter">filter</label><input id="filter" value={filter} autocomplete="off" spellcheck={false} onInput={event => setFilter(event.currentTarget.value)} />
        <button type="submit" class="primary" id="run-tests">run</button>
        {run !== null && result.over && bad > 0 && <button type="button" class="quiet" id="run-failed" onClick={() => void start({ words: last.current.length ? last.current : ['run', ...pathsOf(line)], failed_of: run })}>run {bad} failed</button>}
        <label class="check"><input type="checkbox" id="watch" checked={watch} onChange={event => setWatch(event.currentTarget.checked)} /> run again when a file changes</label>
        <label class="check">editor <select id="editor" value={editor} onChange={event => { setEditor(event.currentTarget.value); chooseEditor(event.currentTarget.value); }}>{Object.keys(EDITORS).map(name => <option key={name}>{name}</option>)}</select></label>
      </form>
      {problem && <p class="bad" role="alert">{visible(problem)}</p>}
      {(suites?.findings ?? []).slice(0, 50).map((finding, index) => <FindingBox key={index} one={finding} />)}
      <div class="columns">
        {suites?.tests?.length ? <Tree tests={suites.tests} verdicts={verdictsOf(result.report)} onRun={runWords} /> : <p class="muted">{suites ? 'no tests here: name a suite file or folder' : 'loading …'}</p>}
        <div>{run !== null ? <RunView key={run} api={api} run={run} actions={actions} onAgain={words => void start({ words })} onReport={(report, over) => setResult({ report, over })} /> : <p class="muted">nothing was run yet</p>}</div>
      </div>
    </section>
  );
}
