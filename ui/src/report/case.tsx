// Everything about one trial of one test.
import { type JSX } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { linkTo } from '../location';
import { CopyButton, Fold, Media, Message } from '../parts';
import { human, oneLine, shellQuote, visible } from '../text';
import { ActionsContext, editorUrl, exactly } from './actions';
import { type Agent, type Call, type Case, type Frame, type LoadTable, type Row, SIGNS, WORDS, reasonOf } from './data';
import { FindingBox } from './finding';
import { Frames, parsed } from './frames';
import { Timings } from './timings';

const SIGNALS: Record<number, string> = { 1: 'SIGHUP', 2: 'SIGINT', 4: 'SIGILL', 6: 'SIGABRT', 8: 'SIGFPE', 9: 'SIGKILL', 11: 'SIGSEGV', 13: 'SIGPIPE', 15: 'SIGTERM' };

function endOf({ code, signal }: { code: number | null; signal: number | null }): string {
  if (code !== null) return 'exited with code ' + code;
  if (signal === null) return 'ended';
  return 'was ended by signal ' + signal + (SIGNALS[signal] ? ' (' + SIGNALS[signal] + ')' : '');
}

/** The longest reply that is shown as a whole. */
const WHOLE = 200_000;

/** The reply of a call: the log has its beginning with the call, and all of it in a frame. */
function replyOf(call: Call, frames: Frame[]): string | undefined {
  const cut = /… \(\d+ more bytes\)$/.exec(call.reply ?? '');
  if (call.reply === undefined || !cut) return call.reply;
  const start = call.reply.slice(0, cut.index);
  return frames.find(frame => frame.direction === 'received' && !frame.cut && frame.text.length <= WHOLE && frame.text.startsWith(start))?.text ?? call.reply;
}

function CallRow({ call, open, frames }: { call: Call; open: boolean; frames: Frame[] }): JSX.Element {
  const role = call.role === 'act' ? '' : call.role + ': ';
  const head = (
    <>
      <b>{role}{oneLine(call.method)}{call.subject ? ' ' + oneLine(call.subject) : ''}</b>
      <span class="muted"> {call.server ? 'of ' + oneLine(call.server) + ' ' : ''}{human(call.elapsed_us)}</span>
      {call.fault !== undefined && <span class="chip warn">fault: {oneLine(call.fault)}</span>}
      {call.reply === undefined && <span class="chip bad">no reply</span>}
    </>
  );
  return (
    <Fold class="call" head={head} open={open}>
      {() => {
        const reply = replyOf(call, frames);
        return (
          <div class="compare">
            <Message label="request" text={call.request} />
            {reply === undefined ? <div class="label">no reply came</div> : <div><Message label="reply" text={reply} /><Media content={parsed(reply)?.result?.content} /></div>}
          </div>
        );
      }}
    </Fold>
  );
}

function AgentPart({ agent, calls, frames }: { agent: Agent; calls: Call[]; frames: Frame[] }): JSX.Element {
  const tokens = Object.entries(agent.usage).filter(([, count]) => typeof count === 'number');
  const faults = calls.filter(call => call.fault !== undefined);
  const stop = typeof agent.stop_reason === 'string' ? agent.stop_reason : JSON.stringify(agent.stop_reason);
  return (
    <section class="agent" aria-label="agent">
      <h3>Agent</h3>
      <div class="meta">
        {oneLine(agent.model)}{agent.replayed ? ' (recorded replies)' : ''} · {agent.turns} {agent.turns === 1 ? 'turn' : 'turns'} · ended: {oneLine(stop)}
        {tokens.map(([name, count]) => <span key={name}> · {name.replaceAll('_', ' ')} {count}</span>)}
        {agent.cost_usd_micros !== undefined && <span> · ${(agent.cost_usd_micros / 1e6).toFixed(4)}</span>}
      </div>
      {agent.prompts.map((prompt, index) => <div class="said user" key={index}><span class="who">user</span><div>{visible(prompt)}</div></div>)}
      {calls.filter(call => call.role === 'agent').map((call, index) => <CallRow key={index} call={call} open={false} frames={frames} />)}
      {agent.answer !== undefined ? <div class="said model"><span class="who">model</span><div>{visible(agent.answer)}</div></div> : <div class="meta">no final answer</div>}
      {faults.length > 0 && <div class="meta">faults: {faults.map(call => oneLine(`${call.fault} in ${call.subject ?? call.method}`)).join(', ')}</div>}
      {agent.recovery !== undefined && <div class="meta">recovery: {visible(agent.recovery)}</div>}
    </section>
  );
}

function Load({ load }: { load: LoadTable }): JSX.Element {
  return (
    <section class="load" aria-label="load">
      <h3>Load</h3>
      {load.facts.map(([name, value]) => <div class="meta" key={name}><b>{name}</b> {oneLine(value)}</div>)}
      <div class="card scroll" tabIndex={0}><table>
        <thead><tr>{load.head.map((name, index) => <th key={index} class={index ? 'num' : ''} scope="col">{name}</th>)}</tr></thead>
        <tbody>{load.rows.map((row, at) => <tr key={at}>{row.map((cell, index) => <td key={index} class={index ? 'num' : 'mono'}>{oneLine(cell)}</td>)}</tr>)}</tbody>
      </table></div>
    </section>
  );
}

