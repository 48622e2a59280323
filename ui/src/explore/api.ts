// The JSON API of `mcprove ui` (docs/ui.md).
import { type Frame } from '../report/data';

export interface About {
  connection: number;
  name: string;
  server_name: string;
  server_version: string;
  protocol: string;
  transport: string;
  capabilities: Record<string, unknown> | null;
  /** The roots that the client declared. */
  roots: string[] | null;
}

export type Schema = { [key: string]: unknown } | boolean;

export interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema?: Schema;
  outputSchema?: Schema;
  annotations?: Record<string, unknown>;
}

export interface Resource { uri?: string; uriTemplate?: string; name?: string; description?: string; mimeType?: string }
export interface Prompt { name: string; description?: string; arguments?: { name: string; description?: string; required?: boolean }[] }

export interface Catalog { tools: Tool[]; resources: Resource[]; templates: Resource[]; prompts: Prompt[]; findings: { message: string }[] }

export interface State { version: string; servers: { name: string }[]; suites: string[]; connections: About[]; folder: string; commands: string[]; client_configs: string[] }

export type Event = { number: number; connection: number } & (
  | ({ event: 'frame' } & Frame)
  | { event: 'notification'; at_us: number; method: string; params: unknown }
  | { event: 'stderr'; text: string }
  | { event: 'began'; request: number; method: string; params: Record<string, unknown> }
  | { event: 'question'; request: number; question: number; method: string; params: Record<string, unknown> }
  | { event: 'answered'; question: number }
  | { event: 'done'; request: number; outcome: string; result: unknown; message: string | null; elapsed_us: number }
  | { event: 'closed'; stderr: string }
);

/** The number is chosen here, so that no event can come before it is known. */
export const requestNumber = (): number => Math.floor(Math.random() * 2 ** 50);

/** Takes an answer unless another question was asked meanwhile; the cleanup of an effect. */
export function whileWanted<T>(asked: Promise<T>, take: (answer: T) => void, failed: (error: Error) => void): () => void {
  let wanted = true;
  asked.then(answer => { if (wanted) take(answer); }, (error: Error) => { if (wanted) failed(error); });
  return () => { wanted = false; };
}

export class ApiError extends Error {
  constructor(message: string, readonly detail: Record<string, unknown>) {
    super(message);
  }
}

export class Api {
  /** Requests to servers whose outcome is awaited. */
  private readonly awaited = new Map<number, (end: { outcome: string; result: unknown }) => void>();

  private constructor(private readonly key: string) {}

  /** Trades the token of the URL for a key, once; reloads, other tabs and links find the key in the storage of this origin. */
  static async open(): Promise<Api> {
    const token = new URLSearchParams(location.search).get('token');
    if (token) {
      history.replaceState(null, '', location.pathname + location.hash);
      const response = await fetch('/api/login', { method: 'POST', body: JSON.stringify({ token }) });
      if (response.ok) {
        const { key } = (await response.json()) as { key: string };
        localStorage.setItem('mcprove-key', key);
        return new Api(key);
      }
    }
    const key = localStorage.getItem('mcprove-key');
    if (!key) throw new Error('this page needs the URL that `mcprove ui` printed; its token works once');
    return new Api(key);
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch('/api/' + path, {
      method,
      headers: { Authorization: 'Bearer ' + this.key },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const value = (await response.json()) as Record<string, unknown>;
    if (response.status === 401 && value['status'] === undefined) throw new ApiError('this page needs the URL that `mcprove ui` printed; its token works once', value);
    if (!response.ok) throw new ApiError(String(value['error'] ?? response.status), value);
    return value as T;
  }

  /** Makes a request to a server and waits for its result. */
  async ask(connection: number, method: string, params: unknown): Promise<unknown> {
    const request = requestNumber();
    const end = new Promise<{ outcome: string; result: unknown }>(resolve => this.awaited.set(request, resolve));
    await this.call('POST', `connections/${connection}/requests`, { method, params, request });
    const { outcome, result } = await end;
    if (outcome !== 'result') throw new Error(outcome);
    return result;
  }

  /** Hands over every event, in order; it connects again when the connection breaks. */
  async events(onEvents: (events: Event[]) => void, onBroken: (broken: boolean) => void): Promise<void> {
    let after = 0;
    for (;;) {
      try {
        const response = await fetch('/api/events?after=' + after, { headers: { Authorization: 'Bearer ' + this.key } });
        if (!response.ok || !response.body) throw new Error('no events');
        onBroken(false);
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = '';
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          const parts = (rest + value).split('\n\n');
          rest = parts.pop() ?? '';
          const events = parts.filter(part => part.startsWith('data: ')).map(part => JSON.parse(part.slice(6)) as Event);
          if (events.length) {
            after = events[events.length - 1]!.number;
            for (const event of events) {
              if (event.event !== 'done') continue;
              this.awaited.get(event.request)?.(event);
              this.awaited.delete(event.request);
            }
            onEvents(events);
          }
        }
      } catch { /* reported below */ }
      onBroken(true);
      await new Promise(resolve => setTimeout(resolve, 1000));
    }
  }
}
