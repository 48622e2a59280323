// Text from servers, made fit to be shown.

/** Controls and marks that change how neighbours are shown become visible. What should be a text may be anything. */
export function visible(text: unknown): string {
  return textOf(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, c => {
    const code = c.charCodeAt(0);
    return code === 13 ? '\\r' : code < 256 ? '\\x' + code.toString(16).padStart(2, '0') : '\\u{' + code.toString(16) + '}';
  });
}

/** The same on one line. */
export const oneLine = (text: unknown): string => visible(textOf(text).replace(/\s+/g, ' '));

const textOf = (value: unknown): string => (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value));

/** A time for people. */
export function human(us: number): string {
  const ms = Math.floor(us / 1000);
  if (ms < 1) return us + 'µs';
  if (ms < 10) return (Math.floor(us / 100) / 10).toFixed(1) + 'ms';
  if (ms < 1000) return ms + 'ms';
  if (ms < 60000) return (Math.floor(ms / 100) / 10).toFixed(1) + 's';
  return Math.floor(ms / 60000) + 'm ' + String(Math.floor(ms / 1000) % 60).padStart(2, '0') + 's';
}

/** A size for people. */
export function bytes(count: number): string {
  if (count < 1000) return count + ' B';
  if (count < 1e6) return (count / 1000).toFixed(1) + ' kB';
  return (count / 1e6).toFixed(1) + ' MB';
}

/** Indents JSON without parsing it, so that numbers, duplicate keys and broken ends stay as they were sent. */
export function pretty(text: string): string {
  if (!/^\s*(\{\s*["}]|\[\s*(["{[\]\d-]|true|false|null))/.test(text)) return text;
  const out: string[] = [];
  let depth = 0;
  let quoted = false;
  const line = () => out.push('\n' + '  '.repeat(Math.min(depth, 200)));
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (quoted) {
      out.push(c);
      if (c === '\\') out.push(text[++i] ?? '');
      else if (c === '"') quoted = false;
    } else if (c === '"') {
      quoted = true;
      out.push(c);
    } else if (c === '{' || c === '[') {
      const close = /\S/.exec(text.slice(i + 1, i + 40));
      if (close && (close[0] === '}' || close[0] === ']')) {
        out.push(c + close[0]);
        i += 1 + close.index;
      } else {
        depth++;
        out.push(c);
        line();
      }
    } else if (c === '}' || c === ']') {
      depth = Math.max(0, depth - 1);
      line();
      out.push(c);
    } else if (c === ',') {
      out.push(c);
      line();
    } else if (c === ':') out.push(': ');
    else if (!/\s/.test(c)) out.push(c);
  }
  return out.join('');
}

/** An argument as a POSIX shell takes it. */
export function shellQuote(word: string): string {
  return /^[\w./:=,@%+-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
}

export type DiffLine = { kind: 'same' | 'minus' | 'plus'; text: string };

/** Lines of two texts, aligned by their longest common subsequence; nothing for texts that are too long to align. */
export function diffLines(left: string, right: string): DiffLine[] | null {
  const a = left.split('\n');
  const b = right.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const x = a.slice(start, a.length - end);
  const y = b.slice(start, b.length - end);
  if (x.length * y.length > 1_000_000) return null;
  const table = Array.from({ length: x.length + 1 }, () => new Uint32Array(y.length + 1));
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      table[i]![j] = x[i] === y[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
    }
  }
  const lines: DiffLine[] = a.slice(0, start).map(text => ({ kind: 'same', text }));
  let i = 0;
  let j = 0;
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      lines.push({ kind: 'same', text: x[i]! });
      i++;
      j++;
    } else if (i < x.length && (j === y.length || table[i + 1]![j]! >= table[i]![j + 1]!)) lines.push({ kind: 'minus', text: x[i++]! });
    else lines.push({ kind: 'plus', text: y[j++]! });
  }
  return lines.concat(a.slice(a.length - end).map(text => ({ kind: 'same', text })));
}
