// Defines what two clients of one account do over IMAP, REST, POP3 and submission, and what each operation may remove and must add.
// Numbers choose an operation from what the account holds at its time.

import net from 'node:net';
import { createTransport } from 'nodemailer';
import { port, type TestAccount } from '../../../dev/node-accounts.js';
import type { Sql } from '../../../src/store/postgres/driver/client.js';
import { ImapClient, Literal } from '../../gateways/imap/client.js';
import { Pop3Client } from '../../gateways/pop3/client.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { Closed } from '../../support/clients/octet-client.js';
import type { TestNode } from '../../support/node.js';
import { until } from '../../support/until.js';

export interface StoredEmail {
  readonly folderId: string;
  readonly path: string;
  readonly role: string;
  readonly uid: number;
  readonly isDeleted: boolean;
  readonly emailId: string;
  readonly subject: string;
  readonly messageId: string | null;
  readonly origin: string | null;
}

export interface Folder {
  readonly id: string;
  readonly path: string;
  readonly role: string;
}

/** The effect that an operation announces. */
export interface Effect {
  readonly isOk: boolean;
  /** Placements that may end; those of `ends` must end. */
  readonly mayEnd: readonly StoredEmail[];
  readonly ends?: readonly StoredEmail[];
  /** Each new message: its folder, by path or id, and its subject. */
  readonly comes: readonly (readonly [folder: string, subject: string])[];
  /** Message-Ids of new messages in Sent: each may replace one copy that submission made. */
  readonly replaces?: readonly string[];
}

const NOTHING: Effect = { isOk: true, mayEnd: [], comes: [] };
const PATHS = ['INBOX', 'Sent', 'Drafts', 'Archive', 'Trash', 'Junk', 'A', 'B', 'Trash/C'];
const MESSAGE_IDS = ['<m1@x.test>', '<m2@x.test>', '<m3@x.test>'];
let messages = 0;

type Numbers = readonly [a: number, b: number, c: number];
type Operation = (session: Session, stored: readonly StoredEmail[], numbers: Numbers) => Promise<Effect | undefined>;

/** One client; `selected` is the mailbox that its IMAP session has open. */
export class Session {
  readonly account: TestAccount;
  readonly node: TestNode;
  readonly rest: MailboxClient;
  imap: ImapClient;
  readonly sql: Sql;
  selected: string | undefined;

  constructor(node: TestNode, account: TestAccount, sql: Sql) {
    this.node = node;
    this.account = account;
    this.sql = sql;
    this.rest = new MailboxClient(node, account.key);
    this.imap = this.#connect();
  }

  #connect(): ImapClient {
    return new ImapClient(net.connect(port(this.node, 'imap'), '127.0.0.1'));
  }

  async login(): Promise<void> {
    await this.imap.next();
    await this.imap.command(`LOGIN ${this.account.email} ${this.account.key}`);
  }

  /** Also false when the session has ended because the other client deleted its open mailbox; then a new session begins. */
  async isOk(...parts: readonly (string | Literal)[]): Promise<boolean> {
    try {
      return (await this.imap.command(...parts)).tagged.startsWith('OK');
    } catch (error) {
      if (!(error instanceof Closed)) throw error;
      this.imap = this.#connect();
      this.selected = undefined;
      await this.login();
      return false;
    }
  }

  async folders(): Promise<Folder[]> {
    const { id } = this.account;
    return [...(await this.sql<Folder[]>`select id, name as path, role from folders where account_id = ${id}`)];
  }

  async stored(): Promise<StoredEmail[]> {
    const rows = await this.sql<StoredEmail[]>`
      select p.folder_id as "folderId", f.name as path, f.role, p.uid::int as uid, p.deleted as "isDeleted",
        p.email_id as "emailId", e.subject, e.message_id as "messageId", e.origin
      from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
      join emails e on e.account_id = p.account_id and e.id = p.email_id
      where p.account_id = ${this.account.id} order by f.id, p.uid`;
    return [...rows];
  }
}

