// A wait that somebody else may end early.

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
