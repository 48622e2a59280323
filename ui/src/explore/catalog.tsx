// What a server offers, with a search; long lists are drawn as far as they are looked at.
import { type JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { oneLine } from '../text';
import { type Catalog } from './api';

export type Item = { kind: 'tool' | 'resource' | 'template' | 'prompt'; at: number; name: string; about: string };

const SHOWN = 200;

export function itemsOf(catalog: Catalog): Item[] {
  const name = (text: unknown) => (typeof text === 'string' && text ? text : '(no name)');
  return [
    ...catalog.tools.map((tool, at): Item => ({ kind: 'tool', at, name: name(tool?.name), about: String(tool?.description ?? tool?.title ?? '') })),
    ...catalog.resources.map((resource, at): Item => ({ kind: 'resource', at, name: name(resource?.uri), about: String(resource?.description ?? resource?.name ?? '') })),
    ...catalog.templates.map((resource, at): Item => ({ kind: 'template', at, name: name(resource?.uriTemplate), about: String(resource?.description ?? resource?.name ?? '') })),
    ...catalog.prompts.map((prompt, at): Item => ({ kind: 'prompt', at, name: name(prompt?.name), about: String(prompt?.description ?? '') })),
  ];
}

export function CatalogList({ catalog, chosen, onChoose }: { catalog: Catalog; chosen: Item | null; onChoose: (item: Item) => void }): JSX.Element {
  const [text, setText] = useState('');
  const [limit, setLimit] = useState(SHOWN);
  const items = useMemo(() => itemsOf(catalog), [catalog]);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const all = (text: string) => words.every(word => text.toLowerCase().includes(word));
  const matching = items.filter(item => all(item.kind + ' ' + item.name + ' ' + item.about));
  // What has the words in its name comes first.
  const found = words.length ? [...matching.filter(item => all(item.kind + ' ' + item.name)), ...matching.filter(item => !all(item.kind + ' ' + item.name))] : matching;
  const shown = found.slice(0, limit);
  const isChosen = (item: Item) => chosen?.kind === item.kind && chosen.at === item.at;
  // The list is one stop of the Tab key; arrows move inside it.
  const stop = Math.max(0, shown.findIndex(isChosen));
  const onKey = (event: JSX.TargetedKeyboardEvent<HTMLElement>) => {
    const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('.item-button')];
    const at = buttons.indexOf(event.target as HTMLElement);
    const moves: Record<string, number> = at < 0 ? { ArrowDown: 0 } : { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 };
    const next = moves[event.key];
    if (next === undefined) return;
    event.preventDefault();
    (next < 0 ? document.getElementById('catalog-search') : buttons[next])?.focus();
  };
  return (
    <nav aria-label="catalog" class="catalog" onKeyDown={onKey}>
      <input type="search" id="catalog-search" aria-label="search the catalog" placeholder={`search ${items.length} items`} value={text} onInput={event => { setText(event.currentTarget.value); setLimit(SHOWN); }} />
      <ul>
        {shown.map((item, index) => (
          <li key={item.kind + item.at}>
            <button type="button" class="item-button" aria-current={isChosen(item)} tabIndex={index === stop ? 0 : -1} onClick={() => onChoose(item)}>
              <span class="chip muted">{item.kind}</span> <b>{oneLine(item.name)}</b><span class="muted about">{oneLine(item.about).slice(0, 120)}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length > limit && <button type="button" class="quiet" onClick={() => setLimit(limit + SHOWN)}>show more of {found.length}</button>}
      {catalog.findings.map((finding, index) => <p class="warn" key={index}>{oneLine(finding.message)}</p>)}
    </nav>
  );
}