const pick = <T>(of: readonly T[], n: number): T | undefined => of[n % Math.max(of.length, 1)];
const newSubject = () => `message ${++messages}`;
const messageOf = (subject: string, messageId: string) =>
  `From: me@example.test\r\nTo: bob@example.test\r\nSubject: ${subject}\r\nMessage-ID: ${messageId}\r\n\r\n${subject}\r\n`;

const isIn = (path: string) => (one: StoredEmail) => one.path.toLowerCase() === path.toLowerCase();
const isKeptIn = (stored: readonly StoredEmail[], folder: string, emailId: string) =>
  stored.some((one) => [one.path, one.folderId].includes(folder) && one.emailId === emailId && !one.isDeleted);

async function append(session: Session, _: readonly StoredEmail[], [a, b, c]: Numbers): Promise<Effect> {
  const path = pick(['Sent', ...PATHS, 'Sent'], a)!;
  const [subject, messageId] = [newSubject(), pick(MESSAGE_IDS, b)!];
  const flags = c % 5 === 0 ? '(\\Deleted)' : c % 5 === 1 ? '(\\Flagged)' : '()';
  const isOk = await session.isOk(`APPEND "${path}" ${flags} `, new Literal(messageOf(subject, messageId)));
  return { isOk, mayEnd: [], comes: [[path, subject]], ...(path === 'Sent' && { replaces: [messageId] }) };
}

async function submit({ node, account, sql }: Session, _: readonly StoredEmail[], [a]: Numbers): Promise<Effect> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: port(node, 'submission'),
    tls: { rejectUnauthorized: false },
    auth: { user: account.email, pass: account.key },
  });
  const subject = newSubject();
  const raw = messageOf(subject, pick(MESSAGE_IDS, a)!).replace('me@example.test', account.email);
  await transport.sendMail({ envelope: { from: account.email, to: ['bob@example.test'] }, raw });
  transport.close();
  // A mailbox that answers late on a busy machine places it after the reply.
  await until(async () => (await sql`select from inbound where account_id = ${account.id} limit 1`).count === 0);
  return { isOk: true, mayEnd: [], comes: [['Sent', subject]] };
}

async function select(session: Session, _: readonly StoredEmail[], [a]: Numbers): Promise<Effect> {
  const path = pick(PATHS, a)!;
  session.selected = (await session.isOk(`SELECT "${path}"`)) ? path : undefined;
  return NOTHING;
}

async function mark(session: Session, stored: readonly StoredEmail[], [a, b]: Numbers): Promise<Effect | undefined> {
  const one = pick(stored.filter(isIn(session.selected ?? '')), a);
  if (one === undefined) return undefined;
  return { ...NOTHING, isOk: await session.isOk(`UID STORE ${one.uid} ${b % 3 === 0 ? '-' : '+'}FLAGS (\\Deleted)`) };
}

async function place(name: 'COPY' | 'MOVE', session: Session, stored: readonly StoredEmail[], [a, b, c]: Numbers) {
  const inside = stored.filter(isIn(session.selected ?? ''));
  const named = inside.filter((_, i) => i >= a % Math.max(inside.length, 1)).slice(0, 1 + (b % 3));
  if (named.length === 0) return undefined;
  const target = pick(PATHS, c)!;
  const isWithin = isIn(target)(named[0]!);
  const uids = named.map(({ uid }) => uid).join();
  const isOk = await session.isOk(`UID ${name} ${uids} "${target}"`);
  const ids = named.map(({ emailId }) => emailId);
  const displaced = stored.filter((one) => isIn(target)(one) && one.isDeleted && ids.includes(one.emailId));
  const appended = named.filter(({ origin }) => origin === 'appended');
  const replaces = target === 'Sent' && !isWithin ? appended.flatMap(({ messageId }) => messageId ?? []) : [];
  const ends = name === 'MOVE' ? [...displaced, ...named] : displaced;
  return { isOk, mayEnd: ends, ends, comes: named.map(({ subject }) => [target, subject] as const), replaces };
}

