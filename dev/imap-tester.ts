// Tests an IMAP server against the rules: the scripted groups, then a random stress with many clients. Without --user it starts its own
// node. Another server: node dist/dev/imap-tester.js --port 2143 --user A --password P [--clients 50] [--seconds 600] [--seed 1]
//   --qresync     every client keeps a copy with QRESYNC, and often connects again
//   --accounts N  N accounts at once; %d in --user and --password is the number of the account, from 1
//   --clients N   N clients per account. Mansio accepts 200 connections from one address, and a client that connects again has two for a
//                 moment: by default there are 80 clients in all, and at most 50 per account
//   --no-delays   clients do not pause between two commands
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseScript, runScript } from './imap-tester/script.js';
import { stress } from './imap-tester/stress.js';
import type { Server } from './imap-tester/tester-client.js';
import { accountOn, port } from './node-accounts.js';
import { startNodeProcess, UNLIMITED } from './node-process.js';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '2143' },
    tls: { type: 'boolean', default: false },
    user: { type: 'string', default: '' },
    password: { type: 'string', default: '' },
    accounts: { type: 'string', default: '1' },
    clients: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    group: { type: 'string', default: '' },
    qresync: { type: 'boolean', default: false },
    'no-delays': { type: 'boolean', default: false },
  },
});
const GROUPS = 'dev/imap-tester/groups';
/** The longest pause in ms; 50 clients then send some hundred commands per second. */
const PAUSE_MS = 200;
const ACCOUNTS = Number(values.accounts);
const CLIENTS = Number(values.clients ?? Math.min(50, Math.floor(80 / ACCOUNTS)));
const say = (text: string) => process.stdout.write(`${text}\n`);

interface Tested {
  readonly server: Server;
  readonly users: readonly { readonly name: string; readonly password: string }[];
  stop(): Promise<void>;
}

function named(): Tested {
  if (ACCOUNTS > 1 && !values.user.includes('%d')) throw new Error('--accounts needs a --user with %d in it');
  const users = Array.from({ length: ACCOUNTS }, (_, i) => ({
    name: values.user.replaceAll('%d', String(i + 1)),
    password: values.password.replaceAll('%d', String(i + 1)),
  }));
  return { server: { host: values.host, port: Number(values.port), tls: values.tls }, users, async stop() {} };
}

async function ownNode(): Promise<Tested> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mansio-imap-tester-'));
  const ports = ['HTTP', 'MX', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'POP3', 'POP3S', 'SIEVE'];
  const node = await startNodeProcess({
    ...UNLIMITED,
    ...Object.fromEntries(ports.map((name) => [`MANSIO_${name}_PORT`, '0'])),
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_ALLOW_PLAINTEXT_AUTH: 'true',
    MANSIO_DATA_DIR: dataDir,
  });
  const users: { name: string; password: string }[] = [];
  for (let i = 1; i <= ACCOUNTS; i++) {
    const { email, key } = await accountOn(node, `tester-${i}`);
    users.push({ name: email, password: key });
  }
  return {
    server: { host: '127.0.0.1', port: port(node, values.tls ? 'imaps' : 'imap'), tls: values.tls },
    users,
    async stop() {
      await node.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Returns the number of groups that failed. */
async function runGroups({ server, users }: Tested): Promise<number> {
  let failures = 0;
  for (const file of (await readdir(GROUPS)).sort()) {
    if (!file.startsWith(values.group)) continue;
    try {
      const mailbox = `Script-${file.replace('.txt', '')}-${process.pid}`;
      const script = parseScript(await readFile(`${GROUPS}/${file}`, 'utf8'));
      await runScript(script, mailbox, { server, ...users[0]! });
      say(`ok ${file}`);
    } catch (error) {
      failures++;
      say(`not ok ${file}: ${(error as Error).message}`);
    }
  }
  return failures;
}

async function runStress({ server, users }: Tested): Promise<void> {
  const end = Date.now() + Number(values.seconds) * 1000;
  const report = await stress({
    servers: [server],
    users,
    clients: CLIENTS,
    seed: Number(values.seed),
    commands: Number.POSITIVE_INFINITY,
    isOver: () => Date.now() >= end,
    qresync: values.qresync,
    pauseMs: values['no-delays'] ? 0 : PAUSE_MS,
  });
  say(`ok stress: ${report.commands} commands`);
  for (const { name, commands, longestMs, longest } of report.users) {
    say(`  ${name}: ${commands} commands, the longest wait ${longestMs.toFixed(0)} ms: ${longest}`);
  }
  for (const [command, count] of [...report.byName, ...report.refusals]) say(`  ${command}: ${count}`);
}

const tested = values.user === '' ? await ownNode() : named();
try {
  const failures = await runGroups(tested);
  if (CLIENTS > 0) await runStress(tested);
  process.exitCode = failures === 0 ? 0 : 1;
} catch (error) {
  say(`not ok stress: ${(error as Error).stack}`);
  process.exitCode = 1;
} finally {
  await tested.stop();
}
