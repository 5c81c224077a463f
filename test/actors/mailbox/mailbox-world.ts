// Runs the mailbox actor on its own store for tests: accounts, mail that is spooled and delivered, and new owners.

import { createHash, randomUUID } from 'node:crypto';
import pino from 'pino';
import type { HostedDelivery } from '../../../src/actors/delivery/local-transport.js';
import { type MailboxActors, mailboxActorProtocol } from '../../../src/actors/mailbox/actor-protocol.js';
import { startBodyFiltering } from '../../../src/actors/mailbox/background/body-filters.js';
import { startFilterRunning } from '../../../src/actors/mailbox/background/filter-running.js';
import { mailboxBehavior } from '../../../src/actors/mailbox/behavior.js';
import { storedHeader } from '../../../src/actors/mailbox/filters/filter-reads.js';
import type { MailboxJunk } from '../../../src/actors/mailbox/junk/mailbox-junk.js';
import type { AccountQueue } from '../../../src/actors/mailbox/outbound/delivery-slots.js';
import type { MailboxEvent } from '../../../src/actors/mailbox/protocol.js';
import type { BodyText, StoredMessage } from '../../../src/actors/mailbox/search/email-texts.js';
import type { MailboxState } from '../../../src/actors/mailbox/state/state.js';
import { quotaNotices } from '../../../src/actors/quotas/quota-notices.js';
import { Quotas } from '../../../src/actors/quotas/quotas.js';
import { createEventStreams } from '../../../src/actors/runtime/events/event-streams.js';
import { createHost } from '../../../src/actors/runtime/host.js';
import { createRefs } from '../../../src/actors/runtime/refs.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { NO_SENDING_METER } from '../../../src/actors/sending/meter.js';
import { SendingLimits, type SendingLimitsOptions } from '../../../src/actors/sending/sending-limits.js';
import { sendingNotices } from '../../../src/actors/sending/sending-notices.js';
import type { SuddenChangeRule } from '../../../src/actors/sending/sudden-change.js';
import type { RetryPolicy } from '../../../src/machines/outbound-email/retry.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../src/mail-format/summary.js';
import { clock } from '../../../src/store/clock.js';
import { newId } from '../../../src/store/ids/new-id.js';
import type { InboundEnvelope } from '../../../src/store/inbound.js';
import { InlineMessages } from '../../../src/store/inline/inline-messages.js';
import type { LimitSetting } from '../../../src/store/limits/quotas.js';
import type { CommitResult, LocalDelivery, MailboxChange, MailboxStore } from '../../../src/store/mailboxes.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { postgresQuotas } from '../../../src/store/postgres/accounts/quotas.js';
import { postgresSending } from '../../../src/store/postgres/accounts/sending.js';
import { connect } from '../../../src/store/postgres/driver/client.js';
import { postgresBlobs } from '../../../src/store/postgres/mailbox/blobs.js';
import { postgresEvents } from '../../../src/store/postgres/mailbox/events.js';
import { postgresInbound } from '../../../src/store/postgres/mailbox/inbound.js';
import { postgresMailboxes } from '../../../src/store/postgres/mailbox/mailboxes.js';
import { migratedDatabase } from '../../support/database/embedded-database.js';
import { NO_DELIVERY_SLOTS } from '../../support/no-outbound.js';
import { NO_SEARCH } from '../../support/no-search.js';
import { fixedOwnership } from '../../support/ownership.js';

const log = pino({ level: 'silent' });

export interface Mail {
  readonly from?: string;
  readonly subject?: string;
  readonly body?: string;
  readonly messageId?: string;
  readonly inReplyTo?: string;
  readonly references?: readonly string[];
  /** Further lines of the header. */
  readonly fields?: readonly string[];
}

type More = Pick<InboundEnvelope, 'isJunk' | 'isContentJunk' | 'isAuthorProven' | 'sender' | 'bounce'> & {
  readonly recipient?: string;
  readonly onward?: { readonly targets: string[]; readonly isPlaced: boolean };
};

/** Limits of accounts and domains without a setting, the rule about sudden changes, and the junk filter; none by default. */
interface WorldLimits {
  readonly limits?: SendingLimitsOptions['defaults'];
  readonly rule?: SuddenChangeRule;
  /** Absent: no mail is judged by its words. */
  readonly junk?: MailboxJunk;
}

