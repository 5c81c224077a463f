// What a check of `mansio doctor` finds: one line with its status, and the one command or record that mends it.
import { Fault } from '../../concurrency/fault.js';

export type FindingStatus = 'ok' | 'warn' | 'fail';

/** A finding without the name of its check. */
export interface CheckResult {
  /** What it is about: a domain, a listener, a server. */
  readonly subject: string;
  readonly status: FindingStatus;
  /** What was found. */
  readonly detail: string;
  /** The one command, setting or record that mends it; null where nothing is to be mended. */
  readonly fix: string | null;
}

export interface Finding extends CheckResult {
  readonly check: string;
}

/** The most characters of a text from elsewhere. */
const MOST_SHOWN = 160;

export function ok(subject: string, detail: string): CheckResult {
  return { subject, status: 'ok', detail, fix: null };
}

export function warn(subject: string, detail: string, fix: string | null): CheckResult {
  return { subject, status: 'warn', detail, fix };
}

export function fail(subject: string, detail: string, fix: string): CheckResult {
  return { subject, status: 'fail', detail, fix };
}

/** DNS and servers are text of others: the text is cut, and has no control characters. */
export function shown(text: string): string {
  const inert = text.replace(/\p{Cc}/gu, '\u{fffd}');
  return inert.length <= MOST_SHOWN ? inert : `${inert.slice(0, MOST_SHOWN)}… (${inert.length} characters)`;
}

/** The reason of a failure in one line. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Fault ? '' : ((error as NodeJS.ErrnoException | undefined)?.code ?? '');
  const text = message.replace(/\s*\n\s*/g, '; ');
  return shown(text === '' ? code || 'it failed' : text);
}

/** `1 node`, `3 nodes`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** 45 s, 12 min, 3 h, 4 days. */
export function spanOf(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`;
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** 512 bytes, 1.5 GB. */
export function sizeOf(octets: number): string {
  let [value, unit] = [octets, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}
