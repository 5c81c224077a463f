// Runs live queries over real mailboxes in memory, and gives REST's answers to the same queries.
import pino from 'pino';
import type { Mailboxes } from '../../../../src/actors/mailbox/protocol.js';
import { pageOf } from '../../../../src/gateways/http/routes/emails/email-shapes.js';
import { liveLists } from '../../../../src/gateways/http/routes/emails/live-lists.js';
import { HUB_LIMITS, type HubLimits } from '../../../../src/gateways/hub/limits.js';
import { LiveQueries } from '../../../../src/gateways/hub/live-queries/live-queries.js';
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../../src/mail-format/summary.js';
import { ALICE, FakeBlobs } from '../../http/fakes.js';
import { startMailboxes } from '../../http/mailboxes.js';
import { ListClient } from './list-client.js';

export type ListsWorld = Awaited<ReturnType<typeof listsWorld>>;

export const PAUSE_OCTETS = 1_000;
const PAGE = { page: 1, pageSize: 20 };

export interface Mail {
  readonly folder?: string;
  readonly subject?: string;
  readonly receivedAt?: number;
  readonly flags?: readonly string[];
  readonly messageId?: string;
  readonly references?: readonly string[];
}

/** `wrap` puts a layer between the live queries and the mailboxes. */
export async function listsWorld(
  limits: Partial<HubLimits> = {},
  wrap: (mailboxes: Mailboxes) => Mailboxes = (mailboxes) => mailboxes,
) {
  const blobs = new FakeBlobs();
  const mailboxes = await startMailboxes(blobs);
  mailboxes.account(ALICE);
  const mailbox = mailboxes.refs.of(ALICE);
  const refreshes: ('done' | 'failed')[] = [];
  const queries = new LiveQueries({
    meter: { sent: () => {}, listsRead: (outcome) => void refreshes.push(outcome) },
    mailboxes: wrap(mailboxes.refs),
    language: liveLists,
    log: pino({ level: 'silent' }),
    pauseBytes: PAUSE_OCTETS,
    limits: { ...HUB_LIMITS, ...limits },
  });
  const ids: string[] = [];
  let number = 0;

  async function append({ folder = 'inbox', receivedAt, flags = [], references = [], ...mail }: Mail = {}) {
    number++;
    const { subject = `mail ${number}`, messageId = `<${number}@remote.test>` } = mail;
    const raw = Buffer.from(
      [
        'From: Ann <ann@remote.test>',
        `Subject: ${subject}`,
        `Message-ID: ${messageId}`,
        ...(references.length > 0 ? [`References: ${references.join(' ')}`] : []),
        '',
        `text ${number}`,
      ].join('\r\n'),
    );
    const index = indexMessage(raw);
    const blob = blobs.add(raw, index);
    const summary = summarize(index);
    const message = {
      blob,
      summary,
      receivedAt: receivedAt ?? Date.UTC(2026, 0, 1) + number * 1_000,
      flags: [...flags],
    };
    const { reply } = await mailbox.ask('append', { folderId: folder, messages: [message] });
    const id = reply?.emails[0]?.emailId;
    if (id !== undefined) ids.push(id);
    return id;
  }

  /** Returns what REST lists, in the shape of a subscription's list, or the refusal. */
  async function rest(query: unknown) {
    const read = liveLists.read(query);
    if ('error' in read) return { refusal: read.error };
    const { list, search, thread } = read.query;
    if (thread !== undefined) return restThread(thread);
    if (list === undefined && search === undefined) return { items: [], total: 0, unread: 0 };
    const outcome = list !== undefined ? await mailbox.ask('list', list) : await mailbox.ask('search', search!);
    if (outcome.reply === undefined) return { refusal: outcome.refusal };
    const encoded = pageOf(outcome.reply, PAGE);
    const page: typeof encoded.of = JSON.parse(encoded.text);
    const { items, totalCount: total, unreadCount: unread } = page;
    return { items, total, unread };
  }

  /** REST shows a thread with whole emails, so the items are taken from the lists of the folders. */
  async function restThread({ threadId, page, pageSize }: { threadId: string; page: number; pageSize: number }) {
    const { reply } = await mailbox.ask('thread', { threadId, page, pageSize });
    const all = await mailbox.ask('thread', { threadId });
    if (reply === undefined || all.reply === undefined) return { refusal: 'noSuchThread' };
    const shown = new Map<string, unknown>();
    for (const folder of (await mailbox.ask('folders', {})).reply!.folders) {
      const found = await mailbox.ask('list', { folder: folder.id, page: 1, pageSize: 1_000 });
      for (const item of found.reply!.items) shown.set(item.id, liveLists.shown(item));
    }
    const unread = all.reply.emails.filter(({ isRead }) => !isRead).length;
    return { items: reply.emails.map(({ id }) => shown.get(id)), total: reply.total, unread };
  }

  return {
    mailboxes,
    mailbox,
    queries,
    /** Outcomes of the refreshes so far. */
    refreshes,
    accountId: ALICE,
    /** Ids of the appended emails. */
    ids,
    append,
    rest,
    connect: () => new ListClient(ALICE, queries.methods),
    end: () => mailboxes.end(),
  };
}
