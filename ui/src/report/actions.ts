// What a page that runs tests can do with them; a report that is a file can do none of it.
import { createContext } from 'preact';
import { type Case } from './data';

export interface Actions {
  /** The folder that paths of tests are relative to. */
  folder?: string;
  /** Runs one test again. */
  rerun?: (one: Case) => void;
  /** Stores the snapshots of one test anew. */
  accept?: (one: Case) => void;
  /** The command that runs one test that no file holds. */
  command?: (one: Case) => string;
  /** The page about a rule. */
  explain?: (rule: string) => Promise<string>;
}

/** A filter that fits this name alone. */
export const exactly = (name: string): string => '/^' + name.replace(/[\\^$.*+?()[\]{}|#&~-]/g, '\\$&') + '$/';

export const ActionsContext = createContext<Actions>({});

/** Editors with a URL for a place in a file. */
export const EDITORS: Record<string, (path: string, line: number, column: number) => string> = {
  'VS Code': (path, line, column) => `vscode://file${path}:${line}:${column}`,
  VSCodium: (path, line, column) => `vscodium://file${path}:${line}:${column}`,
  Cursor: (path, line, column) => `cursor://file${path}:${line}:${column}`,
  Zed: (path, line, column) => `zed://file${path}:${line}:${column}`,
  JetBrains: (path, line) => `idea://open?file=${encodeURIComponent(path)}&line=${line}`,
};

const STORED = 'mcprove-editor';

export function editorName(): string {
  try {
    const stored = localStorage.getItem(STORED) ?? '';
    return stored in EDITORS ? stored : 'VS Code';
  } catch {
    return 'VS Code';
  }
}

export function setEditor(name: string): void {
  try {
    localStorage.setItem(STORED, name);
  } catch { /* no storage, no memory */ }
}

/** The URL that opens a place in the editor. */
export function editorUrl(folder: string, file: string, line: number, column = 1): string {
  const joined = /^(\/|[A-Za-z]:[\\/])/.test(file) ? file : folder + '/' + file;
  const path = joined.replaceAll('\\', '/').replace(/^(?!\/)/, '/').split('/').map(encodeURIComponent).join('/');
  return EDITORS[editorName()]!(path, line, column);
}