const NO_LIMITS = { account: { hour: null, day: null }, domain: { hour: null, day: null } };
const NO_RULE = { strangers: 0, refused: 0 };

export type MailboxWorld = Awaited<ReturnType<typeof mailboxWorld>>;

export async function mailboxWorld(
  retry: RetryPolicy = { maxRetries: 2, baseMs: 60_000, capMs: 600_000 },
  { limits = NO_LIMITS, rule = NO_RULE, junk }: WorldLimits = {},
) {
  const database = await migratedDatabase();
  const sql = connect(database.address, { max: 8, applicationName: 'test' });
  const writerSql = connect(database.address, { max: 4, applicationName: 'test', byKey: true });
  const directory = postgresDirectory(sql, 1);
  const inbound = postgresInbound(sql, writerSql);
  const events = postgresEvents(sql);
  let epoch = 1;
  const transport = localTransport({ encoding: true });
  const ownership = fixedOwnership(1, () => epoch);
  const stored = postgresMailboxes(sql, writerSql);
  const commits: MailboxChange[] = [];
  const commit: { by(change: MailboxChange, commit: () => Promise<CommitResult>): Promise<CommitResult> } = {
    by: (_, commit) => commit(),
  };
  const readings = { threads: 0 };
  const store: MailboxStore = {
    ...stored,
    threads(accountId) {
      readings.threads++;
      return stored.threads(accountId);
    },
    async commit(change) {
      const result = await commit.by(change, () => stored.commit(change));
      if (result.kind === 'committed') commits.push(change);
      return result;
    },
  };
  const states = new Map<string, MailboxState>();
  const bodies = new Map<string, string>();
  const blobs = postgresBlobs(sql);
  const texts = {
    fault: undefined as Error | undefined,
    /** The fault of bodies that are read after their delivery. */
    longFault: undefined as Error | undefined,
    /** Bodies are not decoded. */
    isUndecoded: false,
    /** The maximum of characters of a body that are read at its delivery (`most`), and later (`mostLong`). */
    most: Number.POSITIVE_INFINITY,
    mostLong: Number.POSITIVE_INFINITY,
    asked: 0,
    read(blob: string, most: number): BodyText {
      texts.asked++;
      if (texts.fault !== undefined) throw texts.fault;
      const body = bodies.get(blob) ?? '';
      const extent = texts.isUndecoded ? 'undecoded' : body.length > most ? 'start' : 'whole';
      return { text: body.slice(0, most), extent };
    },
    async header(blob: string) {
      if (texts.fault !== undefined) throw texts.fault;
      return storedHeader(blobs, blob);
    },
    text: async (_: string, blob: string) => texts.read(blob, texts.most),
    async longText(_: string, blob: string) {
      if (texts.longFault !== undefined) throw texts.longFault;
      return texts.read(blob, texts.mostLong);
    },
    async searchable(messages: readonly StoredMessage[]) {
      return messages.map(() => ({ recipients: '', attachments: '', body: '' }));
    },
  };
  const noted: string[] = [];
  const deliverySlots = { port: NO_DELIVERY_SLOTS };
  /** A test may replace these; by default nothing is hosted, and local mail is not placed. */
  const inside: { hosted: HostedDelivery; queue: AccountQueue; deliverLocally(delivery: LocalDelivery): void } = {
    queue: { shards: [0], waiting: new Map() },
    hosted: async () => undefined,
    deliverLocally() {},
  };
  const outbound = {
    retry,
    wakeQueue: (_: string, outboundId: string) => void noted.push(outboundId),
    reserve: (accountId: string, wanted: number) => deliverySlots.port.reserve(accountId, wanted),
    queueOf: () => inside.queue,
    hosted: (task: Parameters<HostedDelivery>[0]) => inside.hosted(task),
    deliverLocally: (delivery: LocalDelivery) => inside.deliverLocally(delivery),
  };
  const inlineMessages = new InlineMessages(() => true);
  const host = createHost({
    protocol: mailboxActorProtocol,
    transport,
    ownership,
    log,
    idleMs: 60_000,
    maxOctets: 1e9,
    sweepMs: 60_000,
    checked: true,
  });
  const streams = createEventStreams<MailboxEvent>({
    protocolName: 'mailbox',
    transport,
    ownership,
    log: events,
    logger: log,
  });
  const mailboxes: MailboxActors = createRefs({ protocol: mailboxActorProtocol, transport, ownership, streams, host });
  const quotaStore = postgresQuotas(sql);
  const about = { store: quotaStore, log, now: () => clock.now() };
  const postmasterOf = async (domain: string) => (await directory.ownerOf(`postmaster@${domain}`))?.accountId;
  const written = quotaNotices({ ...about, postmasterOf, blobs, mailboxes, hostname: 'mx.test', newId });
  const notices = { areSent: false };
  const quotas = new Quotas({
    ...about,
    defaults: { bytes: null, messages: null },
    notify: async (quota, limit) => {
      if (notices.areSent) await written.notify(quota, limit);
    },
    notifyOfDomain: written.notifyOfDomain,
  });
  await quotas.start();
  const sendingStore = postgresSending(sql);
  const sending = new SendingLimits({
    store: sendingStore,
    defaults: limits,
    rule,
    notices: sendingNotices({
      postmasterOf,
      blobs,
      mailboxes,
      hostname: 'mx.test',
      newId,
      now: () => clock.now(),
      log,
    }),
    meter: NO_SENDING_METER,
    log,
    now: () => clock.now(),
  });
  const unwatch = await directory.watch((change) => sending.changed(change));
  const bodyFilters = startBodyFiltering({ texts, mailboxes, log, retryMs: 10 });
  const filterRuns = startFilterRunning({ texts, mailboxes, log, retryMs: 10 });
  /** Accounts with due automatic mail, in the order of the commits. */
  const automaticDue: string[] = [];
  /** The numbers of messages that are not sent on because too much is due. */
  const automaticKept: number[] = [];
  const behavior = mailboxBehavior({
    store,
    texts,
    search: NO_SEARCH,
    bodyFilters,
    filterRuns,
    automaticMail: {
      note: (accountId) => void automaticDue.push(accountId),
      kept: (_, count) => void automaticKept.push(count),
    },
    junk,
    inlineMessages,
    blobs,
    outbound,
    quotas,
    sending,
    log,
  });
  host.start({
    ...behavior,
    async load(accountId, epoch) {
      const loaded = await behavior.load(accountId, epoch);
      if (loaded.kind === 'loaded') states.set(accountId, loaded.state);
      return loaded;
    },
  });
  await host.acquired(ownership.owned);
  let number = 0;

  async function spool(accountIds: readonly string[], receivedAt: number, mail: Mail = {}) {
    number++;
    const { from = 'a@b.test', subject = `mail ${number}`, body = 'hello', messageId = `<${number}@b>` } = mail;
    const lines = [
      ...(mail.fields ?? []),
      `From: A <${from}>`,
      `Subject: ${subject}`,
      `Message-ID: ${messageId}`,
      `X-Number: ${number}`,
    ];
    if (mail.inReplyTo !== undefined) lines.push(`In-Reply-To: ${mail.inReplyTo}`);
    if (mail.references !== undefined) lines.push(`References: ${mail.references.join(' ')}`);
    const raw = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
    const index = indexMessage(raw);
    const hash = createHash('sha256').update(raw).digest('hex');
    bodies.set(hash, body);
    const deliveries = accountIds.map((accountId) => ({ accountId, id: randomUUID() }));
    const summary = summarize(index);
    await inbound.spool({ hash, size: raw.length, index, chunks: () => [raw] }, { receivedAt, summary }, deliveries);
    return deliveries.map(({ id: inboundId, accountId }) => ({
      deliver: (more: More = {}) =>
        mailboxes.of(accountId).ask('deliver', { inboundId, blob: hash, receivedAt, summary, ...more }),
      subject: summary.subject,
      blob: hash,
    }));
  }

  const stopBackground = () => Promise.all([bodyFilters.stop(), filterRuns.stop()]);

  return {
    sql,
    directory,
    mailboxes,
    store,
    /** A test may make commits fail. */
    commit,
    inbound,
    quotas,
    quotaStore,
    sending,
    sendingStore,
    /** Whether users are told that their mailbox is nearly full; a notice is an email more. */
    notices,
    /** Sets a limit, which counts from the next command on. */
    async limit(accountId: string, setting: LimitSetting) {
      await quotaStore.setAccount(accountId, setting);
      quotas.changed({ kind: 'quotas' });
    },
    events,
    texts,
    spool,
    inlineMessages,
    blobs,
    /** The changes of all accounts that the store has committed, in order. */
    /** How often all threads of a mailbox were read. */
    readings,
    commits,
    /** Returns the state of an account's actor. */
    stateOf: (accountId: string) => states.get(accountId)!,
    /** Ids of outbound emails for which a wake-up was sent. */
    noted,
    automaticDue,
    automaticKept,
    /** Assigns slots to deliveries that begin with the commit of their email; none unless a test replaces it. */
    deliverySlots,
    inside,
    /** From now on, what waits for a part of a message or for a run waits. */
    stopBackground,
    /** Another owner loads the state again. */
    reload: () => {
      epoch++;
    },
    async end() {
      await stopBackground();
      await unwatch();
      await Promise.all([quotas.stop(), sending.stop()]);
      await host.stop();
      await writerSql.end();
      await sql.end();
      await database.drop();
    },
  };
}

