// A form from a JSON Schema. Its value is the JSON that is sent; what is empty and optional is left out.
import { type JSX, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { oneLine } from '../text';
import { type Schema, whileWanted } from './api';

type Fields = { [key: string]: unknown };

/** Completions that the server offers for an argument, where it can. */
export const CompletionContext = createContext<((name: string, value: string) => Promise<string[]>) | null>(null);

const isObject = (value: unknown): value is Fields => value !== null && typeof value === 'object' && !Array.isArray(value);

/** A schema, or the one that its local `$ref` names. */
export function resolve(schema: Schema | undefined, root: Schema): Fields {
  let found: unknown = schema;
  for (let depth = 0; depth < 8 && isObject(found) && typeof found['$ref'] === 'string'; depth++) {
    const path = (found['$ref'] as string).replace(/^#\/?/, '').split('/').filter(Boolean);
    found = path.reduce<unknown>((at, step) => (isObject(at) ? at[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined), root);
  }
  return isObject(found) ? found : {};
}

function typesOf(schema: Fields): string[] {
  const type = schema['type'];
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((each): each is string => typeof each === 'string');
  if (isObject(schema['properties'])) return ['object'];
  return [];
}

/** The value a form starts with: defaults, and what is required. */
export function initial(schema: Schema | undefined, root: Schema, depth = 0): unknown {
  const found = resolve(schema, root);
  if (found['default'] !== undefined) return found['default'];
  if (found['const'] !== undefined) return found['const'];
  if (depth > 6 || typesOf(found)[0] !== 'object') return undefined;
  const value: [string, unknown][] = [];
  const required = Array.isArray(found['required']) ? (found['required'] as unknown[]) : [];
  for (const [name, field] of Object.entries(isObject(found['properties']) ? found['properties'] : {})) {
    const start = initial(field as Schema, root, depth + 1);
    const hasDefault = resolve(field as Schema, root)['default'] !== undefined;
    if (start !== undefined && (required.includes(name) || hasDefault)) value.push([name, start]);
  }
  return Object.fromEntries(value);
}

interface FieldProps { name: string; schema: Schema | undefined; root: Schema; value: unknown; required: boolean; path: string; depth: number; onChange: (value: unknown) => void }

function Label({ name, schema, required, path }: { name: string; schema: Fields; required: boolean; path: string }): JSX.Element {
  const facts = [typesOf(schema).join(' or '), schema['format'], schema['minimum'] !== undefined && '≥ ' + schema['minimum'], schema['maximum'] !== undefined && '≤ ' + schema['maximum']];
  return (
    <label for={path}>
      <span class="mono">{oneLine(schema['title'] ?? name)}</span>{required && <span class="bad" title="required">*</span>}
      <span class="muted facts">{facts.filter(Boolean).join(', ')}</span>
      {typeof schema['description'] === 'string' && <span class="muted about">{oneLine(schema['description'])}</span>}
    </label>
  );
}

const INPUTS: Record<string, string> = { date: 'date', 'date-time': 'text', email: 'email', uri: 'url', time: 'text', password: 'password' };

function Text({ name, schema, value, path, onChange }: { name: string; schema: Fields; value: unknown; path: string; onChange: (value: unknown) => void }): JSX.Element {
  const complete = useContext(CompletionContext);
  const [offered, setOffered] = useState<string[]>([]);
  const timer = useRef(0);
  const forget = useRef(() => {});
  const [long, setLong] = useState(typeof value === 'string' && value.includes('\n'));
  const text = typeof value === 'string' ? value : '';
  const offer = (typed: string) => {
    if (!complete) return;
    clearTimeout(timer.current);
    forget.current();
    timer.current = setTimeout(() => { forget.current = whileWanted(complete(name, typed), setOffered, () => setOffered([])); }, 200);
  };
  const set = (next: string) => {
    offer(next);
    onChange(next === '' ? undefined : next);
  };
  const upload = async (event: JSX.TargetedEvent<HTMLInputElement>) => {
    const file = event.currentTarget.files?.[0];
    if (!file) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    let binary = '';
    for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    onChange(btoa(binary));
  };
  return (
    <span class="text-field">
      {long ? <textarea id={path} rows={4} value={text} onInput={event => set(event.currentTarget.value)} />
        : <input id={path} type={INPUTS[String(schema['format'])] ?? 'text'} value={text} autocomplete={schema['format'] === 'password' ? 'new-password' : 'off'} list={complete ? path + '-offered' : undefined} onFocus={() => offer(text)} onInput={event => set(event.currentTarget.value)} />}
      {complete && <datalist id={path + '-offered'}>{offered.slice(0, 100).map(each => <option key={each} value={each} />)}</datalist>}
      <button type="button" class="link" onClick={() => setLong(!long)} title="one line or several">{long ? 'short' : 'long'}</button>
      <label class="link">file<input type="file" class="hidden-file" aria-label={'file as base64 for ' + path} onChange={upload} /></label>
    </span>
  );
}

/** The values that a schema lists: `enum`, with `enumNames` where there are some, or alternatives that are constants. */
function choicesOf(schema: Fields): { value: unknown; label: string }[] | null {
  const shown = (value: unknown, title: unknown) => ({ value, label: typeof title === 'string' ? title : typeof value === 'string' ? value : JSON.stringify(value) });
  const names = Array.isArray(schema['enumNames']) ? (schema['enumNames'] as unknown[]) : [];
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value, index) => shown(value, names[index]));
  const constants = ['oneOf', 'anyOf'].map(key => schema[key]).find((list): list is Fields[] => Array.isArray(list) && list.length > 0 && list.every(each => isObject(each) && Object.hasOwn(each, 'const')));
  return constants ? constants.map(each => shown(each['const'], each['title'])) : null;
}

function Field(props: FieldProps): JSX.Element {
  const { name, root, value, required, path, depth, onChange } = props;
  const schema = resolve(props.schema, root);
  const label = <Label name={name} schema={schema} required={required} path={path} />;
  const options = (['oneOf', 'anyOf'] as const).map(key => schema[key]).find(Array.isArray) as Schema[] | undefined;
  const choices = choicesOf(schema);
  if (choices) {
    const at = choices.findIndex(choice => JSON.stringify(choice.value) === JSON.stringify(value));
    return (
      <div class="field">{label}
        <select id={path} value={String(at)} onChange={event => onChange(choices[Number(event.currentTarget.value)]?.value)}>
          {(at < 0 || !required) && <option value="-1">(none)</option>}
          {choices.map((choice, index) => <option key={index} value={String(index)}>{oneLine(choice.label)}</option>)}
        </select>
      </div>
    );
  }
  if (options && options.length > 0 && typesOf(schema).length === 0 && depth < 8) return <OneOf {...props} label={label} options={options} />;
  const types = typesOf(schema).filter(type => type !== 'null');
  const type = types[0];
  if (type === 'object' && isObject(schema['properties']) && depth < 8) {
    return <fieldset class="field nested"><legend>{label}</legend><Fieldset schema={schema} root={root} value={value} path={path} depth={depth + 1} onChange={onChange} /></fieldset>;
  }
  if (type === 'array' && depth < 8) return <List {...props} schema={schema as Schema} label={label} />;
  if (type === 'boolean') {
    return (
      <div class="field">{label}
        <select id={path} value={value === undefined ? '' : String(value)} onChange={event => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value === 'true')}>
          <option value="">(none)</option><option value="true">true</option><option value="false">false</option>
        </select>
      </div>
    );
  }
  if (type === 'number' || type === 'integer') {
    const set = (text: string) => onChange(text === '' || Number.isNaN(Number(text)) ? undefined : Number(text));
    return <div class="field">{label}<input id={path} type="number" step={type === 'integer' ? '1' : 'any'} value={typeof value === 'number' ? value : ''} onInput={event => set(event.currentTarget.value)} /></div>;
  }
  if (type === 'string') return <div class="field">{label}<Text name={name} schema={schema} value={value} path={path} onChange={onChange} /></div>;
  return <div class="field">{label}<JsonInput id={path} value={value} onChange={onChange} /></div>;
}

