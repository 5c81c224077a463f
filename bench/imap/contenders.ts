// The servers that the IMAP benchmark measures: a node of Mansio and a Dovecot, each with one account, reached in the same way.
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ImapClient } from '../support/imap-client.js';
import { startBenchNode } from '../support/node.js';
import { startDovecot } from '../support/peers/dovecot.js';
import { Pop3Client } from '../support/pop3-client.js';
import { SmtpSender } from '../support/smtp-load.js';

export interface Contender {
  readonly name: string;
  /** Opens a session of the account with the corpus, or of another of the `USERS` accounts, each from its own address. */
  open(isTls?: boolean, user?: number): Promise<ImapClient>;
  /** Opens the same over POP3. Another session that holds the maildrop excludes it. */
  openPop3(isTls?: boolean, user?: number): Promise<Pop3Client>;
  /** Returns the resident octets of all its processes that serve clients; shared pages are counted once. */
  memory(): Promise<number>;
  /** Sends a message to the account by SMTP; `sent` is called with its final dot. Undefined without an SMTP server. */
  readonly deliver: ((message: string, sent: () => void) => Promise<void>) | undefined;
  stop(): Promise<void>;
}

/** The data that a client needs to log in. */
export interface ContenderLogin {
  readonly port: number;
  readonly localAddress: string;
  readonly name: string;
  readonly password: string;
}

export interface MansioContender extends Contender {
  /** Returns the login over IMAP without TLS; `user` as for `open`. */
  login(user: number): ContenderLogin;
}

/** The connections per account and per address are limited. */
export const USERS = 20;
const SETTLE_MS = 1_500;
const PRELOAD = fileURLToPath(new URL('../support/collect-garbage.js', import.meta.url));

export async function startMansio(users = USERS): Promise<MansioContender> {
  const node = await startBenchNode({
    MANSIO_LOG_LEVEL: 'warn',
    MANSIO_IMAP_PORT: '0',
    MANSIO_IMAPS_PORT: '0',
    MANSIO_POP3_PORT: '0',
    MANSIO_POP3S_PORT: '0',
    MANSIO_SIEVE_PORT: '0',
    MANSIO_ALLOW_PLAINTEXT_AUTH: 'true',
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${PRELOAD}`,
  });
  const accounts = await node.createAccounts(users + 1);
  const keys = await Promise.all(accounts.map(({ id }) => node.createKey(id, ['imap', 'pop3', 'app'])));
  const { email } = accounts[0]!;
  // The sender is opened when it is needed: the node closes sessions that are silent for long.
  let sender: SmtpSender | undefined;
  return {
    name: 'Mansio',
    open: (isTls = false, user = 0) =>
      loggedIn(node.port(isTls ? 'imaps' : 'imap'), isTls, user, accounts[user]!.email, keys[user]!),
    login: (user) => ({
      port: node.port('imap'),
      localAddress: addressOf(user),
      name: accounts[user]!.email,
      password: keys[user]!,
    }),
    openPop3: (isTls = false, user = 0) =>
      Pop3Client.open({
        port: node.port(isTls ? 'pop3s' : 'pop3'),
        isTls,
        localAddress: addressOf(user),
        name: accounts[user]!.email,
        password: keys[user]!,
      }),
    async memory() {
      node.process.kill('SIGUSR2');
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      return residentOf(node.process.pid!);
    },
    async deliver(message, sent) {
      sender ??= await SmtpSender.open('127.0.0.1', node.port('mx'));
      if (!(await sender.send('ann@remote.test', [email], message, sent))) throw new Error('the message was refused');
    },
    async stop() {
      sender?.close();
      await node.stop();
    },
  };
}

/** Resolves to undefined when Dovecot is not installed. `isSynced` is the option of `DovecotOptions`. */
export async function startDovecotContender(isSynced = false): Promise<Contender | undefined> {
  const dovecot = await startDovecot({ protocols: ['imap', 'pop3'], isSynced });
  if (dovecot === undefined) return undefined;
  return {
    name: `Dovecot ${dovecot.version}${isSynced ? ', mail_fsync=always' : ''}`,
    open: (isTls = false, user = 0) =>
      loggedIn(dovecot.port(isTls ? 'imaps' : 'imap'), isTls, user, `user${user}@example.test`, dovecot.password),
    openPop3: (isTls = false, user = 0) =>
      Pop3Client.open({
        port: dovecot.port(isTls ? 'pop3s' : 'pop3'),
        isTls,
        localAddress: addressOf(user),
        name: `user${user}@example.test`,
        password: dovecot.password,
      }),
    async memory() {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      return treeOf(dovecot.process).reduce((sum, pid) => sum + proportionalOf(pid), 0);
    },
    deliver: undefined,
    stop: dovecot.stop,
  };
}

const addressOf = (user: number): string => `127.0.0.${2 + (user % USERS)}`;

async function loggedIn(
  port: number,
  isTls: boolean,
  user: number,
  name: string,
  password: string,
): Promise<ImapClient> {
  const client = await ImapClient.open({ port, isTls, localAddress: addressOf(user) });
  await client.ok(`LOGIN ${name} ${password}`);
  return client;
}

const kilobytes = (text: string, field: string) =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);

const residentOf = (pid: number): number => kilobytes(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmRSS') * 1024;

function proportionalOf(pid: number): number {
  try {
    return kilobytes(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss') * 1024;
  } catch {
    return 0;
  }
}

/** Returns the ids of the process and of all its descendants. */
function treeOf(root: ChildProcess): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // The process has ended meanwhile.
    }
  }
  const tree = [root.pid!];
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  return tree;
}
