// Compares POP3 with Dovecot: the same corpus in both, the same client, in turns. It measures RETR of 1,000 messages of 6 kB
// (BENCH_POP3_MESSAGES, BENCH_POP3_OCTETS) one after the other and pipelined, listings, logins, and the memory of idle connections, also
// mixed with IMAP. BENCH_POP3_SERVERS=dovecot measures only Dovecot, `mansio` only Mansio.
import { type Contender, startDovecotContender, startMansio } from './imap/contenders.js';
import { append } from './imap/lines.js';
import { comparison, figure, percentile } from './support/figures.js';
import { corpusMessage } from './support/mail-corpus.js';
import type { Pop3Client } from './support/pop3-client.js';

const MESSAGES = Number(process.env['BENCH_POP3_MESSAGES'] ?? 1_000);
const OCTETS = Number(process.env['BENCH_POP3_OCTETS'] ?? 6_000);
const ROUNDS = Number(process.env['BENCH_POP3_ROUNDS'] ?? 11);
const SERVERS = process.env['BENCH_POP3_SERVERS']?.split(',') ?? ['mansio', 'dovecot'];
const IDLE_CONNECTIONS = Number(process.env['BENCH_POP3_CONNECTIONS'] ?? 1_000);
const WARM_ROUNDS = 4;
const BATCH = 50;
const AT_ONCE = 20;
const CLOSING_MS = 2_000;
const MEMORY_ROUNDS = 3;
/** The goal as a multiple of Dovecot's time. */
const GOAL = 1;

interface Line {
  readonly name: string;
  readonly isTls?: boolean;
  timed(client: Pop3Client): Promise<unknown>;
}

const numbers = Array.from({ length: MESSAGES }, (_, i) => i + 1);
const all = (command: string): string => numbers.map((number) => `${command} ${number}\r\n`).join('');

const LINES: readonly Line[] = [
  { name: `RETR of ${MESSAGES}, one after the other`, timed: serial },
  { name: `RETR of ${MESSAGES}, pipelined`, timed: (client) => client.responses(all('RETR'), MESSAGES) },
  { name: `RETR of ${MESSAGES}, one after the other, TLS`, isTls: true, timed: serial },
  {
    name: `RETR of ${MESSAGES}, pipelined, TLS`,
    isTls: true,
    timed: (client) => client.responses(all('RETR'), MESSAGES),
  },
  {
    name: `TOP of ${MESSAGES}, pipelined`,
    timed: (client) => client.responses(numbers.map((number) => `TOP ${number} 0\r\n`).join(''), MESSAGES),
  },
  { name: 'UIDL', timed: (client) => client.responses('UIDL\r\n', 1) },
  { name: 'LIST', timed: (client) => client.responses('LIST\r\n', 1) },
];

export async function run(args: readonly string[]): Promise<void> {
  const isWanted = (name: string) => args.length === 0 || args.some((arg) => name.includes(arg));
  const contenders: Contender[] = [];
  try {
    if (SERVERS.includes('mansio'))
      contenders.push(await startMansio(isWanted('memory') ? IDLE_CONNECTIONS : undefined));
    const dovecot = SERVERS.includes('dovecot') ? await startDovecotContender() : undefined;
    if (dovecot !== undefined) contenders.push(dovecot);
    // Memory is measured first, while the heap has no free space that other work left.
    if (isWanted('memory')) {
      for (const contender of contenders) await idleMemory(contender);
      for (const contender of contenders) await idleWithImap(contender);
    }
    for (const contender of contenders) await fill(contender);
    for (const line of LINES.filter(({ name }) => isWanted(name)))
      report(line.name, GOAL, await timesOf(line, contenders));
    if (isWanted('login')) report('login, STAT and QUIT', GOAL, await loginTimes(contenders));
  } finally {
    for (const contender of contenders) await contender.stop();
  }
}

async function serial(client: Pop3Client): Promise<void> {
  for (const number of numbers) await client.responses(`RETR ${number}\r\n`, 1);
}

