// A node with an account whose mailbox has the mail of the screenshots: put there over IMAP, as a move from another server does it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import { accountOn, port, type TestAccount } from '../../node-accounts.js';
import { type NodeProcess, startNodeProcess, UNLIMITED } from '../../node-process.js';
import { type DemoMail, INBOX, LABELS, ME } from './demo-mail.js';

export interface DemoNode {
  readonly origin: string;
  readonly account: TestAccount;
  stop(): Promise<void>;
}

export async function startDemoNode(): Promise<DemoNode> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mansio-screenshots-'));
  const listeners = ['HTTP', 'MX', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'POP3', 'POP3S', 'SIEVE'];
  const node = await startNodeProcess({
    ...UNLIMITED,
    ...Object.fromEntries(listeners.map((name) => [`MANSIO_${name}_PORT`, '0'])),
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_DATA_DIR: dataDir,
  });
  const stop = async () => {
    await node.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const account = await accountOn(node, 'zoe');
    const origin = `http://127.0.0.1:${port(node, 'http')}`;
    await fill(node, origin, account);
    return { origin, account, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function fill(node: NodeProcess, origin: string, { email, key }: TestAccount): Promise<void> {
  await request(origin, key, 'PUT', '/api/profile', { displayName: 'Zoë Ünal' });
  const labelIds = new Map<string, string>();
  for (const [sortOrder, label] of LABELS.entries()) {
    const made = await request<{ readonly id: string }>(origin, key, 'POST', '/api/labels', { ...label, sortOrder });
    labelIds.set(label.name, made.id);
  }
  const imap = new ImapFlow({
    host: '127.0.0.1',
    port: port(node, 'imaps'),
    secure: true,
    auth: { user: email, pass: key },
    tls: { rejectUnauthorized: false },
    logger: false,
  });
  await imap.connect();
  for (const mail of INBOX) {
    const flags = [...(mail.isRead === true ? ['\\Seen'] : []), ...(mail.isFlagged === true ? ['\\Flagged'] : [])];
    const at = new Date(Date.now() - mail.minutesAgo * 60_000);
    if ((await imap.append('INBOX', await source(mail, at), flags, at)) === false)
      throw new Error(`the node did not take ${mail.subject}`);
  }
  await imap.logout();
  const { items } = await request<{ readonly items: readonly { readonly id: string; readonly subject: string }[] }>(
    origin,
    key,
    'GET',
    '/api/emails?pageSize=50',
  );
  for (const { id, subject } of items) {
    const label = INBOX.find((mail) => mail.subject === subject)?.label;
    if (label !== undefined)
      await request(origin, key, 'POST', `/api/labels/emails/${id}`, { labelId: labelIds.get(label) });
  }
}

function source({ from, subject, text, html, file }: DemoMail, date: Date): Promise<Buffer> {
  const composer = new MailComposer({ from, to: ME, subject, text, html, date, attachments: file ? [file] : [] });
  return composer.compile().build();
}

async function request<T>(origin: string, key: string, method: string, path: string, body?: object): Promise<T> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const reply = await fetch(`${origin}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
