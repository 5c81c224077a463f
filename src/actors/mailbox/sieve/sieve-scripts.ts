// The Sieve scripts of one mailbox, one of which may be active. Few mailboxes have any, and their size per account is bounded, so they are
// kept in memory.

/** Approximate memory of a script, apart from its name and content. */
const SCRIPT_OCTETS = 200;

interface Content {
  readonly content: string;
  /** Octets of the content. */
  readonly size: number;
}

/** `size`: octets of the content. */
interface ListedScript {
  readonly name: string;
  readonly isActive: boolean;
  readonly size: number;
}

export class SieveScripts {
  readonly #scripts = new Map<string, Content>();
  #active: string | null = null;
  /** Octets of all contents. */
  #size = 0;

  /** The name of the script that runs when mail arrives. */
  get active(): string | null {
    return this.#active;
  }

  get count(): number {
    return this.#scripts.size;
  }

  /** Octets of the contents of all scripts. */
  get size(): number {
    return this.#size;
  }

  /** Approximate memory. */
  get octets(): number {
    return this.#size + this.#scripts.size * SCRIPT_OCTETS;
  }

  copy(): SieveScripts {
    const copy = new SieveScripts();
    for (const [name, content] of this.#scripts) copy.#scripts.set(name, content);
    copy.#active = this.#active;
    copy.#size = this.#size;
    return copy;
  }

  has(name: string): boolean {
    return this.#scripts.has(name);
  }

  /** Undefined when there is no such script. */
  content(name: string): string | undefined {
    return this.#scripts.get(name)?.content;
  }

  /** Octets of the content; 0 when there is no such script. */
  sizeOf(name: string): number {
    return this.#scripts.get(name)?.size ?? 0;
  }

  /** Sorted by name. */
  list(): ListedScript[] {
    const listed = [...this.#scripts].map(([name, { size }]) => ({ name, isActive: name === this.#active, size }));
    return listed.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Adds a script, or replaces its content. */
  set(name: string, content: string): void {
    this.delete(name);
    const size = Buffer.byteLength(content);
    this.#scripts.set(name, { content, size });
    this.#size += size;
  }

  delete(name: string): void {
    this.#size -= this.sizeOf(name);
    this.#scripts.delete(name);
  }

  /** null: no script is active. */
  activate(name: string | null): void {
    this.#active = name;
  }
}
