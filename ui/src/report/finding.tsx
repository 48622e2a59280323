// One finding: what is wrong, where, and what was expected instead.
import { type JSX } from 'preact';
import { Diff, Message, Prose } from '../parts';
import { oneLine, visible } from '../text';
import { type Finding, type Place } from './data';

function Where({ place }: { place: Place }): JSX.Element | null {
  if (place.wire) return <div class="at mono">{visible(place.wire.server)} at {visible(place.wire.pointer)}</div>;
  const text = place.text;
  if (!text) return null;
  const chars = Array.from(text.excerpt);
  const from = Math.min(text.column - 1, chars.length);
  const to = text.end_line > text.line ? chars.length : Math.max(from, Math.min(text.end_column - 1, chars.length));
  const part = (a: number, b: number) => visible(chars.slice(a, b).join('')).replace(/\t/g, '    ');
  return (
    <>
      <div class="at mono">{visible(text.file)}:{text.line}:{text.column}</div>
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
      {one.evidence && (
        <div class="compare">
          <Message label="request" text={one.evidence.request} />
          <Message label="reply" text={one.evidence.reply ?? '(none came)'} />
        </div>
      )}
      {one.help !== undefined && <div class="help"><b>help </b><Prose text={one.help} /></div>}
    </div>
  );
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
