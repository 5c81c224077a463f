// The header of a message as filters look at it: To and Cc as texts, and the values of any field. Values are decoded when they are asked for:
// most filters look at one field.
import type { IndexedAddress, IndexedEnvelope } from '../message-index.js';
import { WordDecoder } from '../mime-index/header-text.js';
import { type HeaderPair, headerPairs } from './header-pairs.js';

interface Recipients {
  readonly envelope: Pick<IndexedEnvelope, 'to' | 'cc'>;
}

export class MessageHeader {
  readonly #index: Recipients;
  readonly #octets: Uint8Array;
  readonly #decoder = new WordDecoder();
  #fields: ReadonlyMap<string, readonly string[]> | undefined;

  /** `octets`: of the header, from the start of the message. */
  constructor(index: Recipients, octets: Uint8Array) {
    this.#index = index;
    this.#octets = octets;
  }

  /** Names and addresses of the field, one per line. */
  addresses(field: 'to' | 'cc'): string {
    return this.#index.envelope[field].map(textOf).join('\n');
  }

  /** All fields in their order; encoded words are as written. */
  pairs(): readonly HeaderPair[] {
    return headerPairs(Buffer.from(this.#octets.buffer, this.#octets.byteOffset, this.#octets.length));
  }

  /** The values of all fields with this name, whose case does not count. */
  values(name: string): readonly string[] {
    this.#fields ??= byName(this.pairs());
    return (this.#fields.get(name.toLowerCase()) ?? []).map((value) => this.#decoder.text(value));
  }
}

const textOf = ({ name, address }: IndexedAddress): string => `${name} <${address}>`;

function byName(pairs: readonly HeaderPair[]): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const values = fields.get(name.toLowerCase());
    if (values === undefined) fields.set(name.toLowerCase(), [value]);
    else values.push(value);
  }
  return fields;
}
