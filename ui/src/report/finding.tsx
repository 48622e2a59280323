// One finding: what is wrong, where, and what was expected instead.
import { type JSX } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { Diff, Fold, Message, Prose } from '../parts';
import { oneLine, visible } from '../text';
import { ActionsContext, editorUrl } from './actions';
import { type Finding, type Place } from './data';

function Where({ place }: { place: Place }): JSX.Element | null {
  if (place.wire) return <div class="at mono">{visible(place.wire.server)} at {visible(place.wire.pointer)}</div>;
  const text = place.text;
  const { folder } = useContext(ActionsContext);
  if (!text) return null;
  const chars = Array.from(text.excerpt);
  const from = Math.min(text.column - 1, chars.length);
  const to = text.end_line > text.line ? chars.length : Math.max(from, Math.min(text.end_column - 1, chars.length));
  const part = (a: number, b: number) => visible(chars.slice(a, b).join('')).replace(/\t/g, '    ');
  return (
    <>
      <div class="at mono">{visible(text.file)}:{text.line}:{text.column} {folder && <a class="link" href={editorUrl(folder, text.file, text.line, text.column)}>open in editor</a>}</div>
      <pre class="source"><span class="number">{text.line}</span><span>{part(0, from)}<mark>{part(from, to) || ' '}</mark>{part(to, chars.length)}</span></pre>
    </>
  );
}

function isJson(text: string | undefined): boolean {
  try {
    return text !== undefined && typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

export function FindingBox({ one }: { one: Finding }): JSX.Element {
  // Words about an expectation are no text to compare with; two JSON values are.
  const both = isJson(one.expected) && isJson(one.actual);
  return (
    <div class={'finding ' + one.severity}>
      <div class="say"><Prose text={one.message} /> <code class="rule">{one.severity} · {oneLine(one.rule)}</code></div>
      {one.place && <Where place={one.place} />}
      {one.diff === undefined && both && <Diff left={one.expected!} right={one.actual!} title="difference (- expected, + actual)" />}
      {one.diff !== undefined && <WrittenDiff text={one.diff} />}
      {(one.expected !== undefined || one.actual !== undefined) && (
        <div class="compare">
          {one.expected !== undefined && <Message label="expected" text={one.expected || '(empty)'} />}
          {one.actual !== undefined && <Message label="actual" text={one.actual || '(empty)'} />}
        </div>
      )}
      {one.seen !== undefined && one.seen !== one.actual && <Fold head="the whole value">{() => <Message label="actual" text={one.seen!} />}</Fold>}
      {one.evidence && (
        <div class="compare">
          <Message label="request" text={one.evidence.request} />
          <Message label="reply" text={one.evidence.reply ?? '(none came)'} />
        </div>
      )}
      {one.help !== undefined && <div class="help"><b>help </b><Prose text={one.help} /></div>}
      <Explanation rule={one.rule} />
    </div>
  );
}

/** The page about a rule, where a program can be asked for it. */
function Explanation({ rule }: { rule: string }): JSX.Element | null {
  const { explain } = useContext(ActionsContext);
  const [text, setText] = useState('');
  if (!explain) return null;
  if (text) return <pre tabIndex={0}>{visible(text)}</pre>;
  return <button type="button" class="link" onClick={() => void explain(rule).then(setText, () => setText('there is no page about it'))}>explain</button>;
}

function WrittenDiff({ text }: { text: string }): JSX.Element {
  const kinds: Record<string, string> = { '+': 'plus', '-': 'minus', '@': 'hunk' };
  return (
    <>
      <div class="label">diff (- expected, + actual)</div>
      <pre class="diff" tabIndex={0}>{text.replace(/\n$/, '').split('\n').map((line, index) => <span key={index} class={kinds[line[0] ?? ''] ?? 'same'}>{visible(line)}</span>)}</pre>
    </>
  );
}
