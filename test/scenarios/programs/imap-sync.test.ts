// Tests programs that synchronise a Maildir with an account: mbsync and offlineimap. Both sides change, mbsync is interrupted at random
// places, and finally both sides have the same messages with the same flags, each once.
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext, TestFn } from 'ava';
import type { ImapFlow } from 'imapflow';
import { randomOf } from '../../../dev/imap-tester/stress.js';
import { accountOn, port, type TestAccount } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { certificateOf, imapFlow, messageOf } from '../../support/clients/imap-programs.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { CuttingProxy } from '../../support/peers/cutting-proxy.js';
import { runProgram } from '../../support/run-program.js';
import anyTest from '../../support/test.js';
import { testWith } from '../../support/test-with.js';

interface Context {
  node: TestNode;
}

const test = anyTest as TestFn<Context>;
const ROUNDS = 8;
/** Letters of a Maildir, by flag. */
const LETTERS: Readonly<Record<string, string>> = { '\\Answered': 'R', '\\Flagged': 'F', '\\Seen': 'S' };

test.before(async (t) => {
  t.context.node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
});

test.after.always((t) => t.context.node.stop());

class Maildir {
  readonly #path: string;
  #count = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns paths, sorted. */
  files(box: string): string[] {
    return ['cur', 'new']
      .flatMap((part) => readdirSync(join(this.#path, box, part)).map((file) => join(this.#path, box, part, file)))
      .sort();
  }

  create(box: string): void {
    for (const part of ['cur', 'new', 'tmp']) mkdirSync(join(this.#path, box, part), { recursive: true });
  }

  add(box: string, subject: string): void {
    const name = `${Date.now()}.${++this.#count}_1.near`;
    writeFileSync(join(this.#path, box, 'new', name), messageOf(subject).replaceAll('\r\n', '\n'));
  }

  setFlags(box: string, file: string, letters: string): void {
    const name = file
      .split('/')
      .at(-1)!
      .replace(/:2,.*$/, '');
    renameSync(file, join(this.#path, box, 'cur', `${name}:2,${letters}`));
  }

  /** Returns subject and flags of each message. */
  shown(box: string): string[] {
    return this.files(box)
      .map((file) => {
        const subject = /^Subject: (.*?)\r?$/m.exec(readFileSync(file, 'utf8'))![1];
        return `${subject} ${/:2,([A-Z]*)/.exec(file)?.[1] ?? ''}`;
      })
      .sort();
  }
}

async function farSide(client: ImapFlow, box: string): Promise<string[]> {
  const { exists } = await client.mailboxOpen(box);
  const messages = exists > 0 ? await client.fetchAll('1:*', { envelope: true, flags: true }) : [];
  const letters = (flags: ReadonlySet<string>) => [...flags].map((flag) => LETTERS[flag] ?? '').sort();
  return messages.map(({ envelope, flags }) => `${envelope!.subject} ${letters(flags!).join('')}`).sort();
}

/** Both sides have the same messages, each once. */
async function compare(t: ExecutionContext<Context>, near: Maildir, far: ImapFlow, box: string): Promise<void> {
  const there = await farSide(far, box);
  t.deepEqual(near.shown(box), there, box);
  t.is(new Set(there.map((line) => line.replace(/ [A-Z]*$/, ''))).size, there.length, 'nothing is doubled');
}

async function connected(t: ExecutionContext<Context>, user: TestAccount): Promise<ImapFlow> {
  const client = imapFlow(t.context.node, user);
  await client.connect();
  t.teardown(() => client.close());
  return client;
}

testWith<Context>('mbsync')(
  'mbsync keeps two sides the same, whichever changes and wherever it is interrupted',
  async (t) => {
    t.timeout(600_000);
    const { node } = t.context;
    const user = await accountOn(node, 'mbsync');
    const directory = temporaryDirectory('mansio-mbsync-');
    mkdirSync(join(directory, 'mail'));
    const near = new Maildir(join(directory, 'mail'));
    const proxy = await CuttingProxy.start(port(node, 'imaps'));
    t.teardown(() => proxy.close());
    const config = join(directory, 'config');
    writeFileSync(
      config,
      `IMAPAccount far
Host 127.0.0.1
Port ${proxy.port}
User ${user.email}
Pass ${user.key}
SSLType IMAPS
CertificateFile ${certificateOf(node)}

IMAPStore far
Account far

MaildirStore near
Path ${directory}/mail/
Inbox ${directory}/mail/INBOX
SubFolders Verbatim

Channel both
Far :far:
Near :near:
Patterns *
Create Both
Remove Both
Expunge Both
SyncState *
`,
    );
    const args = ['-c', config, '-q', 'both'];
    /** Octets of the last complete synchronisation. */
    let octets = 0;
    const sync = async () => {
      proxy.reset();
      const { code, output } = await runProgram('mbsync', args);
      t.is(code, 0, output);
      octets = proxy.passed;
    };
    /** Returns false when the program ended before the interruption. */
    const interrupted = async (after: number, isKilled: boolean): Promise<boolean> => {
      let isInterrupted = false;
      const program = spawn('mbsync', args, { stdio: 'ignore' });
      const ended = once(program, 'close');
      proxy.interruptAfter(after, () => {
        isInterrupted = true;
        if (isKilled) program.kill('SIGKILL');
      });
      await ended;
      return isInterrupted;
    };
    const client = await connected(t, user);
    for (let i = 0; i < 20; i++) await client.append('INBOX', messageOf(`first ${i}`), []);
    await client.mailboxCreate('Projects');
    for (let i = 0; i < 5; i++) await client.append('Projects', messageOf(`project ${i}`), ['\\Seen']);
    await sync();
    t.is(near.files('INBOX').length, 20);
    const random = randomOf(5);
    const changeFar = async (box: string, subject: string) => {
      await client.append(box, messageOf(subject), []);
      const { exists } = await client.mailboxOpen(box);
      await client.messageFlagsAdd(`${1 + random(exists)}`, ['\\Answered']);
      await client.messageDelete(`${1 + random(exists)}`);
      await client.mailboxClose();
    };
    const changeNear = (box: string, subject: string) => {
      near.add(box, subject);
      const files = near.files(box);
      near.setFlags(box, files[random(files.length)]!, 'FS');
      const known = near.files(box).filter((file) => file.includes(',U='));
      if (known.length > 0) unlinkSync(known[random(known.length)]!);
    };
    let interruptions = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const box = round % 2 === 0 ? 'INBOX' : 'Projects';
      for (let i = 0; i < 3; i++) changeNear(box, `near ${round} ${i}`);
      await changeFar(box, `far ${round}`);
      // The first third of the octets is TLS and the login.
      const after = Math.ceil(octets / 3) + random(Math.floor((2 * octets) / 3));
      if (await interrupted(after, round % 4 < 2)) interruptions++;
      await changeFar(box, `far ${round} later`);
      await sync();
    }
    t.true(interruptions > ROUNDS / 2, `${interruptions} interruptions`);
    await sync();
    for (const box of ['INBOX', 'Projects']) await compare(t, near, client, box);
  },
);

testWith<Context>('offlineimap')('offlineimap keeps two sides the same, mailboxes too', async (t) => {
  t.timeout(600_000);
  const { node } = t.context;
  const user = await accountOn(node, 'offlineimap');
  const directory = temporaryDirectory('mansio-offlineimap-');
  mkdirSync(join(directory, 'mail'));
  const near = new Maildir(join(directory, 'mail'));
  const { fingerprint } = new X509Certificate(readFileSync(certificateOf(node)));
  const config = join(directory, 'config');
  writeFileSync(
    config,
    `[general]
accounts = both
metadata = ${directory}/metadata
ui = quiet

[Account both]
localrepository = near
remoterepository = far

[Repository near]
type = Maildir
localfolders = ${directory}/mail
sep = /

[Repository far]
type = IMAP
remotehost = 127.0.0.1
remoteport = ${port(node, 'imaps')}
remoteuser = ${user.email}
remotepass = ${user.key}
ssl = yes
cert_fingerprint = ${fingerprint.replaceAll(':', '').toLowerCase()}
`,
  );
  const sync = async () => {
    const { code, output } = await runProgram('offlineimap', ['-c', config, '-o'], '', { HOME: directory });
    t.is(code, 0, output);
  };
  const client = await connected(t, user);
  for (let i = 0; i < 8; i++) await client.append('INBOX', messageOf(`first ${i}`), i % 2 === 0 ? ['\\Seen'] : []);
  await client.mailboxCreate('Projects/Zoë');
  const far = 'Projects/Zo&AOs-';
  await client.append('Projects/Zoë', messageOf('project'), ['\\Flagged']);
  await sync();
  t.is(near.files('INBOX').length, 8);
  t.is(near.files(far).length, 1);
  // Both sides change.
  // offlineimap creates each level of a name.
  near.create('Travel');
  near.create('Travel/2026');
  near.add('Travel/2026', 'a ticket');
  near.add('INBOX', 'near');
  const [flagged, gone] = near.files('INBOX').filter((file) => file.includes(',U='));
  near.setFlags('INBOX', flagged!, 'FRS');
  unlinkSync(gone!);
  await client.append('INBOX', messageOf('far'), ['\\Answered']);
  await client.mailboxOpen('INBOX');
  await client.messageDelete('5');
  await client.messageFlagsSet('6', ['\\Flagged']);
  await client.mailboxClose();
  await sync();
  await sync();
  for (const box of ['INBOX', 'Travel/2026', 'Sent']) await compare(t, near, client, box);
  t.is((await farSide(client, 'INBOX')).length, 8);
  t.deepEqual(await farSide(client, 'Travel/2026'), ['a ticket ']);
  t.deepEqual(near.shown(far), await farSide(client, 'Projects/Zoë'));
});
