// The log: pino JSON lines on stdout, or pretty lines on a terminal. While a node runs, nothing else writes to stdout, so that the ready
// line stands alone. It omits credentials, and prevents text of peers from controlling a terminal.
import { isatty } from 'node:tty';
import { destination, type Level, type Logger, pino, stdSerializers } from 'pino';
import { prettyFactory } from 'pino-pretty';

type LogLevel = Level | 'silent';

export interface LogOutput {
  readonly log: Logger;
  /** Writes a line unchanged, separate from the log lines. */
  print(line: string): void;
  /** Resolves when everything written so far has left the process. */
  flush(): Promise<void>;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** The file descriptor; 1 by default. */
  readonly fd?: number;
  /** Pretty lines instead of JSON; by default, when the descriptor is a terminal. */
  readonly pretty?: boolean;
  /** Writes every line before the call returns, for the last words of a process. */
  readonly sync?: boolean;
  /** The number of a process that shares the descriptor with others; each of its lines contains it. */
  readonly process?: number;
}

const SECRET =
  /^(authorization|cookie|set-cookie|password|pass|secret|token|access_?token|refresh_?token|id_?token|api_?key|x-api-key|private_?key)$/i;
const HIDDEN = '[hidden]';
/** Lines are written in batches, because a busy node has thousands per second; the second value limits the wait of the first line. */
const BATCH_CHARACTERS = 4096;
const BATCH_MS = 50;
/** A pipe accepts this much at once (PIPE_BUF), so lines of several processes stay whole. */
const SHARED_BATCHES = { minLength: BATCH_CHARACTERS / 2, maxWrite: BATCH_CHARACTERS };

export function openLog({ level, fd = 1, pretty = isatty(fd), sync = false, process: number }: LogOptions): LogOutput {
  const batches = number === undefined ? { minLength: BATCH_CHARACTERS } : SHARED_BATCHES;
  const out = destination(sync ? { fd, sync } : { fd, sync, ...batches, periodicFlush: BATCH_MS });
  // A reader that has gone (`mansio serve | head`) must not end the process.
  out.on('error', () => {});
  const format = pretty ? prettyFactory({ colorize: isatty(fd), ignore: 'pid,hostname' }) : undefined;
  const stream = format === undefined ? out : { write: (line: string) => out.write(format(inert(line))) };
  const settings = {
    level,
    serializers: { err: stdSerializers.errWithCause },
    formatters: { level: (label: string) => ({ level: label }), log: withoutSecrets },
    base: number === undefined ? null : { process: number },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  const last = () => {
    try {
      out.flushSync();
    } catch {}
  };
  if (!sync) process.on('exit', last);
  return {
    log: pino(settings, stream as typeof out),
    print(line) {
      out.write(`${line}\n`);
      if (!sync) out.flush();
    },
    flush: () => new Promise((resolve) => (sync ? resolve() : out.flush(() => resolve()))),
  };
}

/** Hides fields with the names of credentials, two levels deep: records of the log are flat. */
function withoutSecrets(record: Record<string, unknown>): Record<string, unknown> {
  return hide(record, 2);
}

function hide(record: Record<string, unknown>, depth: number): Record<string, unknown> {
  let clean = record;
  for (const key in record) {
    const value = record[key];
    let kept = value;
    if (SECRET.test(key)) kept = HIDDEN;
    else if (depth > 1 && isPlain(value)) kept = hide(value, depth - 1);
    if (kept === value) continue;
    if (clean === record) clean = { ...record };
    clean[key] = kept;
  }
  return clean;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/**
 * Returns a JSON line whose decoded strings contain no character that a terminal obeys: JSON's own escapes of such characters are escaped
 * once more, and characters without one (DEL, C1 controls, overrides of the writing direction) become escapes.
 */
export function inert(line: string): string {
  return line
    .replace(/\\(?:\\|[bfr]|u00[01][0-9a-f])/gi, (found) => (found === '\\\\' ? found : `\\${found}`))
    .replace(UNSEEN, (char) => `\\\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const UNSEEN = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
