// The gateway's neighbours in memory: a directory of keys, one mailbox an account, blobs. They keep what was asked of
// them, so that tests can look at it.
import { createHash } from 'node:crypto';
import { EMPTY, Subject } from 'rxjs';
import type { EmailDetail, EmailListItem, Mailboxes, MailboxProtocol } from '../../../src/actors/mailbox/protocol.js';
import { ActorFault, type ActorFaultCode } from '../../../src/actors/runtime/errors.js';
import type { Payload } from '../../../src/actors/runtime/protocol.js';
import type { BodyDecoder } from '../../../src/decode/decoder.js';
import type { Directory, LoginClaims, LoginResult, Principal } from '../../../src/directory/protocol.js';
import type { Log } from '../../../src/gateways/http/exchange.js';
import type { IndexedPart, MessageIndex, OctetRange } from '../../../src/mail/message-index.js';
import type { BlobContent, BlobStore } from '../../../src/store/blobs.js';
import { StoreFault } from '../../../src/store/errors.js';
import { folderAnswers } from './folder-fakes.js';
import { detailOf, labelFilterAnswers } from './label-filter-fakes.js';
import { outboundAnswers } from './outbound-fakes.js';

export const ALICE = '018f0000-0000-7000-8000-00000000000a';
export const BOB = '018f0000-0000-7000-8000-00000000000b';

/** Of no account. */
const NOBODY = '018f0000-0000-7000-8000-0000000000cc';

export type Scopes = Principal['scopes'];

export class FakeDirectory implements Directory {
  readonly keys = new Map<string, Principal>();
  guest: Principal | undefined;
  down = false;
  /** Authentication waits for this. */
  gate: Promise<void> = Promise.resolve();
  readonly revokedKeys$ = new Subject<string>();
  readonly deletedAccounts$ = EMPTY;

  /** A key that may notify for any account. */
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

  async recipient(): Promise<never> {
    throw new Error('not asked by HTTP');
  }

  async hold(): Promise<never> {
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

  /** Accounts are called like the subjects of their logins, and belong to them. */
  async login({ subject, email }: LoginClaims): Promise<LoginResult> {
    if (this.down) throw new StoreFault('store-unavailable', 'down', { temporary: true });
    if (email === undefined) return { refusal: 'noEmail' };
    return { principal: { accountId: subject, email, scopes: ['app'], keyId: null, serviceWide: false } };
  }

  async anonymous(): Promise<Principal | undefined> {
    return this.guest;
  }
}

interface StoredEmail extends EmailDetail {
  isRead: boolean;
  isFlagged: boolean;
  /** A role, or the id of a folder. */
  folder: string;
  readonly preview: string;
  readonly attachmentCount: number;
}

interface SearchPayload {
  readonly terms: readonly { readonly words: readonly string[] }[];
  readonly from?: number;
  readonly to?: number;
  readonly hasAttachments?: boolean;
  readonly isRead?: boolean;
  readonly isFlagged?: boolean;
  readonly keyword?: string;
  readonly page: number;
  readonly pageSize: number;
}

type StoreFlags = Payload<MailboxProtocol, 'storeFlags'>;

interface ListPayload extends Pick<SearchPayload, 'isRead' | 'isFlagged' | 'page' | 'pageSize'> {
  readonly folder: string;
  readonly fromAddress?: string;
  readonly sort?: string;
}

export class FakeMailboxes {
  readonly emails = new Map<string, StoredEmail[]>();
  readonly asked: { readonly name: string; readonly payload: unknown }[] = [];
  fault: ActorFaultCode | 'bug' | undefined;
  /** Seconds until an export is allowed. */
  exportWait = 0;
  /** Turns to export that were given back. */
  exportsGivenBack = 0;
  /** Emails an export counts beyond those that are there. */
  exportMore = 0;

