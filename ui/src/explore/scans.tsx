// Scan: commands that make their own tests, and the lint of schemas.
import { type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { hashParams, setHash } from '../location';
import { Diff, Fold } from '../parts';
import { type Severity } from '../report/data';
import { oneLine, visible } from '../text';
import { type Api, type State } from './api';
import { RunView, startRun } from './run-view';
import { type Connected } from './state';

const SCANS: [string, string][] = [['audit', 'call every tool once'], ['negative', 'send what must be rejected'], ['conformance', 'check the protocol'], ['fuzz', 'send what breaks programs'], ['bench', 'measure it under load']];

interface LintFinding { rule: string; name: string; severity: Severity; message: string; tool: string | null; pointer: string | null; help: string; why: string; fixable: boolean }
interface Linted { count: number; findings: LintFinding[]; fixes: { tool: string; before: unknown; after: unknown }[] }

function LintView({ linted }: { linted: Linted }): JSX.Element {
  const byRule = new Map<string, LintFinding[]>();
  for (const finding of linted.findings) byRule.set(finding.rule, [...(byRule.get(finding.rule) ?? []), finding]);
  return (
    <section id="lint" aria-label="schema lint">
      <h2>Schemas <span class="muted">{linted.count === 1 ? '1 finding' : linted.count + ' findings'}</span></h2>
      {[...byRule].map(([rule, findings]) => (
        <div class={'finding ' + findings[0]!.severity} key={rule}>
          <div class="say">{oneLine(findings[0]!.name)} <code class="rule">{findings[0]!.severity} · {rule} · {findings.length}</code></div>
          <p class="muted">{visible(findings[0]!.why)}</p>
          <Fold head={findings.length === 1 ? 'where' : `where (${findings.length})`} open={findings.length === 1}>{() => <ul>{findings.slice(0, 200).map((each, index) => <li key={index}><code>{oneLine(each.tool ?? '')}{each.pointer ? ' ' + oneLine(each.pointer) : ''}</code> {visible(each.message)}</li>)}</ul>}</Fold>
          <div class="help"><b>help </b>{visible(findings[0]!.help)}</div>
        </div>
      ))}
      {linted.fixes.length > 0 && <h3>Fixes</h3>}
      {linted.fixes.slice(0, 200).map((fix, index) => (
        <Fold key={index} head={<code>{oneLine(String(fix.tool))}</code>} open={index === 0}>{() => <Diff left={JSON.stringify(fix.before)} right={JSON.stringify(fix.after)} title="fix (- now, + fixed)" />}</Fold>
      ))}
    </section>
  );
}

export function Scans({ api, state, connections, current }: { api: Api; state: State; connections: Connected[]; current: number | null }): JSX.Element {
  const [connection, setConnection] = useState<number | null>(current);
  const [command, setCommand] = useState(state.servers[0]?.name ?? '');
  const [run, setRun] = useState<number | null>(() => Number(hashParams().get('run')) || null);
  const [linted, setLinted] = useState<Linted | null>(null);
  const [problem, setProblem] = useState('');
  const subject = connection !== null ? [] : /^https?:\/\//.test(command) ? ['--url', command] : ['--server', command];
  const show = (next: number | null) => {
    setHash({ run: next === null ? null : String(next) });
    setRun(next);
  };
  const start = async (words: string[]) => {
    setProblem('');
    setLinted(null);
    try {
      show(await startRun(api, { words, ...(connection === null ? {} : { connection }) }));
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const lint = async () => {
    setProblem('');
    show(null);
    try {
      setLinted(await api.call<Linted>('GET', `connections/${connection}/lint`));
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const ready = connection !== null || command.trim() !== '';
  const actions = { folder: state.folder, explain: async (rule: string) => (await api.call<{ text: string }>('GET', 'explain/' + rule)).text };
  return (
    <section aria-label="scans">
      <div class="card">
        <div class="row-fields">
          {connections.length > 0 && <select id="scan-connection" aria-label="connection to scan" value={String(connection)} onChange={event => setConnection(event.currentTarget.value === 'null' ? null : Number(event.currentTarget.value))}>
            {connections.map(each => <option key={each.about.connection} value={String(each.about.connection)}>{oneLine(each.about.server_name || each.about.name)}</option>)}<option value="null">another server</option></select>}
          {connection === null && <><label for="scan-server">server</label> <input id="scan-server" value={command} placeholder="npx -y my-server, or a URL" autocomplete="off" spellcheck={false} onInput={event => setCommand(event.currentTarget.value)} /></>}
        </div>
        <p class="muted">A scan calls tools, and tools may do what they say. Tools that say that they write are left out. Each scan starts a server of its own.</p>
        <div class="buttons">{SCANS.filter(([name]) => state.commands.includes(name)).map(([name, about]) => <button key={name} type="button" class="quiet" id={'scan-' + name} title={about} disabled={!ready} onClick={() => start([name, ...subject])}>{name}: {about}</button>)}
          <button type="button" class="quiet" id="scan-lint" disabled={connection === null} title={connection === null ? 'connect to the server first' : 'what is wrong with its schemas'} onClick={lint}>schema-lint: read the schemas</button></div>
      </div>
      {problem && <p class="bad" role="alert">{visible(problem)}</p>}
      {linted && <LintView linted={linted} />}
      {run !== null && <RunView key={run} api={api} run={run} actions={actions} onAgain={words => void start(words)} />}
    </section>
  );
}
