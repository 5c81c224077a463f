// Starts mailboxes on a real store whose texts the test gives, for tests of what searches find.
import { createHash, randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import { mailboxBehavior } from '../../../../src/actors/mailbox/behavior.js';
import { mailboxProtocol } from '../../../../src/actors/mailbox/protocol.js';
import type { StoredMessage } from '../../../../src/actors/mailbox/search/email-texts.js';
import { startSearchIndexing } from '../../../../src/actors/mailbox/search/search-indexing.js';
import { startSearchMerging } from '../../../../src/actors/mailbox/search/search-merging.js';
import { startHost } from '../../../../src/actors/runtime/host.js';
import { createRefs } from '../../../../src/actors/runtime/refs.js';
import { localTransport } from '../../../../src/actors/runtime/transport/transport-local.js';
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../../src/mail-format/summary.js';
import { searchTerms } from '../../../../src/mail-format/words/search-text.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { postgresInbound } from '../../../../src/store/postgres/mailbox/inbound.js';
import { postgresMailboxes } from '../../../../src/store/postgres/mailbox/mailboxes.js';
import { postgresSearch } from '../../../../src/store/postgres/search/search.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import { NO_OUTBOUND } from '../../../support/no-outbound.js';
import { fixedOwnership } from '../../../support/ownership.js';

const log = pino({ level: 'silent' });
/** In ms. A busy machine may need this long. */
const PATIENCE_MS = 300_000;

export interface Mail {
  readonly subject?: string;
  readonly from?: string;
  readonly name?: string;
  readonly body?: string;
  readonly receivedAt?: number;
  readonly attachment?: boolean;
  readonly recipients?: string;
  /** Fields of the header. */
  readonly to?: string;
  readonly cc?: string;
  readonly files?: string;
}

export async function setUp(t: ExecutionContext, { quietMs = 60_000, searchWaitMs = 60_000, memoryOctets = 1e9 } = {}) {
  const database = await migratedDatabase(t);
  const sql = connect(database.address, { max: 8, applicationName: 'test' });
  const writerSql = connect(database.address, { max: 4, applicationName: 'test', byKey: true });
  const directory = postgresDirectory(sql, 1);
  const inbound = postgresInbound(sql, writerSql);
  const store = postgresMailboxes(sql, writerSql);
  const merging = startSearchMerging({ store: postgresSearch(writerSql, { memoryOctets }), log });
  const search = merging.store;
  const bodies = new Map<string, string>();
  const gate = { open: Promise.resolve() };
  const names = new Map<string, { recipients: string; attachments: string }>();
  const texts = {
    header: async () => Promise.reject(new Error('no filter is here')),
    text: async () => Promise.reject(new Error('no filter is here')),
    longText: async () => Promise.reject(new Error('no filter is here')),
    searchable: async (messages: readonly StoredMessage[]) => {
      await gate.open;
      return messages.map(({ blob }) => {
        return { recipients: '', attachments: '', ...names.get(blob), body: bodies.get(blob) ?? '' };
      });
    },
  };
  const indexing = startSearchIndexing({ store: search, texts, log, quietMs, searchWaitMs });
  let epoch = 1;
  const transport = localTransport({ encoding: true });
  const ownership = fixedOwnership(1, () => epoch);
  const behavior = mailboxBehavior({
    store,
    texts,
    search: { store: search, indexing, merging },
    ...NO_OUTBOUND,
    log,
  });
  const host = startHost({
    behavior,
    transport,
    ownership,
    log,
    idleMs: 60_000,
    maxOctets: 1e9,
    sweepMs: 60_000,
    checked: true,
  });
  await host.acquired(ownership.owned);
  const mailboxes = createRefs({ protocol: mailboxProtocol, transport, ownership, streams: {} as never });
  const mailbox = (accountId: string) => {
    const ref = mailboxes.of(accountId);
    const ask = ((name, payload) => ref.ask(name, payload, { deadlineMs: PATIENCE_MS })) as typeof ref.ask;
    return { ask };
  };
  t.teardown(async () => {
    await host.stop();
    await indexing.stop();
    await merging.stop();
    await writerSql.end();
    await sql.end();
  });

  async function deliver(accountId: string, mail: Mail): Promise<string> {
    const { to = '', cc = '' } = mail;
    const raw = Buffer.from(`Subject: x\r\nTo: ${to}\r\nCc: ${cc}\r\nMessage-ID: <${randomUUID()}@b>\r\n\r\n`);
    const index = indexMessage(raw);
    const hash = createHash('sha256').update(raw).digest('hex');
    bodies.set(hash, mail.body ?? '');
    names.set(hash, { recipients: mail.recipients ?? '', attachments: mail.files ?? '' });
    const inboundId = randomUUID();
    const receivedAt = mail.receivedAt ?? 1_000;
    const summary = {
      ...summarize(index),
      references: [],
      subject: mail.subject ?? '',
      fromAddress: mail.from ?? 'a@b.test',
      fromName: mail.name ?? '',
      hasAttachments: mail.attachment ?? false,
    };
    const delivery = { accountId, id: inboundId };
    await inbound.spool({ hash, size: raw.length, index, chunks: () => [raw] }, { receivedAt, summary }, [delivery]);
    const { reply } = await mailbox(accountId).ask('deliver', { inboundId, blob: hash, receivedAt, summary });
    return reply!.emailId!;
  }

  async function find(accountId: string, q: string, more: object = {}) {
    const terms = searchTerms(q).map(({ words, prefix }) => ({ words: [...words], prefix }));
    const { reply } = await mailbox(accountId).ask('search', { terms, page: 1, pageSize: 100, ...more });
    return reply!;
  }

  return {
    sql,
    search,
    gate,
    deliver,
    find,
    mailbox,
    account: async () => (await directory.createAccount(`${randomUUID()}@example.test`, 'Search')).id,
    deleteAccount: (id: string) => directory.deleteAccount(id),
    /** Another owner loads the state again. */
    reload: () => void epoch++,
    async found(accountId: string, q: string, more: object = {}) {
      return (await find(accountId, q, more)).items.map(({ subject }) => subject);
    },
  };
}
