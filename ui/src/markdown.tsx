// Markdown of servers as elements: headings, lists, quotes, code, tables, emphasis and web links. Markup in it stays text.
import { type ComponentChildren, type JSX } from 'preact';
import { visible } from './text';

const INLINE = /(`[^`\n]+`)|(\*\*[^*\n]+\*\*)|(\*[^*\s][^*\n]*\*)|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)/g;

function inline(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(visible(text.slice(last, match.index)));
    const [whole, code, strong, emphasis, label, url] = match;
    if (code) parts.push(<code class="prose">{visible(code.slice(1, -1))}</code>);
    else if (strong) parts.push(<b>{visible(strong.slice(2, -2))}</b>);
    else if (emphasis) parts.push(<i>{visible(emphasis.slice(1, -1))}</i>);
    else if (label && url) parts.push(<a href={url} title={visible(url)} rel="noreferrer noopener" target="_blank">{visible(label)}</a>);
    last = match.index + whole.length;
  }
  return [...parts, visible(text.slice(last))];
}

/** True for a text in which showing it as Markdown changes something. */
export const isMarkdown = (text: string): boolean => text.length < 200_000 && /^(#{1,6} |```|[-*] |\d+\. |> |\|.+\|$)|\*\*[^*\n]+\*\*|\]\(https?:/m.test(text);

const cells = (line: string): string[] => line.replace(/^\s*\||\|\s*$/g, '').split('|').map(cell => cell.trim());

function blockOf(lines: string[], key: number): JSX.Element {
  const first = lines[0]!;
  const heading = /^(#{1,6}) (.*)/.exec(first);
  if (heading) return <p key={key} class={'md-heading md-' + heading[1]!.length}>{inline(heading[2]!)}</p>;
  if (/^(-{3,}|\*{3,})$/.test(first.trim())) return <hr key={key} />;
  if (first.startsWith('>')) return <blockquote key={key}>{lines.map((line, index) => <span key={index}>{inline(line.replace(/^> ?/, ''))}<br /></span>)}</blockquote>;
  if (/^\s*([-*]|\d+\.) /.test(first)) {
    const items = lines.reduce<string[]>((all, line) => (/^\s*([-*]|\d+\.) /.test(line) || !all.length ? [...all, line.replace(/^\s*([-*]|\d+\.) /, '')] : [...all.slice(0, -1), all[all.length - 1] + '\n' + line.trim()]), []);
    const body = items.map((item, index) => <li key={index}>{inline(item)}</li>);
    return /^\s*\d/.test(first) ? <ol key={key}>{body}</ol> : <ul key={key}>{body}</ul>;
  }
  if (lines.length > 1 && first.includes('|') && /^[\s|:-]+$/.test(lines[1]!)) {
    return (
      <div class="scroll" key={key} tabIndex={0}><table><thead><tr>{cells(first).map((cell, index) => <th key={index} scope="col">{inline(cell)}</th>)}</tr></thead>
        <tbody>{lines.slice(2).map((line, at) => <tr key={at}>{cells(line).map((cell, index) => <td key={index}>{inline(cell)}</td>)}</tr>)}</tbody></table></div>
    );
  }
  return <p key={key}>{inline(lines.join('\n'))}</p>;
}

export function Markdown({ text }: { text: string }): JSX.Element {
  const blocks: JSX.Element[] = [];
  let open: string[] = [];
  const close = () => { if (open.length) blocks.push(blockOf(open, blocks.length)); open = []; };
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    if (line.startsWith('```')) {
      close();
      const end = lines.findIndex((other, index) => index > at && other.startsWith('```'));
      const body = lines.slice(at + 1, end < 0 ? lines.length : end);
      blocks.push(<pre key={blocks.length} tabIndex={0}>{visible(body.join('\n'))}</pre>);
      at = end < 0 ? lines.length : end;
    } else if (line.trim() === '') close();
    else if (/^#{1,6} /.test(line)) {
      close();
      open = [line];
      close();
    } else {
      const isItem = (text: string) => /^\s*([-*]|\d+\.) /.test(text);
      if (open.length && isItem(line) && !isItem(open[0]!)) close();
      open.push(line);
    }
  }
  close();
  return <div class="markdown">{blocks}</div>;
}
