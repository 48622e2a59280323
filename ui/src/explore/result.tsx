// The end of a request: content, structured content checked against its schema, or an error.
import { type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Markdown, isMarkdown } from '../markdown';
import { CopyButton, Diff, Media, Message } from '../parts';
import { human, oneLine, visible } from '../text';
import { type Api, type Schema, whileWanted } from './api';
import { type Made } from './state';

/** Content as servers should send it; every field may be anything. */
type Item = { type?: unknown; text?: unknown; uri?: unknown; name?: unknown; resource?: Contents | null; role?: unknown; content?: Item | Item[] | null };
type Contents = { uri?: unknown; text?: unknown; blob?: unknown; mimeType?: unknown };

const listOf = <T,>(value: T[] | T | null | undefined): T[] => (Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]);
const itemOf = (value: unknown): Item => (value !== null && typeof value === 'object' ? (value as Item) : { type: 'not an object', text: value });

/** A text, drawn as Markdown where it is some. */
function TextView({ label, text }: { label: string; text: string }): JSX.Element {
  const [plain, setPlain] = useState(false);
  if (!isMarkdown(text)) return <Message label={label} text={text} />;
  return (
    <div>
      <div class="label"><span>{label}</span><span class="acts"><button type="button" class="link" onClick={() => setPlain(!plain)}>{plain ? 'as Markdown' : 'as text'}</button>{!plain && <CopyButton text={text} />}</span></div>
      {plain ? <Message label="" text={text} /> : <Markdown text={text} />}
    </div>
  );
}

function ItemView({ item, onRead }: { item: Item; onRead?: ((uri: string) => void) | undefined }): JSX.Element | null {
  if (item.type === 'text' && typeof item.text === 'string') return <TextView label="text" text={item.text} />;
  if (item.type === 'resource_link') {
    const uri = oneLine(item.uri);
    return <p>{oneLine(item.name)} <code>{oneLine(uri)}</code> {onRead && <button type="button" class="link" onClick={() => onRead(uri)}>read</button>}</p>;
  }
  if (item.type === 'resource' && item.resource) {
    return <Message label={'resource ' + oneLine(item.resource.uri)} text={contentsText(item.resource)} />;
  }
  if (item.type === 'image' || item.type === 'audio') return null;
  return <Message label={oneLine(item.type ?? 'content')} text={JSON.stringify(item)} />;
}

/** The text of a resource, also of a blob that says it is text; the size of any other blob. */
function contentsText({ text, blob, mimeType }: Contents): string {
  if (typeof text === 'string') return text;
  if (typeof blob !== 'string') return JSON.stringify({ text, blob });
  const kind = typeof mimeType === 'string' ? mimeType : '';
  if (/^text\/|[/+](json|xml)\b/.test(kind)) {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(atob(blob), each => each.charCodeAt(0)));
    } catch { /* not the text that it says it is */ }
  }
  return `(${kind || 'binary'}, ${Math.floor((blob.length * 3) / 4)} bytes)`;
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
    if (!schema) return;
    return whileWanted(api.call<{ errors: string[] }>('POST', 'check', { schema, value, output: true }), checked => setErrors(checked.errors), () => setErrors(null));
  }, [value, schema]);
  return (
    <div>
      <div class="label"><span>structured content{errors && (errors.length ? <b class="bad"> violates its schema</b> : <b class="good"> matches its schema</b>)}</span><CopyButton text={JSON.stringify(value, null, 2)} /></div>
      {errors?.map((error, index) => <p class="bad" key={index}>{visible(error)}</p>)}
      <div class="tree-box"><Tree value={value} /></div>
    </div>
  );
}

export function Result({ made, outputSchema, api, earlier, onRead }: { made: Made; outputSchema: Schema | undefined; api: Api; earlier: Made[]; onRead?: (uri: string) => void }): JSX.Element {
  const [compared, setCompared] = useState(-1);
  const previous = earlier[compared];
  const end = made.end;
  const notes = made.notes.slice(-20).map((note, index) => {
    const params = (note.params ?? {}) as { progress?: unknown; total?: unknown; message?: unknown; level?: unknown; data?: unknown };
    if (note.method === 'notifications/progress') return <div key={index} class="note"><progress aria-label="progress" value={Number(params.progress) || 0} max={Number(params.total) || Math.max(1, Number(params.progress) || 1)} /> {oneLine(params.progress)}{params.total !== undefined && '/' + oneLine(params.total)} {oneLine(params.message)}</div>;
    if (note.method === 'notifications/message') return <div key={index} class="note mono">{oneLine(params.level)}: {oneLine(params.data)}</div>;
    return <div key={index} class="note mono muted">{oneLine(note.method)}</div>;
  });
  if (!end) return <div aria-live="polite">{notes}<p class="muted">waiting …</p></div>;
  const result = (end.result !== null && typeof end.result === 'object' ? end.result : {}) as { content?: Item[]; contents?: Contents[]; messages?: Item[]; structuredContent?: unknown; isError?: boolean; 'mcprove/cut'?: number };
  const good = end.outcome === 'result' && !result.isError;
  return (
    <div class="result" data-request={made.request} aria-live="polite">
      {notes}
      <p><b class={good ? 'good' : 'bad'} id="outcome">{end.outcome === 'result' ? (result.isError ? 'tool error' : 'result') : oneLine(end.outcome)}</b> <span class="muted">{human(end.elapsed_us)}</span> {end.message && <span class="bad">{visible(end.message)}</span>}
        {earlier.some(each => each.end) && <select id="compare" aria-label="compare with an earlier reply" value={String(compared)} onChange={event => setCompared(Number(event.currentTarget.value))}>
          <option value="-1">compare with …</option>{earlier.map((each, index) => each.end && <option key={each.request} value={String(index)}>{index === 0 ? 'the reply before' : `${index + 1} replies before`}: {oneLine(JSON.stringify(each.params['arguments'] ?? {}).slice(0, 60))}</option>)}</select>}</p>
      {previous?.end && (JSON.stringify(previous.end.result) === JSON.stringify(end.result) ? <p class="muted">both replies are the same</p>
        : <Diff left={JSON.stringify(previous.end.result)} right={JSON.stringify(end.result)} title="difference (- before, + now)" />)}
      {end.outcome === 'error' && <Message label="error" text={JSON.stringify(end.result)} />}
      {listOf(result.content).map((item, index) => <ItemView key={index} item={itemOf(item)} onRead={onRead} />)}
      <Media content={result.content} />
      {listOf(result.contents).map((given, index) => {
        const item: Contents = given ?? {};
        return <div key={index}><Message label={oneLine(item.uri) + ' ' + oneLine(item.mimeType)} text={contentsText(item)} />
          {item.blob !== undefined && <Media content={[{ type: String(item.mimeType).startsWith('audio/') ? 'audio' : 'image', data: item.blob, mimeType: item.mimeType }]} />}</div>;
      })}
      {listOf(result.messages).map((given, index) => {
        const item = itemOf(given);
        return <div class="said" key={index}><span class="who">{oneLine(item.role)}</span><div>{listOf(item.content).map((each, at) => <ItemView key={at} item={itemOf(each)} />)}<Media content={listOf(item.content)} /></div></div>;
      })}
      {end.outcome === 'result' && !result.content && !result.contents && !result.messages && <Message label="result" text={JSON.stringify(end.result)} />}
      {result['mcprove/cut'] !== undefined && <p class="warn">the result is too long to be shown; {result['mcprove/cut']} more bytes were left out</p>}
      {result.structuredContent !== undefined && <Structured value={result.structuredContent} schema={outputSchema} api={api} />}
    </div>
  );
}
