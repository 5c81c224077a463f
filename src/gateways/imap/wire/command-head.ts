// Parses the beginning of a command: its tag and its name (RFC 9051 §9, `command`).
import { ATOM, endOfRun, TAG } from './character-classes.js';

export interface CommandHead {
  readonly tag: string;
  /** The name in upper case, without UID before it. */
  readonly name: string;
  readonly isUid: boolean;
  /** Where the arguments begin, after the space. */
  readonly from: number;
}

/** The reason why the line begins no command; `tag` is `*` when the line has none. */
export interface HeadFault {
  readonly tag: string;
  readonly problem: string;
}

const SPACE = 32;

export function commandHead(line: string): CommandHead | HeadFault {
  const endOfTag = endOfRun(line, 0, TAG);
  const isTag = endOfTag > 0 && (endOfTag === line.length || line.charCodeAt(endOfTag) === SPACE);
  if (!isTag) return { tag: '*', problem: 'A command begins with a tag' };
  const tag = line.slice(0, endOfTag);
  const first = nameAt(line, endOfTag + 1);
  if (first === undefined) return { tag, problem: 'Expected the name of a command after the tag' };
  if (first.name !== 'UID') return { tag, isUid: false, ...first };
  const second = nameAt(line, first.from);
  if (second === undefined) return { tag, problem: 'Expected the name of a command after UID' };
  return { tag, isUid: true, ...second };
}

function nameAt(line: string, from: number): { name: string; from: number } | undefined {
  const end = endOfRun(line, from, ATOM);
  const isName = end > from && (end === line.length || line.charCodeAt(end) === SPACE);
  if (!isName) return undefined;
  return { name: line.slice(from, end).toUpperCase(), from: Math.min(end + 1, line.length) };
}
