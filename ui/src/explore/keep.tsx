// A request, kept as a test: proposed checks can be ticked, and the file is shown before it is written.
import { type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { CopyButton } from '../parts';
import { oneLine, visible } from '../text';
import { type Api, type Tool, whileWanted } from './api';
import { type Made } from './state';

type Expect = Record<string, unknown>;

export function KeepAsTest({ made, tool, api, onRun }: { made: Made; tool: Tool | undefined; api: Api; onRun: (path: string) => void }): JSX.Element {
  const [proposed, setProposed] = useState<Expect | null>(null);
  const [chosen, setChosen] = useState<Expect>({});
  const [path, setPath] = useState('');
  const [text, setText] = useState('');
  const [command, setCommand] = useState('');
  const [problem, setProblem] = useState('');
  const { _meta, ...params } = made.params;
  const body = { connection: made.connection, method: made.method, params, answers: made.answers };
  useEffect(() => {
    setProposed(null);
    setCommand('');
    return whileWanted(api.call<{ expect: Expect; path: string }>('POST', 'tests/propose', { ...body, tool, result: made.end?.result }), answer => {
      setProposed(answer.expect);
      setChosen(answer.expect);
      setPath(answer.path);
    }, error => setProblem(error.message));
  }, [made.request]);
  useEffect(() => {
    if (!proposed) return;
    return whileWanted(api.call<{ text: string }>('POST', 'tests/save', { ...body, expect: chosen }), answer => setText(answer.text), error => setProblem(error.message));
  }, [proposed, chosen]);
  const save = async () => {
    setProblem('');
    try {
      setCommand((await api.call<{ command: string }>('POST', 'tests/save', { ...body, expect: chosen, path, write: true })).command);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const toggle = (key: string) => setChosen(old => { const { [key]: had, ...rest } = old; return had === undefined ? { ...old, [key]: proposed?.[key] } : rest; });
  return (
    <section class="card keep" aria-label="keep as test">
      <h3>Keep as test</h3>
      {Object.entries(proposed ?? {}).map(([key, value]) => (
        <label class="check" key={key}><input type="checkbox" checked={key in chosen} onChange={() => toggle(key)} /> <code>{oneLine(key)}: {oneLine(JSON.stringify(value).slice(0, 160))}</code></label>
      ))}
      <label for="keep-path">file</label>
      <input id="keep-path" value={path} onInput={event => setPath(event.currentTarget.value)} />
      <pre class="diff" tabIndex={0} aria-label="the file that is written">{text.trimEnd().split('\n').map((line, index) => <span class="plus" key={index}>+ {visible(line)}</span>)}</pre>
      <div class="buttons">
        <button type="button" class="primary" onClick={save} disabled={!proposed || command !== ''}>write the file</button>
        {command && <><code id="kept">{visible(command)}</code><CopyButton text={command} /><button type="button" class="quiet" onClick={() => onRun(path)}>run it</button></>}
      </div>
      {problem && <p class="bad" role="alert">{visible(problem)}</p>}
    </section>
  );
}
