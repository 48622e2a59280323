// Connects to a server: one that was named, a command, or a URL.
import { type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { oneLine, visible } from '../text';
import { type About, type Api, type ApiError, type Catalog, type State } from './api';

export function Connect({ api, state, onConnected }: { api: Api; state: State; onConnected: (about: About, catalog: Catalog) => void }): JSX.Element {
  const [kind, setKind] = useState<'command' | 'url'>('command');
  const [text, setText] = useState('');
  const [headers, setHeaders] = useState('');
  const [roots, setRoots] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<{ message: string; help: string; stderr: string } | null>(null);
  const connect = async (body: Record<string, unknown>) => {
    setBusy(true);
    setProblem(null);
    try {
      const folders = roots.split('\n').map(line => line.trim()).filter(Boolean);
      const { about, catalog } = await api.call<{ about: About; catalog: Catalog }>('POST', 'connections', { ...body, roots: folders });
      onConnected(about, catalog);
    } catch (error) {
      const detail = (error as ApiError).detail ?? {};
      const help = detail['status'] === 401 ? 'it wants credentials: give a header such as Authorization: Bearer TOKEN' : String(detail['help'] ?? '');
      setProblem({ message: (error as Error).message, help, stderr: String(detail['stderr'] ?? '') });
    }
    setBusy(false);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const pairs = headers.split('\n').flatMap(line => { const at = line.indexOf(':'); return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()]] : []; });
    void connect(kind === 'command' ? { command: text } : { url: text, headers: Object.fromEntries(pairs) as Record<string, string> });
  };
  return (
    <form class="card connect" onSubmit={submit} aria-label="connect">
      {state.servers.map((server, index) => <button key={index} type="button" class="quiet known" disabled={busy} onClick={() => connect({ known: index })}>connect to {oneLine(server.name)}</button>)}
      <div class="row-fields">
        <select aria-label="kind of server" value={kind} onChange={event => setKind(event.currentTarget.value as 'command' | 'url')}><option value="command">command</option><option value="url">URL</option></select>
        <input id="server" aria-label={kind === 'command' ? 'the command that starts the server' : 'the URL of the server'} placeholder={kind === 'command' ? 'npx -y my-server' : 'http://localhost:3000/mcp'} value={text} onInput={event => setText(event.currentTarget.value)} />
        <button type="submit" class="primary" disabled={busy || !text.trim()}>{busy ? 'connecting …' : 'connect'}</button>
      </div>
      {kind === 'url' && <><label for="headers">headers, one per line</label><textarea id="headers" rows={2} placeholder="Authorization: Bearer TOKEN" value={headers} onInput={event => setHeaders(event.currentTarget.value)} /></>}
      <details><summary>roots</summary><label for="roots">folders that the server may ask for, one per line</label><textarea id="roots" rows={2} value={roots} onInput={event => setRoots(event.currentTarget.value)} /></details>
      {problem && <div role="alert"><p class="bad">{visible(problem.message)}</p>{problem.help && <p class="muted">{visible(problem.help)}</p>}{problem.stderr && <pre>{visible(problem.stderr)}</pre>}</div>}
    </form>
  );
}
