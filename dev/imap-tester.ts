// Holds an IMAP server to the rules: the scripted groups, then a random stress with many clients. For servers under test, Mansio
// and others: node dist/dev/imap-tester.js --port 2143 --user A --password P [--clients 50] [--seconds 600] [--seed 1]
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseScript, runScript } from '../test/imap-tester/script.js';
import { stress } from '../test/imap-tester/stress.js';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '2143' },
    tls: { type: 'boolean', default: false },
    user: { type: 'string', default: '' },
    password: { type: 'string', default: '' },
    clients: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    group: { type: 'string', default: '' },
  },
});
const GROUPS = 'test/imap-tester/groups';
const { user: name, password } = values;
const server = { host: values.host, port: Number(values.port), tls: values.tls };
const say = (text: string) => process.stdout.write(`${text}\n`);

let failures = 0;
for (const file of readdirSync(GROUPS).sort()) {
  if (!file.startsWith(values.group)) continue;
  try {
    const mailbox = `Script-${file.replace('.txt', '')}-${process.pid}`;
    await runScript(parseScript(readFileSync(`${GROUPS}/${file}`, 'utf8')), mailbox, { server, name, password });
    say(`ok ${file}`);
  } catch (error) {
    failures++;
    say(`not ok ${file}: ${(error as Error).message}`);
  }
}
if (Number(values.clients) > 0) {
  const end = Date.now() + Number(values.seconds) * 1000;
  const { commands, byName, refusals } = await stress({
    servers: [server],
    users: [{ name, password }],
    clients: Number(values.clients),
    seed: Number(values.seed),
    commands: Number.POSITIVE_INFINITY,
    isOver: () => Date.now() >= end,
  });
  say(`ok stress: ${commands} commands`);
  for (const [command, count] of [...byName, ...refusals]) say(`  ${command}: ${count}`);
}
process.exitCode = failures === 0 ? 0 : 1;
