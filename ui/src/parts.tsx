// Small parts that both pages use. Every text is a text node; nothing is ever parsed as markup.
import { type ComponentChildren, type JSX } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { type DiffLine, diffLines, pretty, visible } from './text';

/** Copies a text; pages from `file://` may have no clipboard, so a selection is the way out. */
export function CopyButton({ text, label = 'copy' }: { text: string; label?: string }): JSX.Element {
  const [state, setState] = useState(label);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    setState('copied');
    setTimeout(() => setState(label), 1200);
  };
  return <button type="button" class="link copy" onClick={copy} aria-label={label === 'copy' ? 'copy to the clipboard' : label}>{state}</button>;
}

/** A message with its label, a switch between pretty and raw, and a copy button. */
export function Message({ label, text, note }: { label: string; text: string; note?: string }): JSX.Element {
  const [raw, setRaw] = useState(false);
  const shown = pretty(text);
  return (
    <div>
      <div class="label">
        <span>{label}</span>
        <span class="acts">
          {shown !== text && <button type="button" class="link" onClick={() => setRaw(!raw)}>{raw ? 'pretty' : 'raw'}</button>}
          <CopyButton text={text} />
        </span>
      </div>
      <pre tabIndex={0}>{visible(raw ? text : shown)}</pre>
      {note && <p class="muted">{note}</p>}
    </div>
  );
}

/** Text in which backticks stand around code. */
export function Prose({ text }: { text: string }): JSX.Element {
  const parts = visible(text).split(/`([^`\n]+)`/);
  return <>{parts.map((part, index) => (index % 2 ? <code class="prose" key={index}>{part}</code> : part))}</>;
}

/** Details that are drawn when they are opened. */
export function Fold({ head, open = false, class: name, children }: { head: ComponentChildren; open?: boolean; class?: string; children: () => ComponentChildren }): JSX.Element {
  const [shown, setShown] = useState(open);
  return (
    <details class={name} open={open} onToggle={event => setShown((event.currentTarget as HTMLDetailsElement).open)}>
      <summary>{head}</summary>
      {shown && children()}
    </details>
  );
}

/** What cannot be drawn is said in its place, and the rest of the page goes on. */
export function Guarded({ children }: { children: ComponentChildren }): JSX.Element {
  const [problem] = useErrorBoundary();
  return problem ? <p class="bad" role="alert">this cannot be shown: {visible(String(problem))}</p> : <>{children}</>;
}

/** How many lines around a difference are shown. */
const AROUND = 3;

/** Two texts as one list of lines with what differs; JSON is compared after indenting it. */
export function Diff({ left, right, title }: { left: string; right: string; title: string }): JSX.Element | null {
  const lines = diffLines(pretty(left), pretty(right));
  const [whole, setWhole] = useState(false);
  if (!lines || !lines.some(line => line.kind !== 'same')) return null;
  const near = lines.map((_, index) => lines.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(line => line.kind !== 'same'));
  const rows: { line: DiffLine; gap: boolean }[] = [];
  lines.forEach((line, index) => {
    if (whole || near[index]) rows.push({ line, gap: !whole && index > 0 && !near[index - 1] });
  });
  const sign = { same: '  ', minus: '- ', plus: '+ ' };
  return (
    <div>
      <div class="label">
        <span>{title}</span>
        <span class="acts">{near.includes(false) && <button type="button" class="link" onClick={() => setWhole(!whole)}>{whole ? 'differences only' : 'whole text'}</button>}</span>
      </div>
      <pre class="diff" tabIndex={0}>
        {rows.map(({ line, gap }, index) => <span key={index} class={line.kind + (gap ? ' gap' : '')}>{sign[line.kind] + visible(line.text)}</span>)}
      </pre>
    </div>
  );
}

type Content = { type?: unknown; data?: unknown; mimeType?: unknown };

/** Images and audio among the content of a result. Only media types are used; an SVG in an image runs no script. */
export function Media({ content }: { content: unknown }): JSX.Element | null {
  if (!Array.isArray(content)) return null;
  const shown = (content as Content[]).flatMap((item, index) => {
    const { type, data, mimeType } = item ?? {};
    if (typeof data !== 'string' || typeof mimeType !== 'string' || !/^[A-Za-z0-9+/=\s]*$/.test(data)) return [];
    if (type === 'image' && /^image\/[\w.+-]+$/.test(mimeType)) return [<img key={index} alt={`image ${index + 1} of the result`} src={`data:${mimeType};base64,${data}`} />];
    if (type === 'audio' && /^audio\/[\w.+-]+$/.test(mimeType)) return [<audio key={index} controls src={`data:${mimeType};base64,${data}`} />];
    return [];
  });
  return shown.length ? <div class="media">{shown}</div> : null;
}

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

/** Switches between the system's theme, light and dark. */
export function ThemeButton(): JSX.Element {
  const [theme, setTheme] = useState<Theme>(() => {
    try {
      const stored = localStorage.getItem('mcprove-theme') as Theme | null;
      return stored && THEMES.includes(stored) ? stored : 'system';
    } catch {
      return 'system';
    }
  });
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
    try {
      localStorage.setItem('mcprove-theme', theme);
    } catch { /* no storage, no memory */ }
  }, [theme]);
  const next = () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!);
  return <button type="button" class="quiet" onClick={next} title="switch between the system's theme, light and dark">theme: {theme}</button>;
}
