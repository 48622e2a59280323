// The page of `mcprove ui`.
import { type JSX } from 'preact';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { hashParams, hashView, setHash } from '../location';
import { ThemeButton } from '../parts';
import { oneLine } from '../text';
import { Api, type Catalog, type State } from './api';
import { Connect } from './connect';
import { Explore } from './explore';
import { QuestionDialog } from './questions';
import { Runs } from './history';
import { Scans } from './scans';
import { Tests } from './tests';
import { type Connected, EMPTY, reduce } from './state';

const VIEWS = ['explore', 'test', 'runs', 'scan'] as const;
type View = (typeof VIEWS)[number];

/** The name of a server; those of the same name have numbers. */
function labelOf(one: Connected, all: Connected[]): string {
  const name = (each: Connected) => each.about.server_name || each.about.name;
  const same = all.filter(each => name(each) === name(one));
  return same.length > 1 ? `${name(one)} ${same.indexOf(one) + 1}` : name(one);
}

export function App(): JSX.Element {
  const [api, setApi] = useState<Api | null>(null);
  const [known, setKnown] = useState<State | null>(null);
  const [problem, setProblem] = useState('');
  const [broken, setBroken] = useState(false);
  const [view, setView] = useState<View>(() => VIEWS.find(each => each === hashView()) ?? 'explore');
  const [visit, setVisit] = useState(0);
  const left = useRef<Partial<Record<View, Record<string, string>>>>({});
  const [kept, setKept] = useState('');
  const [state, dispatch] = useReducer(reduce, EMPTY);

  useEffect(() => {
    const start = async () => {
      const opened = await Api.open();
      const first = await opened.call<State>('GET', 'state');
      for (const about of first.connections) {
        const catalog = await opened.call<Catalog>('GET', `connections/${about.connection}/catalog`);
        dispatch({ type: 'connected', about, catalog });
      }
      setKnown(first);
      setApi(opened);
      void opened.events(events => dispatch({ type: 'events', events }), setBroken);
    };
    start().catch((error: Error) => setProblem(error.message));
  }, []);
  const go = (next: View) => {
    // A view that was left is found again as it was.
    left.current[view] = Object.fromEntries(hashParams());
    setHash(next === view ? {} : left.current[next] ?? {}, next);
    if (next === view && next !== 'explore') setVisit(old => old + 1);
    setView(next);
  };
  useEffect(() => {
    // A link that is pasted into the same tab changes only the part after `#`.
    const onHash = () => {
      setView(VIEWS.find(each => each === hashView()) ?? 'explore');
      setVisit(old => old + 1);
    };
    window.addEventListener('hashchange', onHash);
    return () => window.removeEventListener('hashchange', onHash);
  }, []);
  if (problem) return <main class="wide"><h1>mcprove</h1><p role="alert" class="bad">{problem}</p></main>;
  if (!api || !known) return <main class="wide"><p class="muted">connecting …</p></main>;
  const current = state.connections.find(each => each.about.connection === state.current);
  const question = state.questions[0];
  const asking = question && state.connections.find(each => each.about.connection === question.connection);
  const answer = (given: unknown) => {
    if (!question) return;
    const isRoots = question.method === 'roots/list' && given !== undefined;
    if (isRoots) void api.call('POST', `connections/${question.connection}/roots`, { question: question.question, roots: given });
    else void api.call('POST', `connections/${question.connection}/answers`, { question: question.question, ...(given === undefined ? {} : { answer: given }) });
    dispatch({ type: 'answered', question, kind: question.method === 'elicitation/create' ? 'elicitation' : 'sampling', answer: given });
  };
  return (
    <>
      <header><div class="wide"><div class="bar">
        <h1><span class="brand">mcprove</span></h1>
        <div class="filters" role="tablist" aria-label="views">{VIEWS.map(each => <button key={each} type="button" role="tab" id={'tab-' + each} aria-selected={view === each} onClick={() => go(each)}>{each}</button>)}</div>
        <ThemeButton />
      </div>{broken && <p class="bad" role="alert">`mcprove ui` has ended, or cannot be reached</p>}</div></header>
      <main class="wide">
        {view === 'explore' && (
          <>
            <Connect api={api} state={known} onConnected={(about, catalog, order) => dispatch({ type: 'connected', about, catalog, order })} />
            {state.connections.length > 1 && <div class="filters connections" role="group" aria-label="connections">{state.connections.map(each => <button key={each.about.connection} type="button" aria-pressed={each === current} onClick={() => dispatch({ type: 'choose', connection: each.about.connection })}>{oneLine(labelOf(each, state.connections))}</button>)}</div>}
            {current && <Explore key={current.about.connection} connected={current} state={state} api={api} dispatch={dispatch} onRun={path => { setKept(path); left.current.test = {}; go('test'); }} />}
          </>
        )}
        {view === 'test' && <Tests key={kept + visit} api={api} state={known} path={kept} />}
        {view === 'runs' && <Runs key={visit} api={api} state={known} />}
        {view === 'scan' && <Scans key={visit} api={api} state={known} connections={state.connections.filter(each => each.open)} current={current?.open ? current.about.connection : null} />}
      </main>
      {question && <QuestionDialog key={question.question} question={question} server={asking?.about.server_name || 'the server'} onAnswer={answer} />}
    </>
  );
}
