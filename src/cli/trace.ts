// `mansio trace ID | Message-ID | address`: the way of a message, with times: how it came in, its checks and folders, every attempt to deliver
// it, and what other servers replied. `trace-entries.ts` derives it from what the store has anyway.
import { type Command, InvalidArgumentError } from 'commander';
import { canonicalAddress } from '../mail-format/address.js';
import { isUuid } from '../mail-format/ids.js';
import type { DirectoryStore } from '../store/directory.js';
import { postgresTraces } from '../store/postgres/mailbox/traces.js';
import type { TracedAccount, TraceStore } from '../store/traces/traces.js';
import { CommandError, inert, reporting } from './output.js';
import { withStore } from './store.js';
import { blobsIn, entriesOf, idsIn, refusedEntry, type TraceEntry } from './trace-entries.js';

const MOST_ENTRIES = 1_000;
const MOST_MESSAGES = 200;
const MOST_TARGETS_NAMED = 10;

interface Found {
  readonly account: TracedAccount;
  readonly ids: readonly string[];
}

export function registerTrace(program: Command): void {
  const trace = program
    .command('trace')
    .description(
      'show what became of a message: by the id of an email, an outbound email or a transaction, by Message-ID, or by address',
    )
    .argument('<what>', 'an id, a Message-ID, or an address: then the newest messages of it')
    .option('--limit <number>', `at most this many messages of an address, ${MOST_MESSAGES} at the most`, limitOf, 10);
  reporting(
    trace,
    async (what: string, { limit }: { limit: number }) =>
      withStore(async ({ sql, directory }) => traceOf(postgresTraces(sql), directory, what.trim(), limit)),
    inWords,
  );
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_MESSAGES)
    throw new InvalidArgumentError(`It is a number from 1 to ${MOST_MESSAGES}.`);
  return limit;
}

async function traceOf(
  store: TraceStore,
  directory: Pick<DirectoryStore, 'routeOf'>,
  what: string,
  limit: number,
): Promise<readonly TraceEntry[]> {
  const entries = isUuid(what) ? await traceOfId(store, what.toLowerCase()) : await traceOfText(store, what, limit);
  if (entries.length === 0) throw new CommandError(await unknown(directory, what));
  // What came at the same time stays in the order of the log.
  return [...entries].sort((a, b) => a.at.localeCompare(b.at)).slice(-MOST_ENTRIES);
}

/** The mail of an alias is that of the addresses to which it leads. */
async function unknown({ routeOf }: Pick<DirectoryStore, 'routeOf'>, what: string): Promise<string> {
  const address = canonicalAddress(what);
  const route = address === undefined ? undefined : await routeOf(address);
  if (route === undefined || !('alias' in route)) return `nothing is known of ${what} (traces go back 30 days)`;
  const targets = route.targets.slice(0, MOST_TARGETS_NAMED);
  const more = route.targets.length > targets.length ? ` and ${route.targets.length - targets.length} more` : '';
  return `${what} has the alias ${route.alias}, whose mail goes to ${targets.join(', ')}${more}: trace these`;
}

async function traceOfId(store: TraceStore, id: string): Promise<readonly TraceEntry[]> {
  const found: Found[] = (await store.accountsOfId(id)).map((account) => ({ account, ids: [id] }));
  if (found.length === 0) {
    const ofTransaction = await store.emailsOfTransaction(id);
    found.push(...ofTransaction.map(({ account, emailId }) => ({ account, ids: [emailId] })));
  }
  const refused = await store.refusals({ transaction: id }, MOST_MESSAGES);
  return [...refused.map(refusedEntry), ...(await entriesOfFound(store, found))];
}

/** A text in angle brackets is a Message-ID; another one with an @ is one where mail has it, and otherwise an address. */
async function traceOfText(store: TraceStore, text: string, limit: number): Promise<readonly TraceEntry[]> {
  const messageId = /^<.*>$/.test(text) ? text : `<${text}>`;
  const ofMessage = await traceOfMessage(store, messageId);
  if (ofMessage.length > 0 || text === messageId) return ofMessage;
  const address = canonicalAddress(text);
  if (address === undefined) throw new CommandError(`neither an id nor a Message-ID nor an address: ${text}`);
  const account = await store.accountOfAddress(address);
  const found: Found[] =
    account === undefined
      ? (await store.correspondence(address, limit)).map(({ account: of, id }) => ({ account: of, ids: [id] }))
      : [{ account, ids: await store.newest(account.id, limit) }];
  const refused = await store.refusals({ address }, limit);
  return [...refused.map(refusedEntry), ...(await entriesOfFound(store, found))];
}

async function traceOfMessage(store: TraceStore, messageId: string): Promise<readonly TraceEntry[]> {
  const found: Found[] = [];
  for (const account of await store.accountsOfMessage(messageId)) {
    const ids = idsIn(await store.changes(account.id, [messageId]), messageId);
    found.push({ account, ids: [...new Set(ids)] });
  }
  const refused = await store.refusals({ messageId }, MOST_MESSAGES);
  return [...refused.map(refusedEntry), ...(await entriesOfFound(store, found))];
}

async function entriesOfFound(store: TraceStore, found: readonly Found[]): Promise<readonly TraceEntry[]> {
  const node = await store.onlyNode();
  const byAccount = new Map<string, { readonly account: TracedAccount; readonly ids: Set<string> }>();
  for (const { account, ids } of found) {
    const known = byAccount.get(account.id) ?? { account, ids: new Set<string>() };
    for (const id of ids) known.ids.add(id);
    byAccount.set(account.id, known);
  }
  const entries: TraceEntry[] = [];
  for (const { account, ids } of byAccount.values()) {
    if (ids.size === 0) continue;
    const changes = await store.changes(account.id, [...ids]);
    const headers = await store.headers([...new Set(blobsIn(changes, ids))]);
    const folders = await store.folders(account.id);
    entries.push(...entriesOf({ account, ids, changes, headers, folders, node }));
  }
  return entries;
}

/** A line for each entry: time, event, account, then the facts. */
function inWords(entries: readonly TraceEntry[]): string {
  return entries
    .map(({ at, node, event, account, ...facts }) => {
      const said = Object.entries({ ...(node !== null && { node }), ...facts })
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
      return inert([at, event.padEnd(9), account ?? '-', ...said].join('  '));
    })
    .join('\n');
}
