// The phases of a test or a run; every phase has its colour.
import { type JSX } from 'preact';
import { human } from '../text';

const PHASES = ['fixture', 'start', 'handshake', 'waiting', 'setup', 'call', 'fuzz', 'checks', 'teardown'];

export function Timings({ timings, hint, ofRun = false }: { timings: Record<string, number>; hint?: string | undefined; ofRun?: boolean }): JSX.Element | null {
  const { servers_started: started, ...phases } = timings;
  const parts = Object.entries(phases).filter(([, us]) => us > 0);
  if (!parts.length) return null;
  // A phase that this page does not know yet still has a colour of its own.
  const tone = (name: string) => 'c' + (PHASES.includes(name) ? PHASES.indexOf(name) : PHASES.length);
  return (
    <div>
      {ofRun ? <h2>Where the time went</h2> : <h3>Where the time went</h3>}
      <div class="times">{parts.map(([name, us]) => <span key={name} class={tone(name)} style={{ flex: `${us} 1 0` }} title={name + ' ' + human(us)} />)}</div>
      <div class="legend">
        {parts.map(([name, us]) => <span key={name}><i class={tone(name)} />{name} {human(us)}</span>)}
        {started ? <span>{started === 1 ? '1 server was started' : started + ' servers were started'}</span> : null}
      </div>
      {hint && <p class="muted">hint: {hint}</p>}
    </div>
  );
}
