// The mailboxes of a node without a database: the real actor in its host, over stores in memory. The accounts are those of the tables.
// Nothing is delivered to other hosts, and there are no filters that wait for a body.
import pino from 'pino';
import { type MailboxActors, mailboxActorProtocol } from '../../../src/actors/mailbox/actor-protocol.js';
import { mailboxBehavior } from '../../../src/actors/mailbox/behavior.js';
import { storedHeader } from '../../../src/actors/mailbox/filters/filter-reads.js';
import type { MailboxEvent } from '../../../src/actors/mailbox/protocol.js';
import type { EmailTexts } from '../../../src/actors/mailbox/search/email-texts.js';
import { startSearchIndexing } from '../../../src/actors/mailbox/search/search-indexing.js';
import { createEventStreams } from '../../../src/actors/runtime/events/event-streams.js';
import { startHost } from '../../../src/actors/runtime/host.js';
import { createRefs } from '../../../src/actors/runtime/refs.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import type { MessageIndex } from '../../../src/mail-format/message-index.js';
import type { BlobStore } from '../../../src/store/blobs.js';
import { InlineMessages } from '../../../src/store/inline/inline-messages.js';
import type { MailboxStore } from '../../../src/store/mailboxes.js';
import { NO_OUTBOUND } from '../no-outbound.js';
import { fixedOwnership } from '../ownership.js';
import { memoryStores } from './stores.js';
import type { MemoryTables } from './tables.js';

const log = pino({ level: 'silent' });
const RETRY = { maxRetries: 5, baseMs: 60_000, capMs: 600_000 };

export interface MemoryMailboxes {
  readonly actors: MailboxActors;
  /** Another owner takes the mailboxes: they are loaded again. A test that changes the tables must call it. */
  reload(): void;
  readonly inlineMessages: InlineMessages;
  stop(): Promise<void>;
}

/** `textOf` returns the words of a body. `around` returns a store that replaces the one over the tables, which it may use. */
export async function startMemoryMailboxes(
  tables: MemoryTables,
  blobs: BlobStore,
  textOf: (index: MessageIndex, blob: string) => Promise<string>,
  around: (store: MailboxStore) => MailboxStore = (store) => store,
): Promise<MemoryMailboxes> {
  const { mailboxes, events, search } = memoryStores(tables, blobs);
  const store = around(mailboxes);
  let epoch = 1;
  const transport = localTransport({ encoding: true });
  const ownership = fixedOwnership(tables.shards, () => epoch);
  const text = async (blob: string) => {
    const index = await blobs.index(blob);
    return index === undefined ? '' : textOf(index, blob);
  };
  const texts: EmailTexts = {
    header: (blob) => storedHeader(blobs, blob),
    text: async (_, blob) => ({ text: await text(blob), extent: 'whole' }),
    longText: async (_, blob) => ({ text: await text(blob), extent: 'whole' }),
    searchable: (messages) =>
      Promise.all(messages.map(async ({ blob }) => ({ recipients: '', attachments: '', body: await text(blob) }))),
  };
  const inlineMessages = new InlineMessages(() => true);
  const indexing = startSearchIndexing({ store: search, texts, log });
  const host = startHost({
    behavior: mailboxBehavior({
      store,
      texts,
      search: { store: search, indexing, merging: { removed() {} } },
      ...NO_OUTBOUND,
      inlineMessages,
      blobs,
      outbound: { ...NO_OUTBOUND.outbound, retry: RETRY },
      log,
    }),
    transport,
    ownership,
    log,
    idleMs: 60_000,
    maxOctets: 1e9,
    sweepMs: 60_000,
    checked: true,
  });
  await host.acquired(ownership.owned);
  const streams = createEventStreams<MailboxEvent>({
    protocolName: mailboxActorProtocol.name,
    transport,
    ownership,
    log: events,
    logger: log,
  });
  return {
    actors: createRefs({ protocol: mailboxActorProtocol, transport, ownership, streams, host }),
    inlineMessages,
    reload: () => {
      epoch++;
    },
    async stop() {
      await indexing.stop();
      await host.stop();
    },
  };
}