async function fill(contender: Contender): Promise<void> {
  const client = await contender.open();
  for (let from = 0; from < MESSAGES; from += BATCH) {
    const count = Math.min(BATCH, MESSAGES - from);
    const messages = Array.from({ length: count }, (_, i) => corpusMessage(from + i, OCTETS));
    await append(client, 'INBOX', messages);
  }
  client.close();
}

/** Returns the times in ms by contender; each round has its own session. */
async function timesOf({ isTls, timed }: Line, contenders: readonly Contender[]): Promise<Map<Contender, number[]>> {
  const times = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    for (const contender of contenders) {
      const client = await contender.openPop3(isTls);
      const began = performance.now();
      await timed(client);
      if (round >= 0) times.get(contender)!.push(performance.now() - began);
      await client.lines('QUIT\r\n', 1);
      client.close();
    }
  }
  return times;
}

async function loginTimes(contenders: readonly Contender[]): Promise<Map<Contender, number[]>> {
  const times = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  for (let round = -WARM_ROUNDS; round < ROUNDS * 5; round++) {
    for (const contender of contenders) {
      const began = performance.now();
      const client = await contender.openPop3();
      await client.lines('STAT\r\nQUIT\r\n', 2);
      if (round >= 0) times.get(contender)!.push(performance.now() - began);
      client.close();
    }
  }
  return times;
}

/** Measures sessions that have logged in and wait; their mailboxes are already loaded. */
async function idleMemory(contender: Contender): Promise<void> {
  for (const isTls of [false, true]) {
    for (const client of await waiting(contender, isTls)) client.close();
    await new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
    const before = await contender.memory();
    const clients = await waiting(contender, isTls);
    const octets = (await contender.memory()) - before;
    const kind = isTls ? 'TLS' : 'plain';
    figure(
      `${contender.name}: an idle ${kind} connection of ${IDLE_CONNECTIONS}`,
      octets / IDLE_CONNECTIONS / 1000,
      'kB',
    );
    for (const client of clients) client.close();
    await new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
  }
}

/** Measures the same number of connections, half of them IMAP. In the first round, code and heap of a node still grow. */
async function idleWithImap(contender: Contender): Promise<void> {
  for (const isTls of [false, true]) {
    const octets: number[] = [];
    for (let round = 0; round < MEMORY_ROUNDS; round++) {
      const before = await contender.memory();
      const clients = await mixed(contender, isTls);
      octets.push((await contender.memory()) - before);
      for (const client of clients) client.close();
      await new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
    }
    const kind = isTls ? 'TLS' : 'plain';
    const first = `the first time ${(octets[0]! / 1e6).toFixed(1)}`;
    const name = `${contender.name}: ${IDLE_CONNECTIONS} idle ${kind} connections of POP3 and IMAP, median`;
    figure(name, percentile(octets, 0.5) / 1e6, 'MB', first);
  }
}

async function mixed(contender: Contender, isTls: boolean): Promise<readonly { close(): void }[]> {
  const clients: { close(): void }[] = [];
  for (let first = 1; first <= IDLE_CONNECTIONS; first += AT_ONCE) {
    const users = Array.from({ length: Math.min(AT_ONCE, IDLE_CONNECTIONS - first + 1) }, (_, i) => first + i);
    const opening = users.map((user) =>
      user % 2 === 0 ? contender.open(isTls, user) : contender.openPop3(isTls, user),
    );
    clients.push(...(await Promise.all<{ close(): void }>(opening)));
  }
  return clients;
}

async function waiting(contender: Contender, isTls: boolean): Promise<Pop3Client[]> {
  const clients: Pop3Client[] = [];
  let left = IDLE_CONNECTIONS;
  const worker = async () => {
    for (let user = left--; user > 0; user = left--) {
      const client = await contender.openPop3(isTls, user);
      await client.lines('STAT\r\n', 1);
      clients.push(client);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return clients;
}

function report(name: string, goal: number, times: ReadonlyMap<Contender, readonly number[]>): void {
  comparison(
    name,
    goal,
    [...times].map(([contender, ms]) => [contender.name, ms]),
  );
}
