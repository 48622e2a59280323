// Everything the page knows, as a pure function of events.
import { type Frame } from '../report/data';
import { type About, type Catalog, type Event } from './api';

export interface Question { connection: number; request: number; question: number; method: string; params: Record<string, unknown> }

export interface Made {
  request: number;
  connection: number;
  method: string;
  params: Record<string, unknown>;
  /** What the user answered on the way. */
  answers: { elicitation?: unknown; sampling?: unknown[] };
  notes: { method: string; params: unknown }[];
  end: { outcome: string; result: unknown; message: string | null; elapsed_us: number } | null;
}

export interface Connected { about: About; catalog: Catalog; /** The request that made it, where this page made it. */ order?: Record<string, unknown> | undefined; frames: Frame[]; left: number; stderr: string; open: boolean; notes: { method: string; params: unknown }[]; changed: boolean }

export interface Explored {
  connections: Connected[];
  made: Made[];
  questions: Question[];
  current: number | null;
  /** Events of connections that this page does not know yet: the handshake can be here before the answer to the request to connect. */
  early: Event[];
}

export const EMPTY: Explored = { connections: [], made: [], questions: [], current: null, early: [] };

/** How many frames and requests a page keeps. */
const FRAMES = 2000;
const MADE = 200;
const NOTES = 500;

export type Action =
  | { type: 'connected'; about: About; catalog: Catalog; order?: Record<string, unknown> }
  | { type: 'catalog'; connection: number; catalog: Catalog }
  | { type: 'choose'; connection: number | null }
  | { type: 'forget'; connection: number }
  | { type: 'began'; made: Made }
  | { type: 'answered'; question: Question; kind: 'elicitation' | 'sampling'; answer: unknown }
  | { type: 'events'; events: Event[] };

export function reduce(state: Explored, action: Action): Explored {
  switch (action.type) {
    case 'connected': {
      const known = state.connections.some(each => each.about.connection === action.about.connection);
      if (known) return state;
      const connected: Connected = { about: action.about, catalog: action.catalog, order: action.order, frames: [], left: 0, stderr: '', open: true, notes: [], changed: false };
      const isOwn = (event: Event) => event.connection === action.about.connection;
      const next = { ...state, connections: [...state.connections, connected], current: action.about.connection, early: state.early.filter(event => !isOwn(event)) };
      return state.early.filter(isOwn).reduce(take, next);
    }
    case 'catalog':
      return { ...state, connections: state.connections.map(each => (each.about.connection === action.connection ? { ...each, catalog: action.catalog, changed: false } : each)) };
    case 'choose':
      return { ...state, current: action.connection };
    case 'forget': {
      const connections = state.connections.filter(each => each.about.connection !== action.connection);
      return { ...state, connections, current: connections[0]?.about.connection ?? null };
    }
    case 'began':
      return { ...state, made: [action.made, ...state.made].slice(0, MADE) };
    case 'answered': {
      const { question } = action;
      const made = state.made.map(each => {
        if (each.request !== question.request) return each;
        const answers = action.kind === 'elicitation' ? { ...each.answers, elicitation: action.answer } : { ...each.answers, sampling: [...(each.answers.sampling ?? []), action.answer] };
        return { ...each, answers };
      });
      return { ...state, made, questions: state.questions.filter(each => each !== question) };
    }
    case 'events':
      return action.events.reduce(take, state);
  }
}

function take(state: Explored, event: Event): Explored {
  if (!state.connections.some(each => each.about.connection === event.connection)) return { ...state, early: [...state.early, event].slice(-FRAMES) };
  const update = (change: (each: Connected) => Connected): Explored => ({ ...state, connections: state.connections.map(each => (each.about.connection === event.connection ? change(each) : each)) });
  switch (event.event) {
    case 'frame':
      return update(each => ({ ...each, frames: [...each.frames, event].slice(-FRAMES), left: each.left + Math.max(0, each.frames.length + 1 - FRAMES) }));
    case 'notification': {
      const note = { method: event.method, params: event.params };
      const next = update(each => ({ ...each, notes: [...each.notes, note].slice(-NOTES), changed: each.changed || event.method.endsWith('list_changed') }));
      const open = next.made.find(each => each.connection === event.connection && each.end === null);
      return { ...next, made: next.made.map(each => (each === open ? { ...each, notes: [...each.notes, note].slice(-NOTES) } : each)) };
    }
    case 'began': {
      // This page may know it already; after a reload, and in another tab, it is news.
      const isKept = ['tools/call', 'prompts/get', 'resources/read'].includes(event.method);
      if (!isKept || state.made.some(each => each.request === event.request)) return state;
      const made: Made = { request: event.request, connection: event.connection, method: event.method, params: event.params ?? {}, answers: {}, notes: [], end: null };
      return { ...state, made: [made, ...state.made].slice(0, MADE) };
    }
    case 'stderr':
      return update(each => ({ ...each, stderr: event.text }));
    case 'question':
      return { ...state, questions: [...state.questions, event] };
    case 'answered':
      return { ...state, questions: state.questions.filter(each => each.connection !== event.connection || each.question !== event.question) };
    case 'done':
      return {
        ...state,
        questions: state.questions.filter(each => each.request !== event.request),
        made: state.made.map(each => (each.request === event.request ? { ...each, end: { outcome: event.outcome, result: event.result, message: event.message, elapsed_us: event.elapsed_us } } : each)),
      };
    case 'closed':
      return { ...update(each => ({ ...each, open: false, stderr: event.stderr || each.stderr })), questions: state.questions.filter(each => each.connection !== event.connection) };
  }
}
