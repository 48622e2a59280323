// Questions of a server to its client: they pop up, and the user answers.
import { type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { oneLine, visible } from '../text';
import { type Schema } from './api';
import { foldersOf } from './connect';
import { SchemaForm, initial } from './form';
import { type Question } from './state';

type Message = { role?: unknown; content?: unknown } | null;

const textOf = (content: unknown): string => (Array.isArray(content) ? content.map(textOf).join('\n') : visible((content as { text?: unknown } | null)?.text ?? content));

export function QuestionDialog({ question, server, onAnswer }: { question: Question; server: string; onAnswer: (answer: unknown) => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    if (!shown) return;
    // Browsers close a dialog at the second Escape, and the question still waits.
    const show = () => { if (!shown.open) shown.showModal(); };
    shown.addEventListener('close', show);
    show();
    return () => {
      shown.removeEventListener('close', show);
      // Closing gives the focus back to where it was.
      shown.close();
    };
  }, [question]);
  return (
    <dialog ref={dialog} aria-labelledby="question-title" onCancel={event => event.preventDefault()}>
      <h2 id="question-title">{oneLine(server)} asks</h2>
      {question.method === 'elicitation/create' ? <Elicitation question={question} onAnswer={onAnswer} /> : question.method === 'roots/list' ? <Roots onAnswer={onAnswer} /> : <Sampling question={question} onAnswer={onAnswer} />}
    </dialog>
  );
}

function Elicitation({ question, onAnswer }: { question: Question; onAnswer: (answer: unknown) => void }): JSX.Element {
  const schema = (question.params['requestedSchema'] ?? {}) as Schema;
  const [value, setValue] = useState<unknown>(() => initial(schema, schema) ?? {});
  const url = question.params['mode'] === 'url' ? String(question.params['url'] ?? '') : null;
  const accept = (event: Event) => {
    event.preventDefault();
    onAnswer(url === null ? { action: 'accept', content: value } : { action: 'accept' });
  };
  return (
    <form onSubmit={accept} noValidate>
      <p class="quote">{visible(question.params['message'])}</p>
      {url !== null ? <p>to be opened in a browser: <code>{visible(url)}</code></p> : <SchemaForm id="answer" schema={schema} value={value} onChange={setValue} />}
      <div class="buttons">
        <button type="submit" class="primary">accept</button>
        <button type="button" class="quiet" onClick={() => onAnswer({ action: 'decline' })}>decline</button>
        <button type="button" class="quiet" onClick={() => onAnswer({ action: 'cancel' })}>cancel</button>
      </div>
    </form>
  );
}

/** The answer is a list of folders. */
function Roots({ onAnswer }: { onAnswer: (answer: unknown) => void }): JSX.Element {
  const [text, setText] = useState('');
  return (
    <>
      <p class="quote">Which folders may it use?</p>
      <label for="roots-asked">roots, one per line</label>
      <textarea id="roots-asked" rows={3} value={text} onInput={event => setText(event.currentTarget.value)} />
      <div class="buttons">
        <button type="button" class="primary" onClick={() => onAnswer(foldersOf(text))}>answer</button>
        <button type="button" class="quiet" onClick={() => onAnswer(undefined)}>refuse</button>
      </div>
    </>
  );
}

function Sampling({ question, onAnswer }: { question: Question; onAnswer: (answer: unknown) => void }): JSX.Element {
  const [text, setText] = useState('');
  const messages = Array.isArray(question.params['messages']) ? (question.params['messages'] as Message[]) : [];
  return (
    <>
      {typeof question.params['systemPrompt'] === 'string' && <p class="muted">system: {visible(question.params['systemPrompt'])}</p>}
      {messages.map((message, index) => <div class="said" key={index}><span class="who">{oneLine(message?.role)}</span><div>{textOf(message?.content)}</div></div>)}
      <label for="sample">your answer as the model</label>
      <textarea id="sample" rows={4} value={text} onInput={event => setText(event.currentTarget.value)} />
      <div class="buttons">
        <button type="button" class="primary" onClick={() => onAnswer({ role: 'assistant', content: { type: 'text', text }, model: 'person', stopReason: 'endTurn' })}>answer</button>
        <button type="button" class="quiet" onClick={() => onAnswer(undefined)}>refuse</button>
      </div>
    </>
  );
}
