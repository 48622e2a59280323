// Connects to a server: one that was named, a command, a URL, or one of a client's configuration file.
import { type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { oneLine, visible } from '../text';
import { type About, type Api, type ApiError, type Catalog, type State, whileWanted } from './api';

type Kind = 'command' | 'url' | 'config';
/** A request to connect. */
export type Body = Record<string, unknown>;

const KINDS: Record<Kind, { label: string; about: string; placeholder: string }> = {
  command: { label: 'command', about: 'the command that starts the server', placeholder: 'npx -y my-server' },
  url: { label: 'URL', about: 'the URL of the server', placeholder: 'http://localhost:3000/mcp' },
  config: { label: 'client configuration', about: 'the configuration file of a client', placeholder: '.mcp.json' },
};

/** Headers as they are typed, one per line. */
function headersOf(text: string): Record<string, string> {
  const pairs = text.split('\n').flatMap(line => { const at = line.indexOf(':'); return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()]] : []; });
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** Folders as they are typed, one per line. */
export const foldersOf = (text: string): string[] => text.split('\n').map(line => line.trim()).filter(Boolean);

/** A server wants a login: it is made in this browser, or a token is typed; then the same connection is tried again. */
function Login({ url, onLogin, onToken }: { url: string | null; onLogin: () => void; onToken: (token: string) => void }): JSX.Element {
  const [token, setToken] = useState('');
  return (
    <div class="row-fields login">
      <button type="button" class="primary" id="oauth" onClick={onLogin}>log in</button>
      {url && <a id="oauth-url" href={url} target="_blank" rel="noopener noreferrer">log in on this page, and come back</a>}
      <label for="token">or its token</label>
      <input id="token" type="password" autocomplete="off" value={token} onInput={event => setToken(event.currentTarget.value)}
        onKeyDown={event => { if (event.key === 'Enter') { event.preventDefault(); if (token) onToken(token); } }} />
      <button type="button" class="primary" id="login" disabled={!token} onClick={() => onToken(token)}>connect with the token</button>
    </div>
  );
}

export function Connect({ api, state, onConnected }: { api: Api; state: State; onConnected: (about: About, catalog: Catalog, order: Body) => void }): JSX.Element {
  const [kind, setKind] = useState<Kind>('command');
  const [text, setText] = useState('');
  const [name, setName] = useState('');
  const [names, setNames] = useState<string[]>([]);
  const [headers, setHeaders] = useState('');
  const [roots, setRoots] = useState('');
  const [asksRoots, setAsksRoots] = useState(false);
  const [busy, setBusy] = useState(false);
  const [loginUrl, setLoginUrl] = useState<string | null>(null);
  const [problem, setProblem] = useState<{ message: string; help: string; stderr: string; login: Body | null } | null>(null);
  useEffect(() => {
    if (kind !== 'config') return;
    return whileWanted(api.call<{ names: string[] }>('POST', 'client-config', { path: text.trim() }), answer => {
      setNames(answer.names);
      setName(old => (answer.names.includes(old) ? old : answer.names[0] ?? ''));
    }, () => setNames([]));
  }, [kind, text]);
  const connect = async (body: Body) => {
    setBusy(true);
    setProblem(null);
    try {
      const folders = foldersOf(roots);
      const order = { ...body, ...(folders.length > 0 || asksRoots ? { roots: folders } : {}) };
      const { about, catalog } = await api.call<{ about: About; catalog: Catalog }>('POST', 'connections', order);
      onConnected(about, catalog, order);
    } catch (error) {
      const detail = (error as ApiError).detail ?? {};
      setProblem({ message: (error as Error).message, help: String(detail['help'] ?? ''), stderr: String(detail['stderr'] ?? ''), login: detail['status'] === 401 ? body : null });
    }
    setBusy(false);
  };
  // The page of the authorization server may be blocked as a pop-up; the link is there as well.
  const logIn = async (body: Body) => {
    try {
      const { login, url } = await api.call<{ login: number; url: string }>('POST', 'logins', body);
      if (!/^https?:/.test(url)) throw new Error('the authorization server has no web page');
      setLoginUrl(url);
      window.open(url, '_blank', 'noopener');
      await api.call('POST', `logins/${login}/wait`, {});
      setLoginUrl(null);
      await connect(body);
    } catch (error) {
      setLoginUrl(null);
      const detail = (error as ApiError).detail ?? {};
      setProblem({ message: (error as Error).message, help: String(detail['help'] ?? ''), stderr: '', login: body });
    }
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (busy || !text.trim()) return;
    void connect(kind === 'command' ? { command: text } : kind === 'url' ? { url: text, headers: headersOf(headers) } : { client_config: text, name });
  };
  return (
    <form class="card connect" onSubmit={submit} aria-label="connect">
      {state.servers.map((server, index) => <button key={index} type="button" class="quiet known" disabled={busy} onClick={() => connect({ known: index })}>connect to {oneLine(server.name)}</button>)}
      {state.client_configs.map(path => <button key={path} type="button" class="quiet known" onClick={() => { setKind('config'); setText(path); }}>servers of {oneLine(path)}</button>)}
      <div class="row-fields">
        <select id="kind" aria-label="kind of server" value={kind} onChange={event => setKind(event.currentTarget.value as Kind)}>{Object.entries(KINDS).map(([key, each]) => <option key={key} value={key}>{each.label}</option>)}</select>
        <input id="server" aria-label={KINDS[kind].about} placeholder={KINDS[kind].placeholder} autocomplete="off" spellcheck={false} value={text} onInput={event => setText(event.currentTarget.value)} />
        {kind === 'config' && names.length > 0 && <select id="config-name" aria-label="server of the configuration" value={name} onChange={event => setName(event.currentTarget.value)}>{names.map(each => <option key={each} value={each}>{oneLine(each)}</option>)}</select>}
        <button type="submit" class="primary" disabled={busy || !text.trim()}>{busy ? 'connecting …' : 'connect'}</button>
      </div>
      {kind === 'url' && <><label for="headers">headers, one per line</label><textarea id="headers" rows={2} placeholder="Authorization: Bearer TOKEN" value={headers} onInput={event => setHeaders(event.currentTarget.value)} /></>}
      <details><summary>roots</summary><label for="roots">folders that the server may ask for, one per line</label><textarea id="roots" rows={2} value={roots} onInput={event => setRoots(event.currentTarget.value)} />
        <label class="check"><input type="checkbox" id="ask-roots" checked={asksRoots} onChange={event => setAsksRoots(event.currentTarget.checked)} /> ask me when the server wants to know</label></details>
      {problem && <div role="alert"><p class="bad">{visible(problem.message)}</p>{problem.help && <p class="muted">{visible(problem.help)}</p>}{problem.stderr && <pre tabIndex={0}>{visible(problem.stderr)}</pre>}</div>}
      {problem?.login && <Login url={loginUrl} onLogin={() => void logIn(problem.login ?? {})} onToken={token => connect({ ...problem.login, token })} />}
    </form>
  );
}
