// Draws lists of changes as a mailbox could make them from numbers: each change is possible after the previous ones.
import { PackedIds } from '../../../src/mail-format/packed-ids.js';
import type { ChangeContent } from '../../../src/store/changes/changes.js';
import type { FolderCounters, FolderDefinition, FolderRow } from '../../../src/store/mailbox-rows.js';
import type { OutboundRow } from '../../../src/store/outbound.js';
import { NO_ACTIONS, NO_CONDITIONS } from '../../support/filter-row.js';
import { outboundRecords } from '../../support/mailbox-change.js';
import { emailAdded, newEmail, newFolder, outboundEmail, recipient, T0 } from './writer.js';

/** The kind of the change, and three numbers that choose its details. */
export type Drawn = readonly [kind: number, a: number, b: number, c: number];

interface EmailModel {
  flags: number;
  /** UIDs by folder. */
  readonly uids: Map<string, number>;
}

const KEYWORDS = [['Work'], ['Work', '$Later'], ['other'], []];
const NAMES = ['ann', 'bob', 'cora', ''];
const SUBJECTS = ['apple', 'Re: apple', 'FWD: Re: berry', 'cherry'];

export class RandomChanges {
  readonly #emails = new Map<string, EmailModel>();
  readonly #folders = new Map<string, FolderDefinition>();
  readonly #uidNext = new Map<string, number>();
  readonly #archive: string;
  readonly #filters: string[] = [];
  readonly #outbound = new Map<string, OutboundRow>();
  #messages = 0;

  constructor(folders: readonly FolderRow[]) {
    for (const { uidNext, total: _t, unread: _u, highestModseq: _h, ...folder } of folders) {
      this.#folders.set(folder.id, folder);
      this.#uidNext.set(folder.id, uidNext);
    }
    this.#archive = folders.find(({ role }) => role === 'archive')!.id;
  }

  changes(drawn: readonly Drawn[]): ChangeContent[] {
    return drawn.flatMap(([kind, a, b, c]) => this.#makers[kind % this.#makers.length]!(a, b, c));
  }

  counters(modseq: number): FolderCounters[] {
    return [...this.#folders.keys()].map((id) => {
      const inside = [...this.#emails.values()].filter(({ uids }) => uids.has(id));
      const unread = inside.filter(({ flags }) => (flags & 1) === 0).length;
      return { id, uidNext: this.#uidNext.get(id)!, total: inside.length, unread, highestModseq: modseq };
    });
  }

  readonly #makers: readonly ((a: number, b: number, c: number) => ChangeContent[])[] = [
    (a, b, c) => this.#add(a, b, c),
    (a, b, c) => this.#add(a, b, c),
    (a, b) => this.#place(a, b),
    (a, b) => this.#expunge(a, b),
    (a) => this.#remove(a),
    (a, b, c) => this.#flag(a, b, c),
    (a, b) => this.#mark(a, b),
    (a, b) => this.#changeFolder(a, b),
    (a) => this.#deleteFolder(a),
    (a, b, c) => this.#annotate(a, b, c),
    (a, b) => this.#filter(a, b),
    (a, b) => this.#defer(a, b),
    (a, b, c) => script(a, b, c),
    (a, b, c) => this.#send(a, b, c),
    (a, b) => [{ type: 'PreferencesChanged', payload: { chosen: { [`p${a % 3}`]: b, nested: { b: [null, 'ä'] } } } }],
    (a) => [
      {
        type: 'PreferencesChanged',
        payload: { chosen: { senders: { allowed: [`a${a}.test`], blocked: ['b.test'] } } },
      },
    ],
  ];

  #pick<T>(of: Iterable<T>, n: number): T | undefined {
    const all = [...of];
    return all[n % all.length];
  }

