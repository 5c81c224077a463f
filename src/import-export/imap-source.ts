// Reads messages from an IMAP server (RFC 9051), mailbox by mailbox in the order of their UIDs. The last imported UID of each
// mailbox is stored, so a repeated import fetches only new messages. A broken connection is opened again.
import { setTimeout as delay } from 'node:timers/promises';
import { type FetchMessageObject, ImapFlow, type ListResponse } from 'imapflow';
import { placesOf, type SpecialFolder } from './folder-places.js';
import type { ImapServer } from './imap-server.js';
import { type MailSource, MOST_OCTETS, type SourceItem } from './source.js';

/** One FETCH reads at most this many octets and messages; a larger message is fetched alone. */
const CHUNK_OCTETS = 4 * 1024 * 1024;
const CHUNK_MESSAGES = 200;
/** After this many connections in a row without a result, the import gives up. */
const MOST_ATTEMPTS = 5;
const RETRY_MS = 500;
const SOCKET_TIMEOUT_MS = 60_000;
/** Octets of a line. The responses that an import needs are far shorter; an endless line would fill the memory. */
const MOST_LINE_OCTETS = 1024 * 1024;

const SPECIAL: Readonly<Record<string, SpecialFolder>> = {
  '\\Inbox': 'INBOX',
  '\\Sent': 'Sent',
  '\\Drafts': 'Drafts',
  '\\Archive': 'Archive',
  '\\Trash': 'Trash',
  '\\Junk': 'Junk',
  '\\All': 'Archive',
};
/** Mailboxes that show messages of others a second time, and those that hold none. */
const PASSED_OVER = ['\\Flagged', '\\Important', '\\Noselect', '\\NonExistent'];

interface Mailbox {
  readonly path: string;
  /** The folder that the messages go to. */
  readonly folder: string;
  /** The mailbox shows all messages of the account a second time (RFC 6154, `\All`). */
  readonly isCopy: boolean;
  readonly count: number;
}

interface Message {
  readonly uid: number;
  readonly size: number;
}

/** The position that an import of a mailbox has reached. */
interface Reached {
  readonly uidValidity: number;
  readonly uid: number;
}

/** Connects to the server. @throws Error with the server's words when it refuses */
export async function imapSource(
  server: ImapServer,
  position: (source: string) => Promise<Reached | undefined>,
): Promise<MailSource> {
  let client = await connected(server);
  const mailboxes = await mailboxesOf(client, server);
  const progress = { done: 0, total: mailboxes.reduce((sum, { count }) => sum + count, 0) };

  /** Runs `work` on the open mailbox, and repeats it on a new connection when the connection breaks. */
  async function onMailbox<T>(path: string, work: (uidValidity: number, exists: number) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        if (!client.usable) client = await connected(server);
        const mailbox = client.mailbox;
        const { uidValidity, exists } =
          mailbox !== false && mailbox.path === path ? mailbox : await client.mailboxOpen(path, { readOnly: true });
        return await work(Number(uidValidity), exists);
      } catch (error) {
        const isBroken = !client.usable;
        client.close();
        if (!isBroken || attempt >= MOST_ATTEMPTS || error instanceof LoginRefused) throw explained(error);
        await delay(RETRY_MS * attempt);
      }
    }
  }

  async function* itemsOf({ path, folder, isCopy }: Mailbox): AsyncGenerator<SourceItem, void> {
    const source = `${storable(server.name)}/${storable(path)}`;
    const before = await position(source);
    const { uidValidity, exists, messages } = await onMailbox(path, async (uidValidity, exists) => {
      const first = before?.uidValidity === uidValidity ? before.uid + 1 : 1;
      return { uidValidity, exists, messages: exists === 0 ? [] : await messagesFrom(client, first) };
    });
    const taken = Math.max(0, exists - messages.length);
    progress.done += taken;
    yield { kind: 'skip', count: taken };
    let isWhole = true;
    for (const chunk of chunksOf(messages)) {
      const fetched = await onMailbox(path, async (now) => {
        if (now !== uidValidity) throw new Error(`${path} has been created again meanwhile: run the import again`);
        return fetchAll(client, path, chunk);
      });
      for (const { uid, size } of chunk) {
        const item = itemOf(`${path}, UID ${uid}`, folder, isCopy, size, fetched.get(uid));
        progress.done++;
        if (item === undefined) continue;
        isWhole &&= item.kind === 'message';
        yield item;
      }
      // The next run tries again what failed.
      if (isWhole) yield { kind: 'checkpoint', source, uidValidity, uid: chunk.at(-1)!.uid };
    }
  }

  async function* items(): AsyncGenerator<SourceItem, void> {
    try {
      for (const mailbox of mailboxes) yield* itemsOf(mailbox);
      if (client.usable) await client.logout();
    } finally {
      client.close();
    }
  }

  return { items, progress };
}

/** Returns a name that the store can keep: a text with NUL or half a surrogate pair is escaped. */
const storable = (name: string): string => (/[\0\p{Cs}]/u.test(name) ? JSON.stringify(name) : name);

async function connected({ host, port, isSecure, isLax, user, password, token }: ImapServer): Promise<ImapFlow> {
  const secret = token === undefined ? { pass: password } : { accessToken: await token() };
  const client = new ImapFlow({
    host,
    port,
    secure: isSecure,
    // Without TLS anyone could read the password, so a server that offers none is refused.
    ...(!isSecure && !isLax && { doSTARTTLS: true }),
    auth: { user, ...secret },
    tls: { rejectUnauthorized: !isLax },
    logger: false,
    disableAutoIdle: true,
    socketTimeout: SOCKET_TIMEOUT_MS,
    maxLiteralSize: MOST_OCTETS + 1,
    maxLineLength: MOST_LINE_OCTETS,
    maxResponseSize: MOST_OCTETS + 2 * MOST_LINE_OCTETS,
    clientInfo: { name: 'Mansio' },
  });
  // The command that a connection error breaks reports the error.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    client.close();
    throw explained(error);
  }
  return client;
}

