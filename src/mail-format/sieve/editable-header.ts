// The header of a message while a script runs: tests read it, `addheader` and `deleteheader` edit it (RFC 5293). Values are decoded once.
import type { IndexedAddress } from '../message-index.js';
import { addressList } from '../mime-index/address-list.js';
import { WordDecoder } from '../mime-index/header-text.js';
import { type HeaderEdit, headerEdit } from './header-edit.js';
import type { SieveField } from './message.js';

/** The most addresses of a field that tests look at. */
const MOST_ADDRESSES = 1_000;

export class EditableHeader {
  readonly #original: readonly SieveField[];
  #fields: readonly SieveField[];
  #byName: ReadonlyMap<string, readonly SieveField[]> | undefined;
  readonly #decoded = new Map<SieveField, string>();
  readonly #addresses = new Map<SieveField, readonly IndexedAddress[]>();
  readonly #decoder = new WordDecoder();
  #edits = 0;
  #addedOctets = 0;

  constructor(fields: readonly SieveField[]) {
    this.#original = fields;
    this.#fields = fields;
  }

  get edits(): number {
    return this.#edits;
  }

  /** The octets of all fields that were added. */
  get addedOctets(): number {
    return this.#addedOctets;
  }

  /** Undefined when the header is as it came. */
  get edit(): HeaderEdit | undefined {
    return this.#edits === 0 ? undefined : headerEdit(this.#original, this.#fields);
  }

  /** The fields with this name in any case, in order. */
  named(name: string): readonly SieveField[] {
    this.#byName ??= byName(this.#fields);
    return this.#byName.get(name.toLowerCase()) ?? [];
  }

  /** The value with its encoded words decoded. */
  decoded(field: SieveField): string {
    let text = this.#decoded.get(field);
    if (text === undefined) {
      text = this.#decoder.text(field.value);
      this.#decoded.set(field, text);
    }
    return text;
  }

  /** Names of groups have an empty address. */
  addresses(field: SieveField): readonly IndexedAddress[] {
    let found = this.#addresses.get(field);
    if (found === undefined) {
      found = addressList(field.value, MOST_ADDRESSES, this.#decoder).addresses;
      this.#addresses.set(field, found);
    }
    return found;
  }

  add(field: SieveField, isLast: boolean): void {
    this.#addedOctets += Buffer.byteLength(`${field.name}: ${field.value}\r\n`);
    this.#edit(isLast ? [...this.#fields, field] : [field, ...this.#fields]);
  }

  delete(fields: ReadonlySet<SieveField>): void {
    if (fields.size > 0) this.#edit(this.#fields.filter((field) => !fields.has(field)));
  }

  #edit(fields: readonly SieveField[]): void {
    this.#fields = fields;
    this.#byName = undefined;
    this.#edits++;
  }
}

function byName(fields: readonly SieveField[]): ReadonlyMap<string, readonly SieveField[]> {
  const named = new Map<string, SieveField[]>();
  for (const field of fields) {
    const name = field.name.toLowerCase();
    const others = named.get(name);
    if (others === undefined) named.set(name, [field]);
    else others.push(field);
  }
  return named;
}