  #newUid(folderId: string): number {
    const uid = this.#uidNext.get(folderId)!;
    this.#uidNext.set(folderId, uid + 1);
    return uid;
  }

  #add(a: number, b: number, c: number): ChangeContent[] {
    const number = ++this.#messages;
    const email = newEmail({
      messageId: c % 7 === 0 ? null : `<${number}@x>`,
      inReplyTo: b % 3 === 0 ? `<${(a % 12) + 1}@x>` : null,
      references: b % 4 === 0 ? [`<${(c % 12) + 1}@x>`, `<r${c % 3}@x>`] : [],
      fromName: NAMES[a % 4]!,
      fromAddress: `${NAMES[b % 3]}@X.test`,
      subject: SUBJECTS[c % 4]!,
      receivedAt: T0 + (b % 5),
      size: 100 + (a % 3),
      hasAttachments: a % 2 === 0,
      flags: c % 4,
      keywords: KEYWORDS[a % 4]!,
      origin: ([null, 'appended', 'submitted', 'sent'] as const)[b % 4]!,
    });
    const placements = [...new Set([this.#pick(this.#folders.keys(), a)!, this.#pick(this.#folders.keys(), b)!])].map(
      (folderId) => ({ folderId, uid: this.#newUid(folderId) }),
    );
    const uids = new Map(placements.map(({ folderId, uid }) => [folderId, uid]));
    this.#emails.set(email.id, { flags: email.flags, uids });
    return [emailAdded(email, placements)];
  }

  /** Returns the emails of one record: one, or every email that fits. */
  #chosen(a: number, fits: (email: EmailModel) => boolean): [string, EmailModel][] {
    const first = this.#pick(this.#emails, a);
    if (first === undefined || !fits(first[1])) return [];
    const others = a % 2 === 0 ? [] : [...this.#emails].filter(([id, email]) => id !== first[0] && fits(email));
    return [first, ...others];
  }

  #place(a: number, b: number): ChangeContent[] {
    const folderId = this.#pick(this.#folders.keys(), b)!;
    const chosen = this.#chosen(a, ({ uids }) => !uids.has(folderId));
    const rows = chosen.map(([emailId, { uids }]) => {
      const uid = this.#newUid(folderId);
      uids.set(folderId, uid);
      return { emailId, uid };
    });
    const others = rows.slice(1).map(({ emailId }) => emailId);
    return rows.slice(0, 1).map((row) => ({ type: 'EmailPlaced', payload: { ...row, folderId, ...some(others) } }));
  }

  #expunge(a: number, b: number): ChangeContent[] {
    const [folderId] = this.#pick(this.#pick(this.#emails, a)?.[1].uids ?? [], b) ?? [];
    if (folderId === undefined) return [];
    const chosen = this.#chosen(a, ({ uids }) => uids.size > 1 && uids.has(folderId));
    const [first, ...others] = chosen.map(([emailId, { uids }]) => {
      const uid = uids.get(folderId)!;
      uids.delete(folderId);
      return { emailId, uid };
    });
    return first === undefined ? [] : [{ type: 'EmailExpunged', payload: { ...first, folderId, ...some(others) } }];
  }

  #remove(a: number): ChangeContent[] {
    const folderIds = [...(this.#pick(this.#emails, a)?.[1].uids.keys() ?? [])];
    const chosen = this.#chosen(a, ({ uids }) => [...uids.keys()].join() === folderIds.join());
    for (const [emailId] of chosen) this.#emails.delete(emailId);
    const [first, ...others] = chosen.map(([emailId, { uids }]) => ({ emailId, uids: [...uids.values()] }));
    if (first === undefined) return [];
    const placements = folderIds.map((folderId, i) => ({ folderId, uid: first.uids[i]! }));
    return [{ type: 'EmailRemoved', payload: { emailId: first.emailId, placements, ...some(others) } }];
  }

  #flag(a: number, b: number, c: number): ChangeContent[] {
    const flags = b % 0x2000;
    const changed = (this.#pick(this.#emails, a)?.[1].flags ?? 0) ^ flags;
    const chosen = this.#chosen(a, (email) => (email.flags ^ flags) === changed);
    for (const [, email] of chosen) email.flags = flags;
    const [emailId, ...others] = chosen.map(([id]) => id);
    const keywords = c % 2 === 0 ? {} : { keywords: KEYWORDS[c % 4]! };
    if (emailId === undefined) return [];
    const packed = b % 2 === 0 ? {} : { others: PackedIds.of(others) };
    return [{ type: 'FlagsChanged', payload: { emailId, flags, changed, ...keywords, ...some(others), ...packed } }];
  }

  #mark(a: number, b: number): ChangeContent[] {
    const [folderId] = this.#pick(this.#pick(this.#emails, a)?.[1].uids ?? [], b) ?? [];
    if (folderId === undefined) return [];
    const chosen = this.#chosen(a, ({ uids }) => uids.has(folderId));
    const [first, ...others] = chosen.map(([emailId, { uids }]) => ({ emailId, uid: uids.get(folderId)! }));
    const isDeleted = b % 3 > 0;
    if (first === undefined) return [];
    return [{ type: 'DeletedChanged', payload: { ...first, folderId, isDeleted, ...some(others) } }];
  }

  #ownFolders(): FolderDefinition[] {
    return [...this.#folders.values()].filter(({ role }) => role === 'folder');
  }

  #changeFolder(a: number, b: number): ChangeContent[] {
    const known = a % 2 === 0 ? undefined : this.#pick(this.#ownFolders(), b);
    if (known === undefined) {
      const folder = newFolder({ sortOrder: b % 10 });
      this.#folders.set(folder.id, folder);
      this.#uidNext.set(folder.id, 1);
      return [{ type: 'FolderCreated', payload: { folder } }];
    }
    const folder = { ...known, name: `${known.id} ${b}`, color: '#00ff00', isSubscribed: b % 2 === 0 };
    this.#folders.set(folder.id, folder);
    return [{ type: 'FolderChanged', payload: { folder } }];
  }

  #deleteFolder(a: number): ChangeContent[] {
    const folder = this.#pick(this.#ownFolders(), a);
    if (folder === undefined) return [];
    this.#folders.delete(folder.id);
    const emails: { emailId: string; uid: number }[] = [];
    for (const [emailId, { uids }] of this.#emails) {
      if (!uids.delete(folder.id) || uids.size > 0) continue;
      const uid = this.#newUid(this.#archive);
      uids.set(this.#archive, uid);
      emails.push({ emailId, uid });
    }
    const placed = emails.length === 0 ? null : { folderId: this.#archive, emails };
    return [{ type: 'FolderDeleted', payload: { folderId: folder.id, role: folder.role, placed } }];
  }

  #annotate(a: number, b: number, c: number): ChangeContent[] {
    const folderId = a % 3 === 0 ? null : this.#pick(this.#folders.keys(), a)!;
    const value = (n: number) => (n % 3 === 0 ? null : Buffer.alloc(n % 200, n).toString('base64'));
    const entries = [...new Set([b, c])].map((n) => ({ name: `/private/n${n % 4}`, value: value(n) }));
    return [{ type: 'AnnotationsChanged', payload: { folderId, entries } }];
  }

  #filter(a: number, b: number): ChangeContent[] {
    if (a % 3 === 0) {
      const filterId = this.#filters.splice(b % (this.#filters.length || 1), 1)[0];
      return filterId === undefined ? [] : [{ type: 'FilterDeleted', payload: { filterId } }];
    }
    const id = a % 3 === 1 ? undefined : this.#pick(this.#filters, b);
    const filter = {
      id: id ?? newFolder().id,
      name: `f${b}`,
      isEnabled: b % 2 === 0,
      priority: b % 5,
      ...NO_CONDITIONS,
      ...NO_ACTIONS,
      fromAddressContains: b % 3 === 0 ? null : 'x',
      bodyContains: 'y',
      matches: b % 7 === 0 ? 'z+' : null,
      hasAttachments: b % 4 === 0 ? null : true,
      assignLabelId: b % 5 === 0 ? this.#archive : null,
      forwardTo: b % 4 === 0 ? 'x@elsewhere.test' : null,
      delete: false,
      disabledReason: null,
      createdAt: T0 + b,
      updatedAt: T0 + b,
      lastAppliedAt: b % 2 === 0 ? null : T0 + b,
      timesApplied: b,
    };
    if (id === undefined) this.#filters.push(filter.id);
    return [{ type: 'FilterChanged', payload: { filter } }];
  }

  #defer(a: number, b: number): ChangeContent[] {
    const emailId = this.#pick(this.#emails.keys(), a);
    if (emailId === undefined) return [];
    if (b % 2 === 0) return [{ type: 'BodyFiltersEnded', payload: { emailId } }];
    return [
      {
        type: 'FiltersAwaitBody',
        payload: { emailId, filterIds: [...this.#filters], placed: [{ folderId: emailId, uid: b }] },
      },
    ];
  }

  #send(a: number, b: number, c: number): ChangeContent[] {
    const known = this.#pick(this.#outbound.values(), a);
    if (known === undefined || b % 3 === 0) {
      const status = b % 2 === 0 ? 'Draft' : 'Queued';
      const row = outboundEmail({ status, createdAt: T0 + (c % 3), machine: status === 'Draft' ? null : { b } });
      this.#outbound.set(row.id, row);
      return outboundRecords(row, null, 'all', { textBody: `${c}`, htmlBody: null });
    }
    const outboundId = known.id;
    if (known.status === 'Draft' && b % 3 === 1) {
      this.#outbound.delete(outboundId);
      return [{ type: 'OutboundRemoved', payload: { outboundId } }];
    }
    if (known.status === 'Draft') {
      const row = { ...known, status: 'Queued' as const, recipients: [recipient('new@three.test')], updatedAt: T0 + c };
      this.#outbound.set(outboundId, row);
      return outboundRecords(row, 'Draft', 'all', c % 2 === 0 ? null : undefined);
    }
    const [first, ...others] = known.recipients;
    const delivered = { ...first!, status: 'Delivered' as const, deliveredAt: T0 + c, statusCode: '2.0.0' };
    const copies = new Set([...this.#outbound.values()].map(({ emailId }) => emailId));
    const free = [...this.#emails.keys()].filter((id) => !copies.has(id));
    const row: OutboundRow = {
      ...known,
      status: 'Sent',
      nextRetryAt: null,
      sentAt: T0 + c,
      emailId: this.#pick(free, c) ?? known.emailId,
      recipients: [delivered, ...others],
    };
    this.#outbound.set(outboundId, row);
    const attempt = {
      id: newFolder().id,
      at: T0 + (c % 3),
      durationMs: 2,
      domain: 'two.test',
      host: 'mx.two.test',
      remoteAddress: '192.0.2.1',
      tls: null,
      reply: '250 OK',
      recipients: [{ id: first!.id, outcome: 'delivered' as const, statusCode: null }],
    };
    return [
      ...outboundRecords(row, known.status, [delivered.id]),
      { type: 'DeliveryAttempted', payload: { outboundId, attempt } },
    ];
  }
}

const some = <T>(others: readonly T[]) => (others.length === 0 ? {} : { others });

function script(a: number, b: number, c: number): ChangeContent[] {
  const name = `s${b % 4}`;
  if (a % 5 === 4)
    return [{ type: 'SieveKeyTracked', payload: { key: name, until: T0 + c, forgotten: [`s${c % 4}`] } }];
  if (a % 4 === 0) return [{ type: 'SieveScriptDeleted', payload: { name } }];
  if (a % 4 === 1) return [{ type: 'SieveScriptActivated', payload: { name: c % 3 === 0 ? null : name } }];
  return [{ type: 'SieveScriptStored', payload: { name, content: `# ${c} ä\r\nkeep;` } }];
}
