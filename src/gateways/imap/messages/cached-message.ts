// One message of the cache: its facts, the octets of its header and its index as JSON, and strings that were made from them.
import type { MessageIndex } from '../../../mail/message-index.js';
import type { FolderMessageRow } from '../../../store/folder-messages.js';
import type { Message, MessageNeeds } from './message.js';

/** Memory of a message beside its texts, roughly: the object, its numbers, ids and hash. */
const OCTETS = 450;
/** Of a derived string beside its characters. */
const STRING_OCTETS = 40;

export class CachedMessage implements Message {
  readonly uid: number;
  readonly emailId: string;
  readonly threadId: string;
  readonly blob: string;
  readonly size: number;
  readonly receivedAt: number;
  readonly savedAt: number;
  readonly preview: string;
  #header: Buffer | undefined;
  /** UTF-8: smaller than the objects by half, and outside of the heap that is searched for garbage. */
  #index: Buffer | undefined;
  /** Name, string, name, string: a map of so few would take more. */
  #derived: readonly string[] = [];
  readonly #grown: (octets: number) => void;

  /** `grown`: called with what it takes more. */
  constructor(row: FolderMessageRow, grown: (octets: number) => void) {
    this.uid = row.uid;
    this.emailId = row.emailId;
    this.threadId = row.threadId === row.emailId ? row.emailId : row.threadId;
    this.blob = row.blob;
    this.size = row.size;
    this.receivedAt = row.receivedAt;
    this.savedAt = row.savedAt;
    this.preview = row.preview;
    this.#grown = grown;
    grown(OCTETS + Buffer.byteLength(row.preview));
  }

  get header(): Buffer {
    if (this.#header === undefined) throw new Error(`the header of UID ${this.uid} was not asked for`);
    return this.#header;
  }

  get index(): MessageIndex {
    if (this.#index === undefined) throw new Error(`the index of UID ${this.uid} was not asked for`);
    return JSON.parse(this.#index.toString()) as MessageIndex;
  }

  get hasHeader(): boolean {
    return this.#header !== undefined;
  }

  get hasIndex(): boolean {
    return this.#index !== undefined;
  }

  /** Of header and index. */
  get sourceOctets(): number {
    return (this.#header?.length ?? 0) + (this.#index?.length ?? 0);
  }

  get hasDerived(): boolean {
    return this.#derived.length > 0;
  }

  has({ header = false, index = false }: MessageNeeds): boolean {
    return (
      (header === false || this.#header !== undefined || (header !== true && this.#hasAll(header))) &&
      (index === false || this.#index !== undefined || (index !== true && this.#hasAll(index)))
    );
  }

  derived(name: string, make: () => string): string {
    const at = this.#indexOf(name);
    if (at >= 0) return this.#derived[at + 1]!;
    const made = make();
    this.#derived = [...this.#derived, name, made];
    this.#grown(STRING_OCTETS + made.length);
    return made;
  }

  /** Keeps what it does not have yet. */
  take(header: Buffer | undefined, index: Buffer | undefined): void {
    const before = this.sourceOctets;
    this.#header ??= header;
    this.#index ??= index;
    this.#grown(this.sourceOctets - before);
  }

  /** The same without header and index. */
  withoutSources(grown: (octets: number) => void): CachedMessage {
    const message = new CachedMessage(this, grown);
    message.#derived = this.#derived;
    for (let i = 1; i < this.#derived.length; i += 2) grown(STRING_OCTETS + this.#derived[i]!.length);
    return message;
  }

  #hasAll(names: readonly string[]): boolean {
    return names.every((name) => this.#indexOf(name) >= 0);
  }

  #indexOf(name: string): number {
    for (let i = 0; i < this.#derived.length; i += 2) if (this.#derived[i] === name) return i;
    return -1;
  }
}