function TrialBody({ one }: { one: Case }): JSX.Element {
  const rest = one.agent ? one.calls.filter(call => call.role !== 'agent') : one.calls;
  // The act is what the test is about; where it was never reached, the last call says why.
  const act = rest.findLastIndex(call => call.role === 'act');
  const shown = act < 0 ? rest.length - 1 : act;
  return (
    <>
      {one.server && <div class="meta">server <span class="mono">{oneLine(one.server)}</span></div>}
      {one.sessions.map((s, index) => <div class="meta" key={index}>{oneLine(`${s.server_name} ${s.server_version} over ${s.transport}, protocol ${s.protocol}`)}</div>)}
      {one.reason && <div class="meta">skipped: {visible(one.reason)}</div>}
      {one.findings.length > 0 && <h3>Findings</h3>}
      {one.findings.map((each, index) => <FindingBox key={index} one={each} />)}
      {one.agent && <AgentPart agent={one.agent} calls={one.calls} frames={one.frames ?? []} />}
      {one.load_table && <Load load={one.load_table} />}
      {rest.length > 0 && <h3>Calls</h3>}
      {rest.map((call, index) => <CallRow key={index} call={call} open={index === shown} frames={one.frames ?? []} />)}
      {one.frames && one.frames.length > 0 && <h3>Frames ({one.frames.length})</h3>}
      {one.frames && one.frames.length > 0 && <Frames frames={one.frames} leftOut={one.frames_left_out ?? 0} />}
      {one.stderr.trim() && <Message label="server stderr" text={one.stderr.replace(/\r\n/g, '\n').trimEnd()} />}
      {one.process_end && <div class="meta">the server {endOf(one.process_end)}</div>}
      {one.timings && <Timings timings={one.timings} />}
    </>
  );
}

/** The place of a test: its file and line, or its server where no file holds it. */
const placeOf = (one: Case): string => (one.file ? `${one.file}:${one.line}` : one.server ?? '');

/** The command that runs this test alone. */
export function rerunOf(one: Case): string {
  // A name may read like an option or a pattern.
  const filter = /^[-/]/.test(one.name) ? `--filter=${shellQuote(exactly(one.name))}` : `--filter ${shellQuote(one.name)}`;
  return `mcprove run ${shellQuote(one.file)} ${filter}`;
}

/** A row with all trials of a test. */
export function CaseRow({ row, open, flaky, onToggle }: { row: Row; open: boolean; flaky: boolean; onToggle: () => void }): JSX.Element {
  const bad = Math.max(0, row.trials.findIndex(one => one.verdict === row.worst));
  const [tab, setTab] = useState(bad);
  const one = row.trials[Math.min(tab, row.trials.length - 1)]!;
  const [sign, tone] = SIGNS[row.worst];
  const time = row.trials.reduce((sum, each) => sum + each.duration_us, 0);
  const several = row.trials.length > 1;
  const { folder, rerun, accept, command } = useContext(ActionsContext);
  const again = one.file ? rerunOf(one) : command?.(one);
  const isSnapshot = one.findings.some(each => each.help?.includes('--update-snapshots'));
  return (
    <article class={'case ' + row.worst} id={row.id}>
      <button type="button" class="row" aria-expanded={open} onClick={onToggle}>
        <span class={'sign ' + tone} title={WORDS[row.worst]}>{sign}</span>
        <span class="name">
          {oneLine(one.name) || '(no name)'}
          {one.variant !== undefined && <span class="chip muted">{oneLine(one.variant)}</span>}
          {several && <span class="chip muted">{row.trials.filter(each => each.verdict === 'passed').length} of {row.trials.length} trials passed</span>}
          {flaky && <span class="chip warn">flaky</span>}
          {one.tags?.map(tag => <span class="chip muted" key={tag}>{oneLine(tag)}</span>)}
        </span>
        <span class="why">{oneLine(reasonOf(row.trials[bad]!))}</span>
        <span class="file mono">{oneLine(placeOf(one))}</span>
        <span class="time">{['skipped', 'unfinished'].includes(row.worst) ? '' : human(time)}</span>
      </button>
      {open && (
        <div class="body">
          <div class="meta actions">
            <span class="mono">{visible(placeOf(one))}</span>
            {again && <><code class="rerun">{visible(again)}</code><CopyButton text={again} label="copy rerun command" /></>}
            <CopyButton text={linkTo(row.id)} label="copy link" />
            {folder && one.file && <a class="link" href={editorUrl(folder, one.file, one.line)}>open in editor</a>}
            {rerun && <button type="button" class="link" onClick={() => rerun(one)}>run this test</button>}
            {accept && one.file && isSnapshot && <button type="button" class="link" onClick={() => accept(one)}>accept snapshot</button>}
          </div>
          {several && (
            <div class="tabs" role="tablist" aria-label="trials">
              {row.trials.map((each, index) => (
                <button key={index} type="button" role="tab" aria-selected={each === one} class={'dot ' + SIGNS[each.verdict][1]} title={`trial ${each.trial}: ${WORDS[each.verdict]}`} onClick={() => setTab(index)}>
                  {SIGNS[each.verdict][0]} {each.trial}
                </button>
              ))}
            </div>
          )}
          <TrialBody key={tab} one={one} />
        </div>
      )}
    </article>
  );
}
