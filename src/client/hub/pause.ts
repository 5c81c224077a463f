// Waits before something is tried again: how long they are, and one that somebody else may end early.

const FIRST_PAUSE_MS = 1_000;
export const LONGEST_PAUSE_MS = 30_000;

/** How long to wait after this many failures before the present one. Random, because all clients of a node fail at once. In ms. */
export function pauseAfter(failures: number): number {
  return Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
}

export class Pause {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end = () => {};

  for(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#end = resolve;
      this.#timer = setTimeout(resolve, ms);
    });
  }

  /** Until `end` is called. */
  forever(): Promise<void> {
    return new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#end();
  }
}
