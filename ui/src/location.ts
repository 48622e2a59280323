// The URL after `#`: the view of `mcprove ui`, and parameters, so that a link shows what its sender saw.

const split = (): [string, string] => {
  const hash = location.hash.slice(1);
  const at = hash.indexOf('?');
  return at >= 0 ? [hash.slice(0, at), hash.slice(at + 1)] : /[=&]/.test(hash) ? ['', hash] : [hash, ''];
};

export const hashView = (): string => split()[0];
export const hashParams = (): URLSearchParams => new URLSearchParams(split()[1]);

const hashOf = (view: string, params: URLSearchParams): string => {
  const text = params.toString();
  return '#' + view + (view && text ? '?' : '') + text;
};

/** Changes parameters of the URL; a new view begins without any. */
export function setHash(changes: Record<string, string | null>, view?: string): void {
  const params = view === undefined ? hashParams() : new URLSearchParams();
  for (const [name, value] of Object.entries(changes)) {
    if (value) params.set(name, value);
    else params.delete(name);
  }
  try {
    history.replaceState(null, '', hashOf(view ?? hashView(), params) || '#');
  } catch { /* a viewer may forbid it */ }
}

/** A link to one test, with the view and the run that are shown now. */
export function linkTo(id: string): string {
  const params = new URLSearchParams();
  for (const name of ['run', 'a']) {
    const value = hashParams().get(name);
    if (value) params.set(name, value);
  }
  params.set('open', id);
  return location.href.split('#')[0] + hashOf(hashView(), params);
}