function OneOf({ options, label, ...props }: FieldProps & { options: Schema[]; label: JSX.Element }): JSX.Element {
  const shown = options.filter(option => typesOf(resolve(option, props.root))[0] !== 'null');
  const fits = (option: Schema) => {
    const type = typesOf(resolve(option, props.root))[0];
    const value = props.value;
    return type === (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value) || (type === 'integer' && typeof value === 'number');
  };
  const [at, setAt] = useState(() => Math.max(0, shown.findIndex(fits)));
  const names = shown.map((option, index) => { const found = resolve(option, props.root); return String(found['title'] ?? found['const'] ?? (typesOf(found).join(' or ') || 'option ' + (index + 1))); });
  return (
    <div class="field">{label}
      {shown.length > 1 && (
        <select aria-label={'kind of ' + props.name} value={String(at)} onChange={event => { const next = Number(event.currentTarget.value); setAt(next); props.onChange(initial(shown[next], props.root)); }}>
          {names.map((name, index) => <option key={index} value={String(index)}>{oneLine(name)}</option>)}
        </select>
      )}
      <Field key={at} {...props} name={names[at] ?? ''} schema={shown[at]} depth={props.depth + 1} path={props.path + '-' + at} />
    </div>
  );
}

function List({ label, ...props }: FieldProps & { label: JSX.Element }): JSX.Element {
  const schema = resolve(props.schema, props.root);
  const items = Array.isArray(props.value) ? (props.value as unknown[]) : [];
  const set = (next: unknown[]) => props.onChange(next.length ? next : props.required ? [] : undefined);
  const item = schema['items'] as Schema | undefined;
  return (
    <fieldset class="field nested"><legend>{label}</legend>
      {items.map((value, index) => (
        <div class="item" key={index}>
          <Field name={String(index + 1)} schema={item} root={props.root} value={value} required path={props.path + '-' + index} depth={props.depth + 1}
            onChange={next => set(items.map((old, at) => (at === index ? next ?? null : old)))} />
          <button type="button" class="quiet" aria-label={'remove item ' + (index + 1)} onClick={() => set(items.filter((_, at) => at !== index))}>remove</button>
        </div>
      ))}
      <button type="button" class="quiet" onClick={() => set([...items, initial(item, props.root) ?? (typesOf(resolve(item, props.root))[0] === 'string' ? '' : null)])}>add item</button>
    </fieldset>
  );
}

