// What clients do whose node may or may not own their mailbox: each operation is one request, or one change until its event is at the
// client. Clients do as little work as possible, so that the servers are measured.
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import type { ClusterNode } from '../../dev/local-node.js';
import type { Sql } from '../../src/store/postgres/driver/client.js';
import type { BenchCluster } from '../support/bench-cluster.js';
import { HttpConnection, requestOctets } from '../support/http-load.js';
import { ImapClient } from '../support/imap-client.js';
import { pause } from '../support/write-probe.js';

export interface Place {
  readonly node: ClusterNode;
  readonly account: BenchCluster['accounts'][number];
  /** The newest emails of the inbox. */
  readonly emailIds: readonly string[];
  /** Counts the changes of the account, by all its clients: each one changes what is there. */
  readonly changes: { marks: number; stores: number };
}

export interface Client {
  run(): Promise<void>;
  close(): Promise<void> | void;
}

export interface Operation {
  readonly name: string;
  open(at: Place): Promise<Client>;
  /** Resolves when the work is done that follows the replies. */
  readonly finished?: (sql: Sql) => Promise<void>;
}

export const OPERATIONS: readonly Operation[] = [
  { name: 'REST: list of 20', open: async (at) => reading(at, () => '/api/emails?pageSize=20') },
  { name: 'REST: detail', open: async (at) => reading(at, (i) => `/api/emails/${pick(at.emailIds, i)}`) },
  { name: 'REST: mark read', open: async (at) => marking(at) },
  { name: 'hub: change over REST to event', open: hubEvent },
  { name: 'IMAP: LOGIN and SELECT', open: imapSession },
  { name: 'IMAP: SELECT', open: (at) => imapCommands(at, (i) => `SELECT ${i % 2 === 0 ? 'Archive' : 'INBOX'}`) },
  { name: 'IMAP: FETCH 1:* FLAGS', open: (at) => imapCommands(at, () => 'FETCH 1:* FLAGS') },
  { name: 'IMAP: STORE', open: (at) => imapCommands(at, () => storing(at.changes.stores++)) },
  { name: 'IMAP: change over REST to IDLE', open: idling },
  { name: 'REST: send to oneself', open: async (at) => sending(at), finished: allDelivered },
];

const POLL_MS = 25;
const storing = (i: number): string => `STORE ${1 + ((i >> 1) % 20)} ${i % 2 === 0 ? '+' : '-'}FLAGS (\\Flagged)`;
const pick = (ids: readonly string[], i: number): string => ids[i % ids.length]!;
const portOf = (address: string): number => Number(address.replace(/^.*:/, ''));

function reading({ node, account }: Place, path: (i: number) => string): Client {
  const connection = new HttpConnection(portOf(node.http));
  let i = 0;
  return {
    async run() {
      const { status } = await connection.send(requestOctets('GET', path(i++), account.key));
      if (status !== 200) throw new Error(`${path(i)}: ${status}`);
    },
    close: () => connection.close(),
  };
}

/** Marks the emails as read, then as unread, one per call. */
function marking({ node, account, emailIds, changes }: Place): Client {
  const connection = new HttpConnection(portOf(node.http));
  return {
    async run() {
      const i = changes.marks++;
      const isRead = Math.floor(i / emailIds.length) % 2 === 0;
      const path = `/api/emails/${pick(emailIds, i)}`;
      const { status } = await connection.send(requestOctets('PATCH', path, account.key, { isRead }));
      if (status !== 204) throw new Error(`${path}: ${status}`);
    },
    close: () => connection.close(),
  };
}

async function hubEvent(at: Place): Promise<Client> {
  const marks = marking(at);
  const hub = new HubConnectionBuilder()
    .withUrl(`${at.node.http}/hubs/email`, { accessTokenFactory: () => at.account.key })
    .configureLogging(LogLevel.None)
    .build();
  let heard = () => {};
  hub.on('EmailUpdated', () => heard());
  await hub.start();
  return {
    async run() {
      const event = new Promise<void>((resolve) => {
        heard = resolve;
      });
      await Promise.all([marks.run(), event]);
    },
    async close() {
      marks.close();
      await hub.stop();
    },
  };
}

async function loggedIn({ node, account }: Place): Promise<ImapClient> {
  const client = await ImapClient.open({ port: portOf(node.imap) });
  await client.ok(`LOGIN ${account.email} ${account.key}`);
  return client;
}

async function imapSession(at: Place): Promise<Client> {
  return {
    async run() {
      const client = await loggedIn(at);
      await client.ok('SELECT INBOX');
      client.close();
    },
    close() {},
  };
}

async function imapCommands(at: Place, command: (i: number) => string): Promise<Client> {
  const client = await loggedIn(at);
  await client.ok('SELECT INBOX');
  let i = 0;
  return {
    run: async () => void (await client.ok(command(i++))),
    close: () => client.close(),
  };
}

async function idling(at: Place): Promise<Client> {
  const [marks, client] = [marking(at), await loggedIn(at)];
  await client.ok('SELECT INBOX');
  let heard = () => {};
  await client.idle((octets) => {
    if (octets.includes(' FETCH ')) heard();
  });
  return {
    async run() {
      const told = new Promise<void>((resolve) => {
        heard = resolve;
      });
      await Promise.all([marks.run(), told]);
    },
    close() {
      marks.close();
      client.close();
    },
  };
}

function sending({ node, account }: Place): Client {
  const connection = new HttpConnection(portOf(node.http));
  const recipients = [{ address: account.email, type: 'To' }];
  const body = { fromAddress: account.email, subject: 'bench', textBody: 'text\r\n'.repeat(600), recipients };
  const octets = requestOctets('POST', '/api/outbound/send', account.key, body);
  return {
    async run() {
      const { status, body } = await connection.send(octets);
      if (status >= 300) throw new Error(`sending: ${status} ${body.toString()}`);
    },
    close: () => connection.close(),
  };
}

async function allDelivered(sql: Sql): Promise<void> {
  for (;;) {
    const [row] = await sql<[{ waits: boolean }]>`
      select exists (select from outbound where status in ('Queued', 'Sending')) or exists (select from inbound) as waits`;
    if (!row.waits) return;
    await pause(POLL_MS);
  }
}
