// A run that is followed until it is over: an event log, shown by the page of a report.
import { type JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ActionsContext, type Actions, exactly } from '../report/actions';
import { type Case, type Report, type ReportData, following, prepare } from '../report/data';
import { ReportPage } from '../report/page';
import { oneLine, shellQuote, visible } from '../text';
import { type Api } from './api';

interface Run { run: number; words: string[]; shown: string; over: boolean; stopped: boolean; complaint: string | null; report: ReportData | null }

/** A command line to start; `failed_of` runs the failures of an earlier run again, `connection` names the server. */
export interface Order { words: string[]; failed_of?: number; connection?: number }

export const startRun = async (api: Api, order: Order): Promise<number> => (await api.call<{ run: number }>('POST', 'runs', order)).run;

export function RunView({ api, run, actions, onAgain, onReport }: { api: Api; run: number; actions: Actions; onAgain: (words: string[]) => void; onReport?: (report: Report | null, over: boolean) => void }): JSX.Element {
  const [shown, setShown] = useState<Run | null>(null);
  const [kept, setKept] = useState('');
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let live = true;
    const follow = async () => {
      while (live) {
        const next = await api.call<Run>('GET', 'runs/' + run).catch((error: Error) => { if (live) setProblem(error.message); return null; });
        if (!live || !next) return;
        setShown(next);
        if (next.over) return;
        await new Promise(resolve => setTimeout(resolve, 500));
      }
    };
    void follow();
    return () => { live = false; };
  }, [run]);
  const report = useMemo(() => {
    if (!shown?.report) return null;
    // The command line is above, without the log that only this page reads.
    const { command: _, ...context } = shown.report.context ?? {};
    const data = { ...shown.report, context };
    return prepare(shown.over ? data : following(data));
  }, [shown]);
  useEffect(() => { if (shown) onReport?.(report, shown.over); }, [shown]);
  if (problem) return <p class="bad" role="alert">{visible(problem)}</p>;
  if (!shown) return <p class="muted">starting …</p>;
  // A scan has its tests from the server: the same command makes one of them again.
  const filterOf = (one: Case) => '--filter=' + exactly(one.name);
  const isFilter = (word: string) => word.startsWith('--filter=');
  const ofScan: Actions = ['run', 'bench'].includes(shown.words[0] ?? '') ? {} : {
    rerun: one => onAgain([...shown.words.filter(word => !isFilter(word)), filterOf(one)]),
    command: one => (shown.words.some(isFilter) ? shown.shown : `${shown.shown} ${shellQuote(filterOf(one))}`),
  };
  const stop = () => void api.call('POST', `runs/${run}/stop`).catch((error: Error) => setProblem(error.message));
  const keep = async () => {
    const name = 'run-' + new Date().toISOString().slice(0, 19).replaceAll(':', '-') + '.ndjson';
    try {
      setKept((await api.call<{ name: string }>('POST', `runs/${run}/keep`, { name })).name);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <div>
      <p class="buttons"><code>{oneLine(shown.shown)}</code> <span class={shown.over ? 'muted' : 'warn'} id="run-state" data-run={run} role="status">{shown.stopped ? 'stopped' : shown.over ? 'done' : 'running …'}</span>
        {shown.over ? <button type="button" class="quiet" onClick={() => onAgain(shown.words)}>run again</button> : <button type="button" class="quiet" id="stop" onClick={stop}>stop</button>}
        {shown.over && report && (kept ? <code id="kept-log">{kept}</code> : <button type="button" class="quiet" id="keep-log" title="writes the event log of this run to the folder of logs" onClick={keep}>save the log</button>)}</p>
      {!shown.over && report?.planned && <p><progress id="run-progress" aria-label="tests that have ended" value={report.cases.length} max={report.planned} /> <span class="muted">{report.cases.length} of {report.planned}</span></p>}
      {shown.complaint && <pre role="alert" tabIndex={0}>{visible(shown.complaint)}</pre>}
      {report && <ActionsContext.Provider value={{ ...ofScan, ...actions }}><ReportPage key={shown.over ? 'over' : 'running'} report={report} inside /></ActionsContext.Provider>}
    </div>
  );
}
