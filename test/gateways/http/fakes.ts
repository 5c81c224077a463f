// Fakes what the gateway depends on, in memory: a directory of keys, blobs, a decoder, a log. They record what they were asked, so
// that tests can look at it. Mailboxes are in mailboxes.ts.
import { createHash } from 'node:crypto';
import { EMPTY, Subject } from 'rxjs';
import type { Directory, LoginClaims, LoginResult, Principal } from '../../../src/actors/directory/protocol.js';
import type { Log } from '../../../src/gateways/http/exchange.js';
import type { IndexedPart, MessageIndex, OctetRange } from '../../../src/mail-format/message-index.js';
import type { BodyDecoder } from '../../../src/message-content/decode/decoder.js';
import type { BlobContent, BlobStore } from '../../../src/store/blobs.js';
import { StoreFault } from '../../../src/store/errors.js';

export const ALICE = '018f0000-0000-7000-8000-00000000000a';
export const BOB = '018f0000-0000-7000-8000-00000000000b';

export type Scopes = Principal['scopes'];

export class FakeDirectory implements Directory {
  readonly keys = new Map<string, Principal>();
  guest: Principal | undefined;
  down = false;
  /** Authentication waits for this. */
  gate: Promise<void> = Promise.resolve();
  readonly revokedKeys$ = new Subject<string>();
  readonly accountNotices$ = EMPTY;
  readonly deletedAccounts$ = EMPTY;
  readonly missedChanges$ = EMPTY;

  revoke(key: string): void {
    this.keys.delete(key);
    this.revokedKeys$.next(key);
  }

  /** Returns a key that may notify any account. */
  serviceKey(accountId: string): string {
    const text = this.key(accountId, 'internal');
    this.keys.set(text, { ...this.keys.get(text)!, serviceWide: true });
    return text;
  }

  key(accountId: string, ...scopes: Scopes): string {
    const text = `mk_${this.keys.size}_${scopes.join('-').replaceAll(':', '.')}`;
    this.keys.set(text, { accountId, email: 'a@example.test', scopes, keyId: text, serviceWide: false });
    return text;
  }

  /** Returns the text of a session. */
  session(accountId: string, keyId: string = `session of ${accountId}`): string {
    const text = `mansio_session_${this.keys.size}`;
    const sessionEnd = Date.now() + 3_600_000;
    this.keys.set(text, { accountId, email: 'a@example.test', scopes: ['app'], keyId, serviceWide: false, sessionEnd });
    return text;
  }

  async recipient(): Promise<never> {
    throw new Error('not asked by HTTP');
  }

  async openUnclaimed(): Promise<never> {
    throw new Error('not asked by HTTP');
  }

  async isAddressOf(): Promise<never> {
    throw new Error('not asked by HTTP');
  }

  async authenticate(apiKey: string): Promise<Principal | undefined> {
    await this.gate;
    if (this.down) throw new StoreFault('store-unavailable', 'down', { temporary: true });
    return this.keys.get(apiKey);
  }

  noteUse(): void {}

  /** The account of a login has the login's subject as its id. */
  async login({ subject, email }: LoginClaims): Promise<LoginResult> {
    if (this.down) throw new StoreFault('store-unavailable', 'down', { temporary: true });
    if (email === undefined) return { refusal: 'noEmail' };
    return { principal: { accountId: subject, email, scopes: ['app'], keyId: null, serviceWide: false } };
  }

  async anonymous(): Promise<Principal | undefined> {
    return this.guest;
  }
}

export class FakeBlobs implements BlobStore {
  readonly blobs = new Map<string, { readonly bytes: Uint8Array; readonly index: MessageIndex }>();
  /** `pulled` counts octets read from streams, `left` the streams that were left early. */
  pulled = 0;
  left = 0;
  finished = 0;
  /** The stream fails after this many octets. */
  failAfter = Number.POSITIVE_INFINITY;
  /** It runs whenever a stream ends or is left. */
  onEnd: (() => void) | undefined;

  add(bytes: Uint8Array, index: MessageIndex): string {
    const hash = createHash('sha256').update(bytes).digest('hex');
    this.blobs.set(hash, { bytes, index });
    return hash;
  }

  async put({ hash, index, chunks }: BlobContent): Promise<void> {
    const pieces: Uint8Array[] = [];
    for await (const piece of chunks()) pieces.push(piece);
    this.blobs.set(hash, { bytes: Buffer.concat(pieces), index });
  }

  async index(hash: string): Promise<MessageIndex | undefined> {
    return this.blobs.get(hash)?.index;
  }

  async indexes(hashes: readonly string[]): Promise<ReadonlyMap<string, MessageIndex>> {
    return new Map(hashes.flatMap((hash) => (this.blobs.has(hash) ? [[hash, this.blobs.get(hash)!.index]] : [])));
  }

  async read(hash: string, start: number, end: number): Promise<Uint8Array> {
    return this.blobs.get(hash)!.bytes.subarray(start, end);
  }

  async readRanges(hash: string, ranges: readonly OctetRange[]): Promise<readonly Uint8Array[]> {
    const { bytes } = this.blobs.get(hash)!;
    return ranges.map(({ start, end }) => Uint8Array.prototype.slice.call(bytes, start, end));
  }

  async readAll(hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    return new Map(hashes.flatMap((hash) => (this.blobs.has(hash) ? [[hash, this.blobs.get(hash)!.bytes]] : [])));
  }

  async *stream(hash: string, start: number, end: number): AsyncGenerator<Uint8Array> {
    const { bytes } = this.blobs.get(hash)!;
    let whole = false;
    try {
      for (let at = start; at < end; at += 256 * 1024) {
        if (at - start >= this.failAfter) throw new StoreFault('store-unavailable', 'down', { temporary: true });
        const chunk = bytes.subarray(at, Math.min(end, at + 256 * 1024));
        this.pulled += chunk.length;
        yield chunk;
      }
      whole = true;
    } finally {
      if (whole) this.finished++;
      else this.left++;
      this.onEnd?.();
    }
  }

  async collect(): Promise<number> {
    return 0;
  }
}

/** Returns the parts that the index names as bodies, undecoded. */
export const plainDecoder: Pick<BodyDecoder, 'bodies' | 'room'> = {
  room: async () => () => {},
  async bodies(index, read) {
    const text = async (sections: readonly string[]) => {
      let all = '';
      for (const section of sections) {
        const part = find(index.root, section);
        if (part) {
          const [bytes] = await read([{ start: part.bodyStart, end: part.bodyEnd }]);
          all += Buffer.from(bytes!).toString();
        }
      }
      return all;
    };
    const texts = await text(index.textSections);
    return { text: texts, html: await text(index.htmlSections), partial: index.truncated.length > 0 };
  },
};

function find(part: IndexedPart, section: string): IndexedPart | undefined {
  if (part.section === section) return part;
  for (const child of part.parts) {
    const found = find(child, section);
    if (found) return found;
  }
  return undefined;
}

export interface LogLine {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export class FakeLog implements Log {
  readonly lines: LogLine[] = [];
  readonly #put = (level: string) => (fields: object, text: string) => {
    this.lines.push({ level, fields: fields as Record<string, unknown>, text });
  };
  readonly debug = this.#put('debug');
  readonly info = this.#put('info');
  readonly warn = this.#put('warn');
  readonly error = this.#put('error');
}
