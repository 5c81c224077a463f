// Shows progress of a long command on stderr: a bar that is redrawn on a terminal, otherwise a line at intervals, or nothing with --json,
// whose reader is a program.

export interface Progress {
  /** Shows `done` of `total`, in any unit, and `text`. */
  show(done: number, total: number, text: string): void;
  /** Writes a separate line. */
  line(text: string): void;
  end(): void;
}

const BAR = 30;
const TERMINAL_MS = 100;
const LINE_MS = 1_000;

export function progressTo(stream: NodeJS.WriteStream, isQuiet: boolean): Progress {
  const isTerminal = stream.isTTY === true;
  const everyMs = isTerminal ? TERMINAL_MS : LINE_MS;
  let shownAt = performance.now();
  let isOpen = false;
  const clear = () => {
    if (isOpen) stream.write('\r\u{1b}[K');
    isOpen = false;
  };
  return {
    show(done, total, text) {
      const now = performance.now();
      if ((isQuiet && !isTerminal) || now - shownAt < everyMs) return;
      shownAt = now;
      const part = total === 0 ? 1 : Math.min(1, done / total);
      const percent = `${Math.floor(part * 100)} %`.padStart(5);
      if (!isTerminal) {
        stream.write(`${percent}  ${text}\n`);
        return;
      }
      const full = Math.round(part * BAR);
      clear();
      stream.write(
        `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}] ${percent}  ${text}`.slice(0, (stream.columns ?? 80) - 1),
      );
      isOpen = true;
    },
    line(text) {
      clear();
      stream.write(`${text}\n`);
    },
    end: clear,
  };
}
