// Routes: which node answered on a subject last. A request on that subject joins the batch for that node (decision 0078). A route is a hint:
// when it leads nowhere, it is dropped, and the request finds the responder through its own subject.

/** The most subjects: those of all shards, and of the nodes and hubs of a large cluster. */
const MAX_ROUTES = 10_000;

export class Routes {
  /** Subject → address. The subject that was learned first is the first. */
  readonly #addresses = new Map<string, string>();

  /** Rises when routes are forgotten: what was sent before tells nothing about the routes of now. */
  #generation = 0;

  get generation(): number {
    return this.#generation;
  }

  addressOf(subject: string): string | undefined {
    return this.#addresses.get(subject);
  }

  /** `generation`: that of the time when the request was sent. */
  learn(subject: string, address: string, generation: number): void {
    if (generation !== this.#generation || this.#addresses.get(subject) === address) return;
    this.#addresses.set(subject, address);
    if (this.#addresses.size <= MAX_ROUTES) return;
    for (const first of this.#addresses.keys()) {
      this.#addresses.delete(first);
      break;
    }
  }

  /** `address`: drops the route only if it leads there. */
  forget(subject: string, address = this.#addresses.get(subject)): void {
    if (this.#addresses.get(subject) !== address) return;
    this.#generation++;
    this.#addresses.delete(subject);
  }

  clear(): void {
    this.#generation++;
    this.#addresses.clear();
  }
}
