'use strict';
(() => {
  const report = JSON.parse(document.getElementById('data').textContent);
  // Each text is stored once; frames name it by its position.
  for (const one of report.cases) for (const frame of one.frames || []) frame.text = report.texts[frame.text];
  const byId = id => document.getElementById(id);
  const PAGE = 200;
  const WORDS = { passed: 'passed', failed: 'failed', error: 'could not run', unfinished: 'did not end', skipped: 'skipped' };
  const SIGNS = { passed: ['✓', 'good'], failed: ['✗', 'bad'], error: ['!', 'bad'], unfinished: ['!', 'bad'], skipped: ['○', 'skip'] };
  const RANK = { failed: 0, error: 0, unfinished: 0, passed: 1, skipped: 2 };

  // Every text goes through a text node; nothing is ever parsed as markup.
  function el(tag, className, ...children) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    for (const child of children) if (child !== null && child !== undefined) node.append(child);
    return node;
  }
  function button(className, text, action) {
    const node = el('button', className, text);
    node.type = 'button';
    node.addEventListener('click', action);
    return node;
  }
  // Controls and marks that change how neighbours are shown become visible.
  function visible(text) {
    return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, c => {
      const code = c.charCodeAt(0);
      return code === 13 ? '\\r' : code < 256 ? '\\x' + code.toString(16).padStart(2, '0') : '\\u{' + code.toString(16) + '}';
    });
  }
  const oneLine = text => visible(text.replace(/\s+/g, ' '));
  function human(us) {
    const ms = Math.floor(us / 1000);
    if (ms < 1) return us + 'µs';
    if (ms < 10) return (Math.floor(us / 100) / 10).toFixed(1) + 'ms';
    if (ms < 1000) return ms + 'ms';
    if (ms < 60000) return (Math.floor(ms / 100) / 10).toFixed(1) + 's';
    return Math.floor(ms / 60000) + 'm ' + String(Math.floor(ms / 1000) % 60).padStart(2, '0') + 's';
  }
  // Indents JSON without parsing it, so that numbers, duplicate keys and broken ends stay as they were sent.
  function pretty(text) {
    if (!/^\s*[[{]/.test(text)) return text;
    let out = '', depth = 0, quoted = false;
    const line = () => { out += '\n' + '  '.repeat(Math.min(depth, 200)); };
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      if (quoted) {
        out += c;
        if (c === '\\') out += text[++i] ?? '';
        else if (c === '"') quoted = false;
      } else if (c === '"') { quoted = true; out += c; }
      else if (c === '{' || c === '[') {
        const close = /\S/.exec(text.slice(i + 1, i + 40));
        if (close && (close[0] === '}' || close[0] === ']')) { out += c + close[0]; i += 1 + close.index; }
        else { depth++; out += c; line(); }
      } else if (c === '}' || c === ']') { depth = Math.max(0, depth - 1); line(); out += c; }
      else if (c === ',') { out += c; line(); }
      else if (c === ':') out += ': ';
      else if (!/\s/.test(c)) out += c;
    }
    return out;
  }
  // A message with its label and a switch between pretty and raw.
  function message(label, text) {
    const box = el('div');
    const pre = el('pre', '', visible(pretty(text)));
    const head = el('div', 'label', el('span', '', label));
    if (pretty(text) !== text) {
      let raw = false;
      const toggle = button('link', 'raw', () => {
        raw = !raw;
        pre.textContent = visible(raw ? text : pretty(text));
        toggle.textContent = raw ? 'pretty' : 'raw';
      });
      head.append(toggle);
    }
    box.append(head, pre);
    return box;
  }

  // What stands between backticks is code.
  function prose(node, text) {
    visible(text).split(/`([^`\n]+)`/).forEach((part, index) => { if (part) node.append(index % 2 ? el('code', 'prose', part) : part); });
    return node;
  }

  function finding(one) {
    const box = el('div', 'finding ' + one.severity);
    const say = prose(el('div', 'say'), one.message);
    say.append(el('code', 'rule', one.severity + ' · ' + oneLine(one.rule)));
    box.append(say);
    const place = one.place && (one.place.text || one.place.wire);
    if (one.place && one.place.text) {
      box.append(el('div', 'at mono', visible(place.file) + ':' + place.line + ':' + place.column));
      const chars = Array.from(place.excerpt);
      const from = Math.min(place.column - 1, chars.length);
      const to = place.end_line > place.line ? chars.length : Math.max(from, Math.min(place.end_column - 1, chars.length));
      const part = (a, b) => visible(chars.slice(a, b).join('')).replace(/\t/g, '    ');
      const code = el('span', '', part(0, from), el('mark', '', part(from, to) || ' '), part(to, chars.length));
      box.append(el('pre', 'source', el('span', 'number', String(place.line)), code));
    } else if (place) {
      box.append(el('div', 'at mono', visible(place.server) + ' at ' + visible(place.pointer)));
    }
    if (one.expected !== undefined || one.actual !== undefined) {
      const grid = el('div', 'compare');
      for (const label of ['expected', 'actual']) {
        if (one[label] === undefined) continue;
        grid.append(el('div', '', el('div', 'label', label), el('pre', '', visible(one[label]) || '(empty)')));
      }
      box.append(grid);
    }
    if (one.diff !== undefined) {
      const pre = el('pre', 'diff');
      for (const line of one.diff.replace(/\n$/, '').split('\n')) {
        const kind = { '+': 'plus', '-': 'minus', '@': 'hunk' }[line[0]] || '';
        pre.append(el('span', kind, visible(line)));
      }
      box.append(el('div', 'label', 'diff (- expected, + actual)'), pre);
    }
    if (one.help !== undefined) box.append(prose(el('div', 'help', el('b', '', 'help ')), one.help));
    return box;
  }

  function summaryOf(frame) {
    if (frame.part) {
      const head = frame.part.http_request || frame.part.http_response || frame.part.stream_event;
      if (frame.part.http_request) return ['head', head.method + ' ' + head.url];
      if (frame.part.http_response) return ['head', 'status ' + head.status];
      return ['stream event', head.event];
    }
    let parsed = null;
    try { parsed = JSON.parse(frame.text); } catch { /* what is not JSON is shown as it is */ }
    if (parsed === null || typeof parsed !== 'object') return [frame.kind, frame.text.slice(0, 200)];
    const id = parsed.id === undefined ? '' : ' #' + JSON.stringify(parsed.id);
    const subject = parsed.params && (parsed.params.name ?? parsed.params.uri);
    if (typeof parsed.method === 'string') return [frame.kind + id, parsed.method + (typeof subject === 'string' ? ' ' + subject : '')];
    if (parsed.error) return [frame.kind + id, 'error ' + JSON.stringify(parsed.error).slice(0, 200)];
    return [frame.kind + id, JSON.stringify(parsed.result ?? parsed).slice(0, 200)];
  }
  function frameRow(frame, several) {
    const [what, hint] = summaryOf(frame);
    const sent = frame.direction === 'sent';
    const way = el('span', 'way ' + frame.direction, sent ? '→' : '←');
    way.title = sent ? 'sent by mcprove' : 'received from the server';
    const size = el('span', 'muted', frame.text.length + (frame.cut || 0) + ' B');
    const head = el('summary', '', several ? el('span', 'muted', 'session ' + frame.session) : null, el('span', 'when', '+' + human(frame.at_us)), way,
      el('span', 'what mono' + (frame.kind === 'stray' ? ' warn' : ''), what + (frame.binary ? ' (not UTF-8)' : '')), el('span', 'hint mono', oneLine(hint)), size);
    const row = el('details', 'frame', head);
    row.addEventListener('toggle', () => {
      if (!row.open || row.childElementCount > 1) return;
      const inner = el('div', 'inner');
      const part = frame.part && (frame.part.http_request || frame.part.http_response);
      if (part) inner.append(el('div', 'label', 'header fields'), el('pre', '', visible(part.headers.map(([k, v]) => k + ': ' + v).join('\n'))));
      if (frame.text || !part) inner.append(message(frame.binary ? 'bytes, those that are not UTF-8 escaped' : 'frame', frame.text));
      if (frame.cut) inner.append(el('p', 'muted', 'and ' + frame.cut + ' more bytes, which the event log has'));
      row.append(inner);
    });
    return row;
  }

  function times({ servers_started: started, ...timings }) {
    const parts = Object.entries(timings).map(([name, us], index) => ({ name, us, index })).filter(part => part.us > 0);
    if (!parts.length) return null;
    const bar = el('div', 'times'), legend = el('div', 'legend');
    for (const part of parts) {
      const piece = el('span', 'c' + part.index);
      piece.style.flex = part.us + ' 1 0';
      piece.title = part.name + ' ' + human(part.us);
      bar.append(piece);
      legend.append(el('span', '', el('i', 'c' + part.index), part.name + ' ' + human(part.us)));
    }
    if (started) legend.append(el('span', '', started + (started === 1 ? ' server was' : ' servers were') + ' started'));
    return el('div', '', el('h3', '', 'Where the time went'), bar, legend);
  }

  function callRow(call, shown) {
    const role = call.role === 'act' ? '' : call.role + ': ';
    const title = el('b', '', role + oneLine(call.method) + (call.subject ? ' ' + oneLine(call.subject) : ''));
    const row = el('details', 'call', el('summary', '', title, el('span', 'muted', ' ' + human(call.elapsed_us))));
    const reply = call.reply === undefined ? el('div', 'label', 'no reply came') : message('reply', call.reply);
    row.append(el('div', 'compare', message('request', call.request), reply));
    row.open = shown;
    return row;
  }

  const SIGNALS = { 1: 'SIGHUP', 2: 'SIGINT', 4: 'SIGILL', 6: 'SIGABRT', 8: 'SIGFPE', 9: 'SIGKILL', 11: 'SIGSEGV', 13: 'SIGPIPE', 15: 'SIGTERM' };
  function endOf({ code, signal }) {
    if (code !== null) return 'exited with code ' + code;
    if (signal === null) return 'ended';
    return 'was ended by signal ' + signal + (SIGNALS[signal] ? ' (' + SIGNALS[signal] + ')' : '');
  }

  function body(one) {
    const box = el('div', 'body');
    const meta = el('div', 'meta', el('span', 'mono', visible(placeOf(one))));
    if (one.server) meta.append(' · server ', el('span', 'mono', oneLine(one.server)));
    box.append(meta);
    for (const s of one.sessions) {
      box.append(el('div', 'meta', oneLine(s.server_name) + ' ' + oneLine(s.server_version) + ' over ' + oneLine(s.transport) + ', protocol ' + oneLine(s.protocol)));
    }
    if (one.reason) box.append(el('div', 'meta', 'skipped: ' + visible(one.reason)));
    if (one.findings.length) box.append(el('h3', '', 'Findings'));
    for (const each of one.findings) box.append(finding(each));
    if (one.calls.length) box.append(el('h3', '', 'Calls'));
    // The act is what the case is about; where it was never reached, the last call says why.
    const told = one.calls.findLastIndex(call => call.role === 'act');
    one.calls.forEach((call, index) => box.append(callRow(call, index === (told < 0 ? one.calls.length - 1 : told))));
    if (one.frames && one.frames.length) {
      const list = el('div');
      const several = one.frames.some(frame => frame.session > 0);
      for (const frame of one.frames) list.append(frameRow(frame, several));
      box.append(el('h3', '', 'Frames (' + one.frames.length + ')'), list);
      if (one.frames_left_out) box.append(el('p', 'muted', one.frames_left_out + ' more frames are in the event log'));
    }
    if (one.stderr.trim()) box.append(el('h3', '', 'Server stderr'), el('pre', '', visible(one.stderr.replace(/\r\n/g, '\n').trimEnd())));
    if (one.process_end) box.append(el('div', 'meta', 'the server ' + endOf(one.process_end)));
    const spent = one.timings && times(one.timings);
    if (spent) box.append(spent);
    return box;
  }

  const placeOf = one => one.file ? one.file + ':' + one.line : (one.server || '');
  const keyOf = one => one.file + '\u0000' + one.name + '\u0000' + (one.variant ?? '');
  const flaky = new Set((report.reliability ? report.reliability.cases : []).filter(row => row.flaky).map(keyOf));
  const cases = report.cases.map((one, position) => ({ one, position, hay: null, node: null }));
  const warned = entry => entry.one.findings.some(f => f.severity === 'warning');
  // Failed findings first, so that the reason beside a name is the one that counts.
  const SEVERITY = ['note', 'warning', 'error', 'high', 'critical'];
  function reason(one) {
    if (one.reason) return one.reason;
    if (one.verdict === 'unfinished') return 'the run was stopped before it ended, or its log breaks off';
    const sorted = [...one.findings].sort((a, b) => SEVERITY.indexOf(b.severity) - SEVERITY.indexOf(a.severity));
    return sorted.length ? sorted[0].message : '';
  }
  function hay(entry) {
    if (entry.hay === null) {
      const one = entry.one;
      const parts = [one.name, one.variant || '', one.file, one.server || '', one.reason || '', one.stderr];
      for (const f of one.findings) parts.push(f.rule, f.message, f.expected || '', f.actual || '', f.help || '');
      for (const c of one.calls) parts.push(c.method, c.subject || '', c.request, c.reply || '');
      entry.hay = parts.join('\n').toLowerCase();
    }
    return entry.hay;
  }

  function open(entry, wanted) {
    const [row, inner] = [entry.node.firstChild, entry.node.lastChild];
    const show = wanted ?? row.getAttribute('aria-expanded') !== 'true';
    row.setAttribute('aria-expanded', String(show));
    if (show && row === inner) entry.node.append(body(entry.one));
    else if (row !== inner) inner.hidden = !show;
    try { history.replaceState(null, '', show ? '#case-' + entry.position : '#'); } catch { /* a viewer may forbid it */ }
  }
  function nodeOf(entry) {
    if (entry.node) return entry.node;
    const one = entry.one, [sign, tone] = SIGNS[one.verdict];
    const name = el('span', 'name', oneLine(one.name) || '(no name)');
    if (one.variant !== undefined) name.append(el('span', 'chip muted', oneLine(one.variant)));
    if (one.trial > 1 || report.reliability) name.append(el('span', 'chip muted', 'trial ' + one.trial));
    if (flaky.has(keyOf(one))) name.append(el('span', 'chip warn', 'flaky'));
    const mark = el('span', 'sign ' + tone, sign);
    mark.title = WORDS[one.verdict];
    const row = button('row', '', () => open(entry));
    row.append(mark, name, el('span', 'why', oneLine(reason(one))), el('span', 'file mono', oneLine(placeOf(one))), el('span', 'time', ['skipped', 'unfinished'].includes(one.verdict) ? '' : human(one.duration_us)));
    row.setAttribute('aria-expanded', 'false');
    entry.node = el('article', 'case ' + one.verdict, row);
    entry.node.id = 'case-' + entry.position;
    return entry.node;
  }

  const state = { filter: 'all', order: 'worst', text: '', limit: PAGE };
  const TESTS = {
    all: () => true, passed: e => e.one.verdict === 'passed', failed: e => e.one.verdict === 'failed', error: e => e.one.verdict === 'error',
    unfinished: e => e.one.verdict === 'unfinished', skipped: e => e.one.verdict === 'skipped', flaky: e => flaky.has(keyOf(e.one)), warned,
  };
  const ORDERS = {
    plan: (a, b) => a.position - b.position,
    worst: (a, b) => RANK[a.one.verdict] - RANK[b.one.verdict] || a.position - b.position,
    slow: (a, b) => b.one.duration_us - a.one.duration_us || a.position - b.position,
  };
  function selected() {
    const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    const test = TESTS[state.filter];
    return cases.filter(e => test(e) && words.every(word => hay(e).includes(word))).sort(ORDERS[state.order]);
  }
  function draw() {
    const found = selected();
    const shown = found.slice(0, state.limit);
    byId('cases').replaceChildren(...shown.map(nodeOf));
    byId('more').hidden = found.length <= shown.length;
    byId('more').textContent = 'show ' + Math.min(PAGE, found.length - shown.length) + ' more';
    const all = cases.length;
    byId('shown').textContent = found.length === all ? (all === 1 ? '1 case' : all + ' cases') : found.length + ' of ' + all + ' cases';
    for (const each of byId('filters').children) each.setAttribute('aria-pressed', String(each.dataset.filter === state.filter));
  }
  function goTo(position) {
    const entry = cases[position];
    if (!entry) return;
    Object.assign(state, { filter: 'all', text: '' });
    byId('search').value = '';
    state.limit = Math.max(state.limit, selected().indexOf(entry) + 1);
    draw();
    open(entry, true);
    entry.node.scrollIntoView({ block: 'start' });
  }

  function head() {
    const s = report.summary;
    const bad = s.failed + s.errors + s.unfinished;
    const counts = { passed: s.passed, failed: s.failed, error: s.errors, unfinished: s.unfinished, skipped: s.skipped };
    const said = Object.entries(counts).filter(([key, n]) => n > 0 || key === 'passed').map(([key, n]) => n + ' ' + WORDS[key]).join(', ');
    for (const [key, n] of Object.entries(counts)) {
      if (n > 0 || (key === 'passed' && !bad)) byId('verdict').append(el('span', 'part ' + SIGNS[key][1], n + ' ' + WORDS[key]));
    }
    document.title = 'mcprove: ' + said;
    const facts = [report.program, report.started && new Date(report.started).toLocaleString(), report.duration_us !== undefined && 'took ' + human(report.duration_us),
      report.jobs > 1 && report.jobs + ' jobs', report.strict && 'strict', report.interrupted && 'interrupted'];
    byId('facts').textContent = facts.filter(Boolean).join(' · ');
    for (const [key, n] of Object.entries(counts)) {
      if (!n) continue;
      const piece = el('span', key);
      piece.style.flex = n + ' 1 0';
      byId('share').append(piece);
    }
    byId('share').setAttribute('aria-label', said);
    const labels = [['all', 'all'], ['failed', 'failed'], ['error', 'could not run'], ['unfinished', 'did not end'], ['flaky', 'flaky'], ['warned', 'with warnings'], ['passed', 'passed'], ['skipped', 'skipped']];
    for (const [key, label] of labels) {
      const n = cases.filter(TESTS[key]).length;
      if (!n && key !== 'all') continue;
      const chip = button('', label, () => { Object.assign(state, { filter: key, limit: PAGE }); draw(); });
      chip.append(el('b', '', String(n)));
      chip.dataset.filter = key;
      byId('filters').append(chip);
    }
    byId('foot').textContent = 'Everything here is in this file; nothing is loaded from elsewhere.';
  }

  function table(heads, rows) {
    const line = el('tr');
    for (const [text, className] of heads) line.append(el('th', className, text));
    return el('div', 'card scroll', el('table', '', el('thead', '', line), el('tbody', '', ...rows)));
  }
  function reliability() {
    const part = report.reliability;
    if (!part) return;
    const trials = new Map();
    for (const entry of cases) {
      const key = keyOf(entry.one);
      if (!trials.has(key)) trials.set(key, []);
      trials.get(key).push(entry);
    }
    const mark = (row, yes) => el('td', row.run ? (yes ? 'good' : 'bad') : 'muted', row.run ? (yes ? 'yes' : 'no') : '–');
    const rows = part.cases.slice(0, 2000).map(row => {
      const dots = el('td');
      for (const entry of trials.get(keyOf(row)) || []) {
        const [sign, tone] = SIGNS[entry.one.verdict];
        const dot = button('dot ' + tone, sign, () => goTo(entry.position));
        dot.title = 'trial ' + entry.one.trial + ': ' + WORDS[entry.one.verdict];
        dots.append(dot);
      }
      const name = el('td', '', oneLine(row.name));
      if (row.variant !== undefined) name.append(el('span', 'chip muted', oneLine(row.variant)));
      if (row.flaky) name.append(el('span', 'chip warn', 'flaky'));
      if (row.message && row.flaky) name.append(el('div', 'muted', 'trial ' + row.failing_trial + ': ' + oneLine(row.message)));
      return el('tr', '', name, dots, el('td', 'num', row.passed + ' / ' + row.run), mark(row, row.pass_at_k), mark(row, row.pass_up_k));
    });
    byId('reliability').append(el('p', 'muted', 'pass@k: ' + part.capable + '/' + part.judged + ' passed at least once, pass^k: ' + part.reliable + '/' + part.judged + ' passed every time'),
      table([['case', ''], ['trials', ''], ['passed', 'num'], ['pass@k', ''], ['pass^k', '']], rows));
    byId('reliability').hidden = false;
  }

  // The same cases on several servers or revisions: every result can be opened.
  function matrix() {
    const columns = [...new Set(cases.filter(e => e.one.variant !== undefined).map(e => e.one.variant))];
    if (!columns.length) return;
    const rows = new Map();
    for (const entry of cases) {
      const key = entry.one.file + '\u0000' + entry.one.name;
      if (!rows.has(key)) rows.set(key, { name: entry.one.name, cells: new Map(columns.map(column => [column, []])) });
      if (entry.one.variant !== undefined) rows.get(key).cells.get(entry.one.variant).push(entry);
    }
    const lines = [...rows.values()].slice(0, 2000).map(row => el('tr', '', el('td', '', oneLine(row.name)), ...columns.map(column => {
      const cell = el('td');
      for (const entry of row.cells.get(column)) {
        const [sign, tone] = SIGNS[entry.one.verdict];
        const dot = button('dot ' + tone, sign, () => goTo(entry.position));
        dot.title = oneLine(column) + ': ' + WORDS[entry.one.verdict];
        cell.append(dot);
      }
      return cell;
    })));
    byId('matrix').append(table([['case', ''], ...columns.map(column => [oneLine(column), ''])], lines));
    byId('matrix').hidden = false;
  }

  // Bars over powers of two, the same scale for every tool, so that shapes can be compared.
  function histogram(values, low, high) {
    const NS = 'http://www.w3.org/2000/svg';
    const make = (tag, attributes) => {
      const node = document.createElementNS(NS, tag);
      for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
      return node;
    };
    const bins = new Array(high - low + 1).fill(0);
    for (const us of values) bins[Math.floor(Math.log2(Math.max(us, 1))) - low]++;
    const width = Math.min(28, Math.floor(300 / bins.length)), height = 34, most = Math.max(...bins);
    const svg = make('svg', { width: Math.max(bins.length * width, 64), height: height + 14, role: 'img' });
    svg.append(make('line', { x1: 0, x2: bins.length * width, y1: height + .5, y2: height + .5 }));
    bins.forEach((count, index) => {
      if (!count) return;
      const tall = Math.max(2, Math.round(count / most * (height - 2)));
      const bar = make('rect', { x: index * width + 1, y: height - tall, width: width - 2, height: tall, rx: 1 });
      const title = document.createElementNS(NS, 'title');
      title.textContent = human(2 ** (low + index)) + ' to ' + human(2 ** (low + index + 1)) + ': ' + count + (count === 1 ? ' call' : ' calls');
      bar.append(title);
      svg.append(bar);
    });
    const label = (x, anchor, text) => { const node = make('text', { x, y: height + 12, 'text-anchor': anchor }); node.textContent = text; svg.append(node); };
    label(0, 'start', human(2 ** low));
    if (bins.length * width > 90) label(bins.length * width, 'end', human(2 ** (high + 1)));
    return svg;
  }
  // What servers list beside what was called: a tool without a call is one that nothing tests.
  function tools() {
    const tools = new Map(), listed = new Set();
    for (const { one } of cases) for (const frame of one.frames || []) {
      if (frame.kind !== 'reply' || !frame.text.includes('"tools"')) continue;
      let reply = null;
      try { reply = JSON.parse(frame.text); } catch { continue; }
      const list = reply && reply.result && reply.result.tools;
      if (Array.isArray(list)) for (const tool of list) if (tool && typeof tool.name === 'string') listed.add(tool.name);
    }
    for (const { one } of cases) for (const call of one.calls) {
      if (call.reply === undefined) continue;
      const key = call.subject || call.method;
      if (!tools.has(key)) tools.set(key, []);
      tools.get(key).push(call.elapsed_us);
    }
    const untested = [...listed].filter(tool => !tools.has(tool)).sort();
    if (!tools.size && !untested.length) return;
    const log = us => Math.floor(Math.log2(Math.max(us, 1)));
    let low = Infinity, high = 0;
    for (const values of tools.values()) {
      values.sort((a, b) => a - b);
      low = Math.min(low, log(values[0]));
      high = Math.max(high, log(values[values.length - 1]));
    }
    const at = (values, share) => human(values[Math.min(values.length - 1, Math.ceil(values.length * share) - 1)]);
    const rows = [...tools].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1)).slice(0, 500).map(([tool, values]) =>
      el('tr', '', el('td', 'mono', oneLine(tool)), el('td', 'num', String(values.length)), el('td', 'num', at(values, .5)), el('td', 'num', at(values, .95)), el('td', 'num', at(values, 1)), el('td', '', histogram(values, low, high))));
    for (const tool of untested.slice(0, 500)) {
      rows.push(el('tr', '', el('td', 'mono', oneLine(tool)), el('td', 'num warn', '0'), el('td', 'num', '–'), el('td', 'num', '–'), el('td', 'num', '–'), el('td', 'warn', 'never called')));
    }
    if (listed.size) byId('tools').append(el('p', 'muted', (listed.size - untested.length) + ' of ' + listed.size + ' listed tools were called'));
    byId('tools').append(table([['tool', ''], ['calls', 'num'], ['median', 'num'], ['95 %', 'num'], ['slowest', 'num'], ['latency', '']], rows));
    byId('tools').hidden = false;
  }

  function theme() {
    const modes = ['system', 'light', 'dark'];
    let mode = 'system';
    const apply = () => {
      if (mode === 'system') delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = mode;
      byId('theme').textContent = 'theme: ' + mode;
    };
    try { mode = modes.includes(localStorage.getItem('mcprove-theme')) ? localStorage.getItem('mcprove-theme') : mode; } catch { /* no storage, no memory */ }
    byId('theme').addEventListener('click', () => {
      mode = modes[(modes.indexOf(mode) + 1) % modes.length];
      try { localStorage.setItem('mcprove-theme', mode); } catch { /* as above */ }
      apply();
    });
    apply();
  }

  theme();
  head();
  if (report.findings.length) {
    for (const each of report.findings) byId('run-findings').append(finding(each));
    byId('run-findings').hidden = false;
  }
  let waiting = 0;
  byId('search').addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { Object.assign(state, { text: byId('search').value, limit: PAGE }); draw(); }, 80);
  });
  byId('order').addEventListener('change', () => { state.order = byId('order').value; draw(); });
  byId('more').addEventListener('click', () => { state.limit += PAGE; draw(); });
  document.addEventListener('keydown', event => {
    if (event.key === '/' && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); byId('search').focus(); }
  });
  const spent = report.timings && times(report.timings);
  if (spent) {
    if (report.hint) spent.append(el('p', 'muted', 'hint: ' + oneLine(report.hint)));
    byId('times').append(spent);
    byId('times').hidden = false;
  }
  draw();
  matrix();
  reliability();
  tools();
  const linked = /^#case-(\d+)$/.exec(location.hash);
  if (linked) goTo(Number(linked[1]));
})();
