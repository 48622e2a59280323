// The end of a request: content, structured content checked against its schema, or an error.
import { type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { CopyButton, Diff, Media, Message } from '../parts';
import { human, oneLine, visible } from '../text';
import { type Api, type Schema } from './api';
import { type Made } from './state';

type Item = { type?: string; text?: string; uri?: string; name?: string; resource?: { uri?: string; text?: string; blob?: string; mimeType?: string }; role?: string; content?: Item };

function ItemView({ item }: { item: Item }): JSX.Element | null {
  if (item.type === 'text' && typeof item.text === 'string') return <Message label="text" text={item.text} />;
  if (item.type === 'resource_link') return <p>{oneLine(item.name ?? '')} <code>{oneLine(item.uri ?? '')}</code></p>;
  if (item.type === 'resource' && item.resource) {
    return <Message label={'resource ' + oneLine(item.resource.uri ?? '')} text={item.resource.text ?? `(${item.resource.mimeType ?? 'binary'}, ${(item.resource.blob ?? '').length} characters of base64)`} />;
  }
  if (item.type === 'image' || item.type === 'audio') return null;
  return <Message label={oneLine(item.type ?? 'content')} text={JSON.stringify(item)} />;
}

/** A JSON value that can be folded. */
export function Tree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }): JSX.Element {
  const label = name === undefined ? null : <span class="tree-key">{oneLine(name)}: </span>;
  if (value === null || typeof value !== 'object') return <div class="leaf mono">{label}<span class={'v-' + (value === null ? 'null' : typeof value)}>{typeof value === 'string' ? '"' + visible(value) + '"' : String(value)}</span></div>;
  const entries = Array.isArray(value) ? value.map((each, index): [string, unknown] => [String(index), each]) : Object.entries(value);
  return (
    <details class="tree" open={depth < 2 && entries.length <= 50}>
      <summary class="mono">{label}<span class="muted">{Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`}</span></summary>
      {entries.slice(0, 500).map(([key, each]) => <Tree key={key} name={key} value={each} depth={depth + 1} />)}
      {entries.length > 500 && <p class="muted">and {entries.length - 500} more</p>}
    </details>
  );
}

function Structured({ value, schema, api }: { value: unknown; schema: Schema | undefined; api: Api }): JSX.Element {
  const [errors, setErrors] = useState<string[] | null>(null);
  useEffect(() => {
    setErrors(null);
    if (schema) void api.call<{ errors: string[] }>('POST', 'check', { schema, value, output: true }).then(checked => setErrors(checked.errors), () => setErrors(null));
  }, [value, schema]);
  return (
    <div>
      <div class="label"><span>structured content{errors && (errors.length ? <b class="bad"> violates its schema</b> : <b class="good"> matches its schema</b>)}</span><CopyButton text={JSON.stringify(value, null, 2)} /></div>
      {errors?.map((error, index) => <p class="bad" key={index}>{visible(error)}</p>)}
      <div class="tree-box"><Tree value={value} /></div>
    </div>
  );
}

export function Result({ made, outputSchema, api, previous }: { made: Made; outputSchema: Schema | undefined; api: Api; previous: Made | undefined }): JSX.Element {
  const [compare, setCompare] = useState(false);
  const end = made.end;
  const notes = made.notes.slice(-20).map((note, index) => {
    const params = (note.params ?? {}) as { progress?: number; total?: number; message?: string; level?: string; data?: unknown };
    if (note.method === 'notifications/progress') return <div key={index} class="note"><progress value={params.progress ?? 0} max={params.total ?? Math.max(1, params.progress ?? 1)} /> {params.progress}{params.total !== undefined && '/' + params.total} {oneLine(params.message ?? '')}</div>;
    if (note.method === 'notifications/message') return <div key={index} class="note mono">{oneLine(params.level ?? '')}: {oneLine(typeof params.data === 'string' ? params.data : JSON.stringify(params.data))}</div>;
    return <div key={index} class="note mono muted">{oneLine(note.method)}</div>;
  });
  if (!end) return <div aria-live="polite">{notes}<p class="muted">waiting …</p></div>;
  const result = (end.result ?? {}) as { content?: Item[]; contents?: { uri?: string; text?: string; blob?: string; mimeType?: string }[]; messages?: Item[]; structuredContent?: unknown; isError?: boolean; 'mcprove/cut'?: number };
  const good = end.outcome === 'result' && !result.isError;
  return (
    <div class="result" aria-live="polite">
      {notes}
      <p><b class={good ? 'good' : 'bad'} id="outcome">{end.outcome === 'result' ? (result.isError ? 'tool error' : 'result') : oneLine(end.outcome)}</b> <span class="muted">{human(end.elapsed_us)}</span> {end.message && <span class="bad">{visible(end.message)}</span>}
        {previous?.end && <button type="button" class="link" onClick={() => setCompare(!compare)}>{compare ? 'hide comparison' : 'compare with the reply before'}</button>}</p>
      {compare && previous?.end && (JSON.stringify(previous.end.result) === JSON.stringify(end.result) ? <p class="muted">both replies are the same</p>
        : <Diff left={JSON.stringify(previous.end.result)} right={JSON.stringify(end.result)} title="difference (- before, + now)" />)}
      {end.outcome === 'error' && <Message label="error" text={JSON.stringify(end.result)} />}
      {(Array.isArray(result.content) ? result.content : []).map((item, index) => <ItemView key={index} item={item ?? {}} />)}
      <Media content={result.content} />
      {(Array.isArray(result.contents) ? result.contents : []).map((item, index) => <div key={index}><Message label={oneLine(`${item.uri ?? ''} ${item.mimeType ?? ''}`)} text={item.text ?? `(${(item.blob ?? '').length} characters of base64)`} />
        {item.blob !== undefined && <Media content={[{ type: item.mimeType?.startsWith('audio/') ? 'audio' : 'image', data: item.blob, mimeType: item.mimeType }]} />}</div>)}
      {(Array.isArray(result.messages) ? result.messages : []).map((item, index) => <div class="said" key={index}><span class="who">{oneLine(item.role ?? '')}</span><div><ItemView item={item.content ?? {}} /><Media content={[item.content]} /></div></div>)}
      {end.outcome === 'result' && !result.content && !result.contents && !result.messages && <Message label="result" text={JSON.stringify(end.result)} />}
      {result['mcprove/cut'] !== undefined && <p class="warn">the result is too long to be shown; {result['mcprove/cut']} more bytes were left out</p>}
      {result.structuredContent !== undefined && <Structured value={result.structuredContent} schema={outputSchema} api={api} />}
    </div>
  );
}
