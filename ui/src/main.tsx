// One page, two data sources: a report that is embedded in the page, or a server that `mcprove ui` runs.
import { render } from 'preact';
import { App } from './explore/app';
import { ReportPage } from './report/page';
import { prepare, type ReportData } from './report/data';

const root = document.getElementById('page');
const embedded = document.getElementById('data')?.textContent ?? '';
if (root) {
  if (embedded.trim()) render(<ReportPage report={prepare(JSON.parse(embedded) as ReportData)} />, root);
  else render(<App />, root);
}
