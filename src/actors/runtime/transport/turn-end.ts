// Runs tasks at the end of a turn of the event loop: when the input that has arrived is processed, and before the node waits for more. What
// they write to one socket leaves with one system call.

export class TurnEnd {
  #tasks: (() => void)[] = [];
  #immediate: NodeJS.Immediate | undefined;

  /** Tasks run in the order in which they are added, and must not throw. */
  add(task: () => void): void {
    this.#tasks.push(task);
    this.#immediate ??= setImmediate(() => this.now());
  }

  /** Runs the tasks without waiting for the end of the turn. */
  now(): void {
    clearImmediate(this.#immediate);
    this.#immediate = undefined;
    const tasks = this.#tasks;
    this.#tasks = [];
    for (const task of tasks) task();
  }
}
