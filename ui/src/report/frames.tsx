// The frames of a test: a waterfall, and every frame with its bytes.
import { type JSX } from 'preact';
import { Fold, Media, Message } from '../parts';
import { bytes, human, oneLine, visible } from '../text';
import { type Frame } from './data';

type Parsed = { id?: unknown; method?: unknown; params?: { name?: unknown; uri?: unknown }; result?: { content?: unknown }; error?: unknown };

export function parsed(text: string): Parsed | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Parsed) : null;
  } catch {
    return null;
  }
}

/** What a frame is, and what is in it, in one line each. */
export function summaryOf(frame: Frame): [string, string] {
  const part = frame.part;
  if (part?.http_request) return ['HTTP request', part.http_request.method + ' ' + part.http_request.url];
  if (part?.http_response) return ['HTTP response', 'status ' + part.http_response.status];
  if (part?.stream_event) return ['stream event', part.stream_event.event];
  const message = parsed(frame.text.length < 200_000 ? frame.text : '');
  if (!message) return [frame.kind, frame.text.slice(0, 200)];
  const id = message.id === undefined ? '' : ' #' + JSON.stringify(message.id);
  const subject = message.params && (message.params.name ?? message.params.uri);
  if (typeof message.method === 'string') return [frame.kind + id, message.method + (typeof subject === 'string' ? ' ' + subject : '')];
  if (message.error) return [frame.kind + id, 'error ' + JSON.stringify(message.error).slice(0, 200)];
  return [frame.kind + id, JSON.stringify(message.result ?? message).slice(0, 200)];
}

export function FrameRow({ frame, several }: { frame: Frame; several: boolean }): JSX.Element {
  const [what, hint] = summaryOf(frame);
  const sent = frame.direction === 'sent';
  const head = (
    <>
      {several && <span class="muted">session {frame.session}</span>}
      <span class="when">+{human(frame.at_us)}</span>
      <span class={'way ' + frame.direction} title={sent ? 'sent by mcprove' : 'received from the server'}>{sent ? '→' : '←'}</span>
      <span class={'what mono' + (frame.kind === 'stray' ? ' warn' : '')}>{oneLine(what)}{frame.binary && ' (not UTF-8)'}</span>
      <span class="hint mono">{oneLine(hint)}</span>
      <span class="muted size">{bytes(frame.text.length + (frame.cut ?? 0))}</span>
    </>
  );
  return (
    <Fold class="frame" head={head}>
      {() => {
        const headers = (frame.part?.http_request ?? frame.part?.http_response)?.headers;
        return (
          <div class="inner">
            {headers && <Message label="headers" text={headers.map(([name, value]) => name + ': ' + value).join('\n')} />}
            {(frame.text || !headers) && <Message label={frame.binary ? 'bytes; those that are not UTF-8 are escaped' : 'frame'} text={frame.text} />}
            {frame.cut ? <p class="muted">and {bytes(frame.cut)} more, which the event log has</p> : <Media content={parsed(frame.text)?.result?.content} />}
          </div>
        );
      }}
    </Fold>
  );
}

/** A request with the frame that answered it, or a single message. */
interface Span {
  label: string;
  from: number;
  to: number | null;
  bad: boolean;
}

/** Requests of both sides with their replies, matched by their ids within a session. */
export function spansOf(frames: Frame[]): Span[] {
  const spans: Span[] = [];
  const open = new Map<string, Span>();
  for (const frame of frames) {
    if (frame.part) continue;
    const message = parsed(frame.text.length < 200_000 ? frame.text : frame.text.slice(0, 0));
    const id = JSON.stringify(message?.id ?? null);
    if (message && typeof message.method === 'string') {
      const subject = message.params && (message.params.name ?? message.params.uri);
      const label = (frame.direction === 'sent' ? '' : '← ') + message.method + (typeof subject === 'string' ? ' ' + subject : '');
      const span: Span = { label, from: frame.at_us, to: message.id === undefined ? frame.at_us : null, bad: false };
      spans.push(span);
      if (message.id !== undefined) open.set(frame.session + frame.direction + id, span);
    } else if (message) {
      const other = frame.direction === 'sent' ? 'received' : 'sent';
      const span = open.get(frame.session + other + id);
      if (span && span.to === null) {
        span.to = frame.at_us;
        span.bad = message.error !== undefined;
      }
    }
  }
  return spans;
}

const SHOWN = 200;

export function Waterfall({ frames }: { frames: Frame[] }): JSX.Element | null {
  const spans = spansOf(frames);
  const end = frames.reduce((most, frame) => Math.max(most, frame.at_us), 1);
  if (spans.length < 2) return null;
  return (
    <div class="waterfall" role="img" aria-label={`${spans.length} messages over ${human(end)}`}>
      {spans.slice(0, SHOWN).map((span, index) => {
        const left = (span.from / end) * 100;
        const width = Math.max(0.4, (((span.to ?? end) - span.from) / end) * 100);
        const time = span.to === null ? 'no reply' : span.to === span.from ? '+' + human(span.from) : human(span.to - span.from);
        return (
          <div class="lane" key={index} title={visible(span.label) + ': ' + time}>
            <span class="lane-name mono">{oneLine(span.label)}</span>
            <span class="lane-bar"><i class={span.to === null ? 'hung' : span.bad ? 'wrong' : ''} style={{ left: `${Math.min(left, 99)}%`, width: `${Math.min(width, 100 - Math.min(left, 99))}%` }} /></span>
            <span class="lane-time">{time}</span>
          </div>
        );
      })}
    </div>
  );
}

export function Frames({ frames, leftOut }: { frames: Frame[]; leftOut: number }): JSX.Element {
  const several = frames.some(frame => frame.session > 0);
  return (
    <>
      <Waterfall frames={frames} />
      <div>{frames.map((frame, index) => <FrameRow key={index} frame={frame} several={several} />)}</div>
      {leftOut > 0 && <p class="muted">{leftOut} more frames are in the event log</p>}
    </>
  );
}