async function expunge(session: Session, stored: readonly StoredEmail[], [a, b]: Numbers): Promise<Effect | undefined> {
  if (session.selected === undefined) return undefined;
  const marked = stored.filter((one) => isIn(session.selected!)(one) && one.isDeleted);
  const command = ['EXPUNGE', 'CLOSE', 'UNSELECT', 'UID EXPUNGE'][a % 4]!;
  const ends = command === 'UNSELECT' ? [] : command === 'UID EXPUNGE' ? marked.slice(b % 2, (b % 2) + 1) : marked;
  const uids = ends.map(({ uid }) => uid).join() || '4294967000';
  const isOk = await session.isOk(command === 'UID EXPUNGE' ? `${command} ${uids}` : command);
  if (command === 'CLOSE' || command === 'UNSELECT') session.selected = undefined;
  return { isOk, mayEnd: ends, ends, comes: [] };
}

async function renameInbox(
  session: Session,
  stored: readonly StoredEmail[],
  [a]: Numbers,
): Promise<Effect | undefined> {
  if (a % 3 !== 0) return { ...NOTHING, isOk: await session.isOk(`CREATE "${pick(['A', 'B', 'Trash/C'], a)}"`) };
  const ends = stored.filter(isIn('INBOX'));
  const path = `renamed ${++messages}`;
  const isOk = await session.isOk(`RENAME INBOX "${path}"`);
  return { isOk, mayEnd: ends, ends, comes: ends.map(({ subject }) => [path, subject] as const) };
}

async function renameLabel(session: Session, _: readonly StoredEmail[], [a]: Numbers): Promise<Effect> {
  const [from, to] = pick(
    [
      ['A', 'B'],
      ['B', 'A'],
      ['A', 'Trash/C'],
      ['Trash/C', 'B'],
    ] as const,
    a,
  )!;
  return { ...NOTHING, isOk: await session.isOk(`RENAME "${from}" "${to}"`) };
}

async function deleteLabel(session: Session, stored: readonly StoredEmail[], [a]: Numbers): Promise<Effect> {
  const path = pick(['A', 'B', 'Trash/C'], a)!;
  const inside = stored.filter(isIn(path));
  const isKept = ({ emailId }: StoredEmail) =>
    stored.some((one) => one.emailId === emailId && one.path !== path && !one.isDeleted);
  const archived = path.startsWith('Trash/') ? [] : inside.filter((one) => !isKept(one));
  const ids = archived.map(({ emailId }) => emailId);
  const displaced = stored.filter((one) => one.path === 'Archive' && ids.includes(one.emailId));
  const isOk = await session.isOk(`DELETE "${path}"`);
  const ends = [...inside, ...displaced];
  return { isOk, mayEnd: ends, ends, comes: archived.map(({ subject }) => ['Archive', subject] as const) };
}

async function remove({ rest }: Session, stored: readonly StoredEmail[], [a]: Numbers): Promise<Effect | undefined> {
  const one = pick(stored, a);
  if (one === undefined) return undefined;
  const ends = stored.filter(({ emailId }) => emailId === one.emailId);
  const { status } = await rest.request('DELETE', `/api/emails/${one.emailId}`);
  return { isOk: status === 204, mayEnd: ends, ends, comes: [] };
}

async function moveOverRest(
  { rest }: Session,
  stored: readonly StoredEmail[],
  [a, b]: Numbers,
): Promise<Effect | undefined> {
  const one = pick(
    stored.filter(({ isDeleted }) => !isDeleted),
    a,
  );
  const target = pick(['inbox', 'sent', 'drafts', 'archive', 'trash', 'junk'], b)!;
  if (one === undefined) return undefined;
  const body = { emailIds: [one.emailId], folderId: target };
  const { status } = await rest.request('POST', '/api/emails/bulk/move', body);
  const path = PATHS.find((name) => name.toLowerCase() === target)!;
  const isThere = isKeptIn(stored, path, one.emailId);
  const mayEnd = stored.filter((each) => each.emailId === one.emailId && !(isIn(path)(each) && !each.isDeleted));
  return { isOk: status === 200, mayEnd, comes: isThere ? [] : [[path, one.subject]] };
}

