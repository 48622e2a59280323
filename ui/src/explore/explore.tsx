// Explore: catalog, form, result, history and protocol of one server at a time.
import { type JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { hashParams, setHash } from '../location';
import { CopyButton, Guarded, Message } from '../parts';
import { FrameRow, Waterfall } from '../report/frames';
import { human, oneLine, shellQuote, visible } from '../text';
import { type About, type Api, type Catalog, type Schema, requestNumber, whileWanted } from './api';
import { CatalogList, type Item, itemsOf } from './catalog';
import { foldersOf } from './connect';
import { CompletionContext, JsonInput, SchemaForm, initial } from './form';
import { KeepAsTest } from './keep';
import { Result } from './result';
import { type Action, type Connected, type Explored, type Made } from './state';

type Params = Record<string, unknown>;

/** The schema of what is asked for: prompts and templates take strings. */
function schemaOf(item: Item, connected: Connected): Schema {
  const { catalog } = connected;
  if (item.kind === 'tool') return catalog.tools[item.at]?.inputSchema ?? {};
  if (item.kind === 'prompt') {
    const listed = catalog.prompts[item.at]?.arguments;
    const given = Array.isArray(listed) ? listed.filter(each => typeof each?.name === 'string') : [];
    return { type: 'object', properties: Object.fromEntries(given.map(each => [each.name, { type: 'string', description: each.description }])), required: given.filter(each => each.required).map(each => each.name) };
  }
  if (item.kind === 'template') {
    const names = [...item.name.matchAll(/\{[+#./;?&]?([\w,*]+)\}/g)].flatMap(match => match[1]!.split(',').map(name => name.replace('*', '')));
    return { type: 'object', properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])), required: names };
  }
  return {};
}

function requestOf(item: Item, value: unknown, meta: unknown): { method: string; params: Params } {
  const { method, params } = plainRequestOf(item, value);
  const hasMeta = meta !== null && typeof meta === 'object' && Object.keys(meta).length > 0;
  return { method, params: hasMeta ? { ...params, _meta: meta } : params };
}

function plainRequestOf(item: Item, value: unknown): { method: string; params: Params } {
  const given = (value ?? {}) as Params;
  switch (item.kind) {
    case 'tool': return { method: 'tools/call', params: { name: item.name, arguments: given } };
    case 'prompt': return { method: 'prompts/get', params: { name: item.name, arguments: given } };
    case 'resource': return { method: 'resources/read', params: { uri: item.name } };
    case 'template': return { method: 'resources/read', params: { uri: item.name.replace(/\{[+#./;?&]?([\w,*]+)\}/g, (_, names: string) => names.split(',').map(name => encodeURIComponent(String(given[name.replace('*', '')] ?? ''))).join(',')) } };
  }
}

/** The completions of a prompt's or a template's arguments. */
function completerOf(item: Item, connected: Connected, api: Api, value: unknown): ((name: string, typed: string) => Promise<string[]>) | null {
  if (connected.about.capabilities?.['completions'] === undefined || (item.kind !== 'prompt' && item.kind !== 'template')) return null;
  const ref = item.kind === 'prompt' ? { type: 'ref/prompt', name: item.name } : { type: 'ref/resource', uri: item.name };
  return async (name, typed) => {
    const { [name]: _, ...others } = (value ?? {}) as Record<string, string>;
    const result = (await api.ask(connected.about.connection, 'completion/complete', { ref, argument: { name, value: typed }, context: { arguments: others } })) as { completion?: { values?: unknown } };
    return Array.isArray(result?.completion?.values) ? result.completion.values.map(String) : [];
  };
}

/** What was typed into forms, so that another item or view and back loses nothing. */
const drafts = new Map<string, unknown>();

function ItemPanel({ item, connected, state, api, dispatch, onRun, onRead }: { item: Item; connected: Connected; state: Explored; api: Api; dispatch: (action: Action) => void; onRun: (path: string) => void; onRead: (uri: string) => void }): JSX.Element {
  const schema = useMemo(() => schemaOf(item, connected), [item, connected.catalog]);
  const tool = item.kind === 'tool' ? connected.catalog.tools[item.at] : undefined;
  const draft = `${connected.about.connection} ${item.kind} ${item.name}`;
  const [value, setFields] = useState<unknown>(() => drafts.get(draft) ?? initial(schema, schema) ?? {});
  const setValue = (next: unknown) => {
    drafts.set(draft, next);
    setFields(next);
  };
  const [meta, setMeta] = useState<unknown>({});
  const [errors, setErrors] = useState<string[]>([]);
  const [keep, setKeep] = useState(false);
  const [subscribed, setSubscribed] = useState(false);
  const [problem, setProblem] = useState('');
  const id = connected.about.connection;
  const request = requestOf(item, value, meta);
  const about = (made: Made) => made.connection === id && made.method === request.method && (made.params['name'] ?? made.params['uri']) === (request.params['name'] ?? request.params['uri']);
  const own = state.made.filter(about);
  const current = own[0];
  useEffect(() => {
    if (item.kind !== 'tool' && item.kind !== 'prompt') return;
    let forget = () => {};
    const timer = setTimeout(() => { forget = whileWanted(api.call<{ errors: string[] }>('POST', 'check', { schema, value }), checked => setErrors(checked.errors), () => setErrors([])); }, 250);
    return () => { clearTimeout(timer); forget(); };
  }, [value, schema]);
  const send = async (what: { method: string; params: Params }) => {
    setKeep(false);
    const number = requestNumber();
    dispatch({ type: 'began', made: { request: number, connection: id, method: what.method, params: what.params, answers: {}, notes: [], end: null } });
    await api.call('POST', `connections/${id}/requests`, { ...what, request: number }).catch((error: Error) => setProblem(error.message));
  };
  const canSubscribe = item.kind === 'resource' && (connected.about.capabilities?.['resources'] as { subscribe?: unknown } | undefined)?.subscribe === true;
  const subscribe = async () => {
    setProblem('');
    try {
      await api.ask(id, subscribed ? 'resources/unsubscribe' : 'resources/subscribe', { uri: item.name });
      setSubscribed(!subscribed);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const cancel = () => current && void api.call('POST', `connections/${id}/requests/${current.request}/cancel`);
  const waiting = current !== undefined && current.end === null;
  const command = item.kind === 'tool' ? `mcprove call ${shellQuote(item.name)} --server ${shellQuote(connected.about.name)} --args - <<< ${shellQuote(JSON.stringify(value ?? {}))}` : '';
  return (
    <section class="panel" aria-label={item.name}>
      <h2>{oneLine(item.name)}</h2>
      {item.about && <p class="muted description">{visible(item.about)}</p>}
      {tool?.annotations && <p>{Object.entries(tool.annotations).map(([name, hint]) => <span class="chip muted" key={name}>{oneLine(name)}: {oneLine(String(hint))}</span>)}</p>}
      <form onSubmit={event => { event.preventDefault(); if (!waiting && connected.open) void send(request); }} noValidate>
      {item.kind !== 'resource' && <CompletionContext.Provider value={completerOf(item, connected, api, value)}><SchemaForm id="call" schema={schema} value={value} onChange={setValue} /></CompletionContext.Provider>}
      <details class="meta-fields"><summary><code>_meta</code></summary><label for="call-meta" class="muted">sent with the request, next to the progress token</label><JsonInput id="call-meta" value={meta} rows={2} onChange={next => setMeta(next ?? {})} /></details>
      {errors.length > 0 && <ul class="warn" id="invalid">{errors.slice(0, 5).map((error, index) => <li key={index}>{visible(error)}</li>)}</ul>}
      <div class="buttons">
        <button type="submit" class="primary" id="send" disabled={!connected.open} aria-disabled={waiting}>{item.kind === 'tool' ? 'call' : item.kind === 'prompt' ? 'get' : 'read'}</button>
        <button type="button" class="quiet" id="cancel" disabled={!waiting} onClick={cancel}>cancel</button>
        {current?.end && ['result', 'error'].includes(current.end.outcome) && <button type="button" class="quiet" id="keep" onClick={() => setKeep(!keep)}>keep as test</button>}
        {canSubscribe && <button type="button" class="quiet" id="subscribe" onClick={subscribe}>{subscribed ? 'unsubscribe' : 'subscribe'}</button>}
        {command && <CopyButton text={command} label="copy as command" />}
      </div>
      </form>
      {problem && <p class="bad" role="alert">{visible(problem)}</p>}
      {current && <Guarded key={current.request}><Result made={current} earlier={own.slice(1, 30)} outputSchema={tool?.outputSchema} api={api} onRead={onRead} /></Guarded>}
      {keep && current?.end && <KeepAsTest made={current} tool={tool} api={api} onRun={onRun} />}
      {own.length > 1 && (
        <details class="history"><summary>history ({own.length})</summary>
          <ul>{own.map(made => (
            <li key={made.request}><code>{oneLine(JSON.stringify(made.params['arguments'] ?? made.params).slice(0, 120))}</code> <span class="muted">{made.end ? `${made.end.outcome} ${human(made.end.elapsed_us)}` : 'waiting'}</span>
              <button type="button" class="link" onClick={() => { setValue(made.params['arguments'] ?? {}); void send({ method: made.method, params: made.params }); }}>send again</button></li>
          ))}</ul>
        </details>
      )}
    </section>
  );
}

/** Saves the frames as lines of JSON. */
function download(connected: Connected): void {
  const lines = connected.frames.map(frame => JSON.stringify(frame)).join('\n') + '\n';
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([lines], { type: 'application/x-ndjson' }));
  link.download = `frames-${connected.about.connection}.ndjson`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function Protocol({ connected }: { connected: Connected }): JSX.Element {
  const [limit, setLimit] = useState(100);
  const shown = connected.frames.slice(-limit);
  return (
    <section aria-label="protocol" class="protocol">
      <h2>Protocol <span class="muted">{connected.frames.length + connected.left} frames</span> <button type="button" class="link" id="export" onClick={() => download(connected)}>export</button></h2>
      <Waterfall frames={shown.slice(-40)} />
      {connected.frames.length > limit && <button type="button" class="quiet" onClick={() => setLimit(limit + 200)}>show earlier frames</button>}
      <div>{shown.map((frame, index) => <FrameRow key={connected.left + connected.frames.length - shown.length + index} frame={frame} several={false} />)}</div>
      {connected.notes.length > 0 && <details class="history"><summary>notifications ({connected.notes.length})</summary><ul id="notifications">{connected.notes.slice(-100).map((note, index) => <li key={index}><code>{oneLine(note.method)}</code> <span class="muted">{oneLine(JSON.stringify(note.params ?? {}).slice(0, 300))}</span></li>)}</ul></details>}
      {connected.stderr.trim() && <Message label="standard error" text={connected.stderr.trimEnd()} />}
    </section>
  );
}

/** Any request: methods that the page has no form for. */
function AnyRequest({ id, api, open }: { id: number; api: Api; open: boolean }): JSX.Element {
  const [method, setMethod] = useState('ping');
  const [params, setParams] = useState<unknown>({});
  const [answer, setAnswer] = useState<{ good: boolean; text: string } | null>(null);
  const send = async () => {
    setAnswer(null);
    await api.ask(id, method, params ?? {}).then(result => setAnswer({ good: true, text: JSON.stringify(result) }), (error: Error) => setAnswer({ good: false, text: error.message + '; the protocol below shows the reply' }));
  };
  return (
    <details class="history"><summary>any other request</summary>
      <div class="field"><label for="any-method">method</label><input id="any-method" value={method} autocomplete="off" spellcheck={false} onInput={event => setMethod(event.currentTarget.value)} /></div>
      <div class="field"><label for="any-params">params</label><JsonInput id="any-params" value={params} onChange={setParams} /></div>
      <div class="buttons"><button type="button" class="quiet" id="any-send" disabled={!open || !method} onClick={send}>send</button></div>
      {answer && (answer.good ? <Message label="result" text={answer.text} /> : <p class="bad">{visible(answer.text)}</p>)}
    </details>
  );
}

/** The item that the URL names, or the first one. */
function chosenAtFirst(items: Item[]): Item | null {
  const named = hashParams().get('item');
  return items.find(item => item.kind + '/' + item.name === named) ?? items[0] ?? null;
}

/** The roots of a connection; the server is notified of a change. */
function RootsEditor({ first, onChange }: { first: string[]; onChange: (roots: string[]) => void }): JSX.Element {
  const [text, setText] = useState(first.join('\n'));
  return (
    <details><summary>roots</summary>
      <label for="roots-now">folders that the server may ask for, one per line</label>
      <textarea id="roots-now" rows={2} value={text} onInput={event => setText(event.currentTarget.value)} />
      <button type="button" class="quiet" id="change-roots" onClick={() => onChange(foldersOf(text))}>change the roots</button>
    </details>
  );
}

export function Explore({ connected, state, api, dispatch, onRun }: { connected: Connected; state: Explored; api: Api; dispatch: (action: Action) => void; onRun: (path: string) => void }): JSX.Element {
  const [chosen, setChosen] = useState<Item | null>(() => chosenAtFirst(itemsOf(connected.catalog)));
  const [level, setLevel] = useState('');
  const id = connected.about.connection;
  const choose = (item: Item) => {
    setChosen(item);
    setHash({ item: item.kind + '/' + item.name }, 'explore');
    // Where the form is below the list, it would be out of sight.
    if (matchMedia('(max-width: 720px)').matches) setTimeout(() => document.querySelector('.panel')?.scrollIntoView(), 0);
  };
  const read = (uri: string) => choose(itemsOf(connected.catalog).find(item => item.kind === 'resource' && item.name === uri) ?? { kind: 'resource', at: -1, name: uri, about: 'a link of a result' });
  const refresh = async () => dispatch({ type: 'catalog', connection: id, catalog: await api.call('GET', `connections/${id}/catalog`) });
  const [problem, setProblem] = useState('');
  /** A server that is gone is started again; the new connection takes the place of the old one. */
  const reconnect = async (order: Record<string, unknown>) => {
    setProblem('');
    try {
      const made = await api.call<{ about: About; catalog: Catalog }>('POST', 'connections', order);
      dispatch({ type: 'forget', connection: id });
      dispatch({ type: 'connected', ...made, order });
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const logging = connected.about.capabilities?.['logging'] !== undefined;
  return (
    <div>
      <p class="muted server-line">{oneLine(`${connected.about.server_name} ${connected.about.server_version} over ${connected.about.transport}, protocol ${connected.about.protocol}`)}
        {!connected.open && <b class="bad"> the server is gone</b>}
        {!connected.open && connected.order && <button type="button" class="link" id="reconnect" onClick={() => void reconnect(connected.order ?? {})}>connect again</button>}
        {connected.open && <button type="button" class="link" onClick={refresh}>{connected.changed ? 'the lists have changed: list again' : 'list again'}</button>}
        {logging && <select aria-label="log level" value={level} onChange={event => { setLevel(event.currentTarget.value); void api.call('POST', `connections/${id}/requests`, { method: 'logging/setLevel', params: { level: event.currentTarget.value } }); }}>
          <option value="">log level</option>{['debug', 'info', 'notice', 'warning', 'error'].map(each => <option key={each}>{each}</option>)}</select>}
        <button type="button" class="link" onClick={() => { void api.call('DELETE', `connections/${id}`); dispatch({ type: 'forget', connection: id }); }}>disconnect</button></p>
      {problem && <p class="bad" role="alert">{visible(problem)}</p>}
      {connected.about.roots && <RootsEditor key={id} first={connected.about.roots} onChange={roots => void api.call('POST', `connections/${id}/roots`, { roots })} />}
      <div class="columns">
        <CatalogList catalog={connected.catalog} chosen={chosen} onChoose={choose} />
        <div>{chosen ? <Guarded key={chosen.kind + chosen.at + chosen.name}><ItemPanel item={chosen} connected={connected} state={state} api={api} dispatch={dispatch} onRun={onRun} onRead={read} /></Guarded> : <p class="muted">the server offers nothing</p>}
          <AnyRequest id={id} api={api} open={connected.open} />
          <Protocol connected={connected} /></div>
      </div>
    </div>
  );
}