  /** The seam's type is generic in the operation's name; a fake answers by name. */
  get refs(): Mailboxes {
    return { of: (accountId: string) => ({ ask: this.#ask.bind(this, accountId), events$: () => EMPTY }) } as never;
  }

  async #ask(accountId: string, name: string, payload: never): Promise<unknown> {
    this.asked.push({ name, payload });
    if (this.fault === 'bug') throw new TypeError('cannot read properties of secret');
    if (this.fault !== undefined) throw new ActorFault(this.fault, 'fault');
    if (accountId === NOBODY) throw new ActorFault('no-such-account', 'no such account');
    const emails = this.emails.get(accountId) ?? [];
    this.emails.set(accountId, emails);
    const answer = this.#answers[name];
    if (answer === undefined) throw new Error(`no answer to ${name}`);
    return answer(emails, payload);
  }

  readonly #answers: Record<string, (emails: StoredEmail[], payload: never) => unknown> = {
    ...labelFilterAnswers,
    ...folderAnswers.answers,
    ...outboundAnswers,
    labelEmails: (emails, payload: { labelId: string; page: number; pageSize: number }) => {
      if (!labelFilterAnswers.labels(emails).reply.labels.some(({ id }) => id === payload.labelId))
        return { refusal: 'noSuchLabel' };
      const start = (payload.page - 1) * payload.pageSize;
      const items = emails.slice(start, start + payload.pageSize).map(itemOf);
      return { reply: { items, totalCount: emails.length, unreadCount: 0 } };
    },
    list: (emails, payload: ListPayload) => {
      if (!folderAnswers.isFolder(emails, payload.folder)) return { refusal: 'noSuchFolder' };
      const all = emails.filter(
        (email) =>
          email.folder === folderAnswers.nameOf(payload.folder) &&
          email.fromAddress.includes(payload.fromAddress ?? '') &&
          (payload.isRead ?? email.isRead) === email.isRead &&
          (payload.isFlagged ?? email.isFlagged) === email.isFlagged,
      );
      if (payload.sort === 'size') all.sort((a, b) => a.sizeBytes - b.sizeBytes);
      const start = (payload.page - 1) * payload.pageSize;
      const items = all.slice(start, start + payload.pageSize).map(itemOf);
      return { reply: { items, totalCount: all.length, unreadCount: all.filter((email) => !email.isRead).length } };
    },
    search: (emails, payload: SearchPayload) => {
      const all = emails.filter(
        (email) =>
          payload.terms.every(({ words }) => email.subject.toLowerCase().includes(words.join(' '))) &&
          (payload.from ?? 0) <= email.receivedAt &&
          email.receivedAt <= (payload.to ?? Number.POSITIVE_INFINITY) &&
          (payload.isRead ?? email.isRead) === email.isRead &&
          (payload.isFlagged ?? email.isFlagged) === email.isFlagged &&
          payload.keyword === undefined &&
          (payload.hasAttachments ?? email.attachmentCount > 0) === email.attachmentCount > 0,
      );
      const start = (payload.page - 1) * payload.pageSize;
      const items = all.slice(start, start + payload.pageSize).map(itemOf);
      return { reply: { items, totalCount: all.length, unreadCount: all.filter((email) => !email.isRead).length } };
    },
    exportCount: (emails) => ({ reply: { count: emails.length + this.exportMore } }),
    exportPage: (emails) => ({
      reply: { emails: emails.map(({ sizeBytes: size, ...email }) => ({ ...email, size })), place: null },
    }),
    detail: (emails, payload: { emailId: string }) => {
      const email = emails.find(({ id }) => id === payload.emailId);
      return email === undefined ? { refusal: 'noSuchEmail' } : { reply: detailOf(email) };
    },
    announce: (emails, payload: { emailId: string }) =>
      emails.some(({ id }) => id === payload.emailId) ? { reply: { isKept: true } } : { refusal: 'noSuchEmail' },
    setRead: (emails, payload: { emailIds: string[]; isRead: boolean }) => {
      let changed = 0;
      const missing = [];
      for (const id of payload.emailIds) {
        const email = emails.find((candidate) => candidate.id === id);
        if (email === undefined) missing.push(id);
        else if (email.isRead !== payload.isRead) changed++;
        if (email !== undefined) email.isRead = payload.isRead;
      }
      return { reply: { changed, missing } };
    },
    storeFlags: (emails, { selection, mode, flags }: StoreFlags) => {
      const ids = 'emailIds' in selection ? selection.emailIds : [];
      const found = emails.filter(({ id }) => ids.includes(id));
      for (const email of found) {
        if (flags.includes('\\Seen')) email.isRead = mode === 'add';
        if (flags.includes('\\Flagged')) email.isFlagged = mode === 'add';
      }
      const missing = ids.filter((id) => !found.some((email) => email.id === id));
      return { reply: { changed: found.length, missing, modified: [] } };
    },
    remove: (emails, payload: { emailIds: string[] }) => {
      let removed = 0;
      const missing = [];
      for (const id of payload.emailIds) {
        const at = emails.findIndex((candidate) => candidate.id === id);
        if (at < 0) missing.push(id);
        else removed += emails.splice(at, 1).length;
      }
      return { reply: { removed, missing } };
    },
    sentAddresses: (emails) => ({
      reply: { addresses: [...new Set(emails.filter((e) => e.folder === 'sent').map((e) => e.fromAddress))] },
    }),
  };
}

function itemOf(email: StoredEmail): EmailListItem {
  const { blob: _, inReplyTo: _i, references: _r, folder: _f, preview: previewText, ...item } = email;
  return { ...item, previewText, hasAttachments: email.attachmentCount > 0 };
}

export class FakeBlobs implements BlobStore {
  readonly blobs = new Map<string, { readonly bytes: Uint8Array; readonly index: MessageIndex }>();
  /** Octets pulled out of streams, and how many of them were left early. */
  pulled = 0;
  left = 0;
  finished = 0;
  /** Fails the stream after so many octets. */
  failAfter = Number.POSITIVE_INFINITY;
  /** Called whenever a stream has been left or has ended. */
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

/** Gives the parts named as bodies as they stand. */
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