/** Every email in Drafts has its draft, of the same message, and every draft its email. */
export async function checkDrafts(world: MailboxWorld, t: { deepEqual(a: unknown, b: unknown): void }, id: string) {
  const apart = await world.sql`
    select o.id as draft, e.email_id as email from (
      select id, sent_email_id, blob from outbound where account_id = ${id} and status = 'Draft') o
    full join (select p.email_id, e.blob from placements p
      join folders f on f.account_id = p.account_id and f.id = p.folder_id and f.role = 'drafts'
      join emails e on e.account_id = p.account_id and e.id = p.email_id where p.account_id = ${id}) e
      on e.email_id = o.sent_email_id and e.blob = o.blob
    where o.id is null or e.email_id is null`;
  t.deepEqual([...apart], []);
}

/** Compares the store's counters, and what the account uses, with its rows. */
export async function checkRows(world: MailboxWorld, t: { deepEqual(a: unknown, b: unknown): void }, id: string) {
  const counters = await world.sql`
    select f.role, f.total, f.unread, count(p.uid)::int as placed,
      (count(p.uid) filter (where e.flags & 1 = 0))::int as unseen,
      coalesce(max(p.uid), 0) < f.uidnext as rising
    from folders f left join placements p on p.account_id = f.account_id and p.folder_id = f.id
      left join emails e on e.account_id = p.account_id and e.id = p.email_id
    where f.account_id = ${id} group by f.account_id, f.id`;
  for (const row of counters)
    t.deepEqual([row['placed'], row['unseen'], row['rising']], [row['total'], row['unread'], true]);
  const [usage] = await world.sql`
    select a.modseq::float8 as modseq, a.used_bytes::float8 as bytes, a.used_messages::float8 as messages,
      coalesce(sum(e.size), 0)::float8 as octets, count(e.id)::float8 as emails
    from accounts a left join emails e on e.account_id = a.id where a.id = ${id} and a.used_modseq = a.modseq group by a.id`;
  // An account without a commit has no use yet.
  if (usage !== undefined) {
    t.deepEqual([usage['bytes'], usage['messages']], [usage['octets'], usage['emails']]);
    const state = world.stateOf(id);
    if (state?.modseq === usage['modseq'])
      t.deepEqual(state.emails.usage, { bytes: usage['bytes'], messages: usage['messages'] });
  }
  const [rest] = await world.sql`
    select (select count(*)::int from inbound where account_id = ${id}) as inbound,
      (select count(*)::int from emails e where account_id = ${id} and not exists (
        select 1 from placements p where p.account_id = e.account_id and p.email_id = e.id)) as homeless,
      (select count(*)::int from expunged x join placements p using (account_id, folder_id)
        where account_id = ${id} and p.uid between x.uid and coalesce(x.last_uid, x.uid)) as undead`;
  t.deepEqual({ ...rest }, { inbound: 0, homeless: 0, undead: 0 });
}