async function label(
  session: Session,
  stored: readonly StoredEmail[],
  [a, b, c]: Numbers,
): Promise<Effect | undefined> {
  const one = pick(
    stored.filter(({ isDeleted }) => !isDeleted),
    a,
  );
  const labels = (await session.folders()).filter(({ role }) => role === 'label');
  const chosen = pick(labels, b);
  if (one === undefined || chosen === undefined) return undefined;
  const own = stored.filter(({ emailId }) => emailId === one.emailId);
  const inLabel = own.filter(({ folderId }) => folderId === chosen.id);
  if (c % 2 === 0) {
    const body = { labelId: chosen.id };
    const { status } = await session.rest.request('POST', `/api/labels/emails/${one.emailId}`, body);
    const isThere = inLabel.some(({ isDeleted }) => !isDeleted);
    const ends = inLabel.filter(({ isDeleted }) => isDeleted);
    return { isOk: status === 204, mayEnd: ends, ends, comes: isThere ? [] : [[chosen.id, one.subject]] };
  }
  const { status } = await session.rest.request('DELETE', `/api/labels/emails/${one.emailId}/${chosen.id}`);
  const isKept = own.some(({ folderId, isDeleted }) => folderId !== chosen.id && !isDeleted);
  const archived = isKept || inLabel.length === 0 ? [] : own.filter(({ path }) => path === 'Archive');
  const comes = isKept || inLabel.length === 0 ? [] : ([['Archive', one.subject]] as const);
  return { isOk: status === 204, mayEnd: [...inLabel, ...archived], comes };
}

async function draft({ rest }: Session, stored: readonly StoredEmail[], [a, b]: Numbers): Promise<Effect | undefined> {
  const { items } = await rest.get<{ items: { id: string; subject: string }[] }>('/api/outbound/drafts');
  const one = pick(items, a);
  const subject = newSubject();
  if (one === undefined || b % 3 === 0) {
    const { ok } = await rest.request('POST', '/api/outbound/drafts', { subject, textBody: 'x' });
    return { isOk: ok, mayEnd: [], comes: [['Drafts', subject]] };
  }
  const before = stored.filter((each) => isIn('Drafts')(each) && each.subject === one.subject && !each.isDeleted);
  const mayEnd = stored.filter(({ emailId }) => before.some((each) => each.emailId === emailId));
  if (b % 3 === 1) {
    const { ok } = await rest.request('DELETE', `/api/outbound/drafts/${one.id}`);
    return { isOk: ok, mayEnd, comes: [] };
  }
  const { ok } = await rest.request('PUT', `/api/outbound/drafts/${one.id}`, { subject, textBody: 'y' });
  return { isOk: ok, mayEnd, comes: [['Drafts', subject]] };
}

async function pop3(
  { node, account }: Session,
  stored: readonly StoredEmail[],
  [a, b]: Numbers,
): Promise<Effect | undefined> {
  const client = new Pop3Client(net.connect(port(node, 'pop3'), '127.0.0.1'));
  await client.line();
  await client.command(`USER ${account.email}`);
  const isLoggedIn = (await client.command(`PASS ${account.key}`)).startsWith('+OK');
  const inbox = stored.filter(isIn('INBOX'));
  const named = inbox.filter((_, i) => (a >> (i % 8)) % 2 === 1);
  for (const one of named) await client.command(`DELE ${inbox.indexOf(one) + 1}`);
  if (b % 3 === 0) {
    client.socket.end();
    await client.rest();
    return NOTHING;
  }
  const isOk = isLoggedIn && (await client.command('QUIT')).startsWith('+OK');
  return { isOk, mayEnd: named, ends: named, comes: [] };
}

export const OPERATIONS: readonly (readonly [weight: number, operation: Operation])[] = [
  [6, append],
  [3, submit],
  [6, select],
  [6, mark],
  [6, (...of) => place('COPY', ...of)],
  [6, (...of) => place('MOVE', ...of)],
  [5, expunge],
  [2, renameInbox],
  [1, renameLabel],
  [2, deleteLabel],
  [1, remove],
  [4, moveOverRest],
  [4, label],
  [3, draft],
  [2, pop3],
];