/** Fields of an object that are drawn at first. */
const FIELDS = 200;

function Fieldset({ schema, root, value, path, depth, onChange }: { schema: Fields; root: Schema; value: unknown; path: string; depth: number; onChange: (value: unknown) => void }): JSX.Element {
  const fields = isObject(value) ? value : {};
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : [];
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...rest } = fields;
    onChange(next === undefined ? rest : { ...fields, [name]: next });
  };
  const [limit, setLimit] = useState(FIELDS);
  // What is required comes first only where not everything is drawn.
  const all = Object.entries(isObject(schema['properties']) ? schema['properties'] : {});
  const sorted = all.length > FIELDS ? [...all].sort((a, b) => Number(required.includes(b[0])) - Number(required.includes(a[0]))) : all;
  return (
    <>
      {sorted.slice(0, limit).map(([name, field]) => (
        <Field key={name} name={name} schema={field as Schema} root={root} value={Object.hasOwn(fields, name) ? fields[name] : undefined} required={required.includes(name)} path={path + '-' + name} depth={depth} onChange={next => set(name, next)} />
      ))}
      {sorted.length > limit && <button type="button" class="quiet" onClick={() => setLimit(limit + FIELDS)}>show more of {sorted.length} fields</button>}
    </>
  );
}

/** Any JSON value as text; what does not parse is shown and not taken. */
export function JsonInput({ id, value, onChange, rows = 3 }: { id: string; value: unknown; onChange: (value: unknown) => void; rows?: number }): JSX.Element {
  const written = value === undefined ? '' : JSON.stringify(value, null, 2);
  const [text, setText] = useState(written);
  const [problem, setProblem] = useState('');
  const last = useRef(written);
  useEffect(() => {
    if (written !== last.current) {
      last.current = written;
      setText(written);
      setProblem('');
    }
  }, [written]);
  const change = (next: string) => {
    setText(next);
    try {
      const parsed: unknown = next.trim() === '' ? undefined : JSON.parse(next);
      last.current = parsed === undefined ? '' : JSON.stringify(parsed, null, 2);
      setProblem('');
      onChange(parsed);
    } catch (error) {
      setProblem(String((error as Error).message));
    }
  };
  return (
    <>
      <textarea id={id} class="mono json" rows={rows} spellcheck={false} value={text} aria-invalid={problem !== ''} onInput={event => change(event.currentTarget.value)} />
      {problem && <p class="bad" role="alert">{problem}</p>}
    </>
  );
}

/** The whole form, or the same value as JSON. */
export function SchemaForm({ schema, value, onChange, id }: { schema: Schema; value: unknown; onChange: (value: unknown) => void; id: string }): JSX.Element {
  const [raw, setRaw] = useState(false);
  const root = resolve(schema, schema);
  const hasFields = isObject(root['properties']) && Object.keys(root['properties']).length > 0;
  // Alternatives and free names have no fields of their own, and are written as JSON.
  const hasOthers = ['oneOf', 'anyOf', 'allOf', 'patternProperties'].some(key => root[key] !== undefined) || isObject(root['additionalProperties']);
  const asText = raw || (!hasFields && hasOthers);
  return (
    <div class="schema-form">
      <div class="label">{asText ? <label for={id + '-json'}>arguments</label> : <span>arguments</span>}{asText === raw && <button type="button" class="link" onClick={() => setRaw(!raw)}>{raw ? 'form' : 'JSON'}</button>}</div>
      {asText ? <JsonInput id={id + '-json'} value={value} rows={10} onChange={onChange} />
        : hasFields ? <Fieldset schema={root} root={schema} value={value} path={id} depth={0} onChange={onChange} /> : <p class="muted">it takes no arguments</p>}
    </div>
  );
}