/** Another attempt would only make the server block the account. */
class LoginRefused extends Error {
  override readonly name = 'LoginRefused';
}

function explained(error: unknown): Error {
  if (error instanceof LoginRefused) return error;
  const { message, responseText, authenticationFailed } = error as Error & {
    readonly responseText?: string;
    readonly authenticationFailed?: boolean;
  };
  if (authenticationFailed === true)
    return new LoginRefused(`the IMAP server refuses the login: ${responseText ?? message}`);
  const words = responseText === undefined ? message : `${message} (${responseText})`;
  return new Error(`the IMAP server: ${words}`, { cause: error });
}

/** Returns the mailboxes in the order of the server; those that repeat messages of others come last. */
async function mailboxesOf(client: ImapFlow, { folder: wanted }: ImapServer): Promise<readonly Mailbox[]> {
  const listed = (await client.list({ statusQuery: { messages: true } })).filter(
    ({ flags, path, delimiter }) =>
      !hasFlag(flags, PASSED_OVER) &&
      (wanted === undefined || path === wanted || path.startsWith(`${wanted}${delimiter}`)),
  );
  if (wanted !== undefined && listed.length === 0) throw new Error(`the server has no mailbox ${wanted}`);
  const prefix = client.namespace?.prefix ?? '';
  const folders = placesOf(listed.map((entry) => ({ levels: levelsOf(entry, prefix), special: specialOf(entry) })));
  const mailboxes = listed.map(({ path, flags, status }, i) => ({
    path,
    folder: folders[i]!,
    isCopy: hasFlag(flags, ['\\All']),
    count: status?.messages ?? 0,
  }));
  return mailboxes.sort((a, b) => Number(a.isCopy) - Number(b.isCopy));
}

const hasFlag = (flags: ReadonlySet<string>, names: readonly string[]): boolean =>
  [...flags].some((flag) => names.some((name) => name.toLowerCase() === flag.toLowerCase()));

/** Returns the role that the server states; a guess that the library makes from the name does not count. */
function specialOf({ path, specialUse, specialUseSource }: ListResponse): SpecialFolder | undefined {
  if (path.toLowerCase() === 'inbox') return 'INBOX';
  return specialUse !== undefined && specialUseSource === 'extension' ? SPECIAL[specialUse] : undefined;
}

/** Removes the prefix of the user's own mailboxes, such as `INBOX.`. */
function levelsOf({ path, delimiter }: ListResponse, prefix: string): readonly string[] {
  const own =
    prefix !== '' && path.length > prefix.length && path.startsWith(prefix) ? path.slice(prefix.length) : path;
  return delimiter === '' ? [own] : own.split(delimiter);
}

/** Returns the messages by ascending UID. */
async function messagesFrom(client: ImapFlow, first: number): Promise<readonly Message[]> {
  const messages: Message[] = [];
  // `n:*` names the last message even when its UID is lower.
  for await (const { uid, size = 0 } of client.fetch(`${first}:*`, { uid: true, size: true }, { uid: true })) {
    if (uid >= first) messages.push({ uid, size });
  }
  return messages.sort((a, b) => a.uid - b.uid);
}

function* chunksOf(messages: readonly Message[]): Generator<readonly Message[], void> {
  let chunk: Message[] = [];
  let octets = 0;
  for (const message of messages) {
    const isFull = chunk.length >= CHUNK_MESSAGES || octets + message.size > CHUNK_OCTETS;
    if (chunk.length > 0 && isFull) {
      yield chunk;
      chunk = [];
      octets = 0;
    }
    chunk.push(message);
    octets += message.size;
  }
  if (chunk.length > 0) yield chunk;
}

/**
 * @throws Error when the server sends far more than it announced: a whole chunk is in memory, so it is limited to the size of one
 * message
 */
async function fetchAll(
  client: ImapFlow,
  path: string,
  chunk: readonly Message[],
): Promise<ReadonlyMap<number, FetchMessageObject>> {
  const uids = chunk.filter(({ size }) => size <= MOST_OCTETS).map(({ uid }) => uid);
  const found = new Map<number, FetchMessageObject>();
  if (uids.length === 0) return found;
  const wanted = new Set(uids);
  const query = { uid: true, flags: true, internalDate: true, source: true };
  let octets = 0;
  for await (const message of client.fetch(uids.join(), query, { uid: true })) {
    if (!wanted.has(message.uid)) continue;
    octets += message.source?.length ?? 0;
    if (octets > MOST_OCTETS)
      throw new Error(
        `${path}, UID ${uids[0]} to ${uids.at(-1)}: more than ${MOST_OCTETS} octets, and other sizes were announced`,
      );
    found.set(message.uid, message);
  }
  return found;
}

/** Returns undefined when the message was deleted meanwhile. */
function itemOf(
  where: string,
  folder: string,
  isCopy: boolean,
  size: number,
  fetched: FetchMessageObject | undefined,
): SourceItem | undefined {
  if (size > MOST_OCTETS) return { kind: 'failure', where, problem: `larger than ${MOST_OCTETS} octets` };
  if (fetched === undefined) return undefined;
  const { source, flags = new Set<string>(), internalDate } = fetched;
  if (source === undefined || source.length === 0) return { kind: 'failure', where, problem: 'empty' };
  const date = internalDate === undefined ? Number.NaN : new Date(internalDate).getTime();
  const receivedAt = Number.isNaN(date) ? undefined : date;
  return { kind: 'message', where, folder, bytes: source, receivedAt, flags: [...flags], isCopy };
}
