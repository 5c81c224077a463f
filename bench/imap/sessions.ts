// Measures an IMAP server with many sessions: how fast an idle one is told of new mail, how much memory an idle one takes, and how many
// commands per second the server answers.
import { figure, latency } from '../support/figures.js';
import type { ImapClient } from '../support/imap-client.js';
import { corpusMessage } from '../support/mail-corpus.js';
import { type Contender, USERS } from './contenders.js';
import { append } from './lines.js';

const SAMPLES = 100;
const PAUSE_MS = 20;
const IDLE_CONNECTIONS = Number(process.env['BENCH_IMAP_CONNECTIONS'] ?? 1_000);
const AT_ONCE = 20;
const WARM_CONNECTIONS = 300;
const CLOSING_MS = 2_000;
const CLIENTS = 50;
const RATE_MS = 5_000;

/** Measures from the final dot of SMTP, and from the last octet of APPEND, to EXISTS at an idling client. */
export async function idleLatencies(contender: Contender, octets: number): Promise<void> {
  const [idler, other] = [await contender.open(), await contender.open()];
  await idler.ok('SELECT INBOX');
  let heard = (_: number) => {};
  const stop = await idler.idle((line) => {
    if (line.includes(' EXISTS')) heard(performance.now());
  });
  const sample = async (act: (sent: () => void) => Promise<void>): Promise<number> => {
    let at = 0;
    const event = new Promise<number>((resolve) => {
      heard = resolve;
    });
    await act(() => {
      at = performance.now();
    });
    const took = (await event) - at;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    return took;
  };
  const appended: number[] = [];
  for (let i = 0; i < SAMPLES / 5; i++) {
    const message = corpusMessage(2e6 + i, octets);
    const took = await sample(async (sent) => {
      const done = append(other, 'INBOX', [message]);
      sent();
      await done;
    });
    appended.push(took);
  }
  latency(`${contender.name}: APPEND to EXISTS on IDLE`, appended);
  const { deliver } = contender;
  if (deliver !== undefined) {
    const delivered: number[] = [];
    for (let i = 0; i < SAMPLES; i++) {
      const message = `${corpusMessage(3e6 + i, octets).toString('latin1')}.\r\n`;
      delivered.push(await sample((sent) => deliver(message, sent)));
    }
    latency(`${contender.name}: final dot of SMTP to EXISTS on IDLE (goal 10 ms)`, delivered.slice(20));
  }
  await stop();
  for (const client of [idler, other]) client.close();
}

/** Measures sessions that have selected the inbox and idle; all stay open during the measurement. */
export async function idleMemory(contender: Contender): Promise<void> {
  for (const isTls of [false, true]) {
    for (const client of await idling(contender, isTls, WARM_CONNECTIONS)) client.close();
    await new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
    const before = await contender.memory();
    const clients = await idling(contender, isTls, IDLE_CONNECTIONS);
    const octets = (await contender.memory()) - before;
    const kind = isTls ? 'TLS' : 'plain';
    figure(
      `${contender.name}: an idle ${kind} connection of ${IDLE_CONNECTIONS} (goal ${isTls ? 40 : 8})`,
      octets / IDLE_CONNECTIONS / 1000,
      'kB',
    );
    for (const client of clients) client.close();
    await new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
  }
}

async function idling(contender: Contender, isTls: boolean, count: number): Promise<ImapClient[]> {
  const clients: ImapClient[] = [];
  let left = count;
  const worker = async () => {
    for (let n = left--; n > 0; n = left--) {
      const client = await contender.open(isTls, 1 + (n % USERS));
      clients.push(client);
      await client.ok('SELECT INBOX');
      await client.idle(() => {});
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return clients;
}

/** Measures clients that read one message after the other as mail programs do: its metadata, its header fields, then a flag. */
export async function commandRate(contender: Contender, messages: number): Promise<void> {
  const clients: ImapClient[] = [];
  for (let i = 0; i < CLIENTS; i++) {
    const client = await contender.open();
    await client.ok('SELECT INBOX');
    clients.push(client);
  }
  const measure = async (ms: number) => {
    let commands = 0;
    const until = performance.now() + ms;
    const started = performance.now();
    await Promise.all(
      clients.map(async (client, i) => {
        for (let n = i * 97; performance.now() < until; n += 31) {
          const message = 1 + (n % messages);
          await client.ok(`FETCH ${message} (FLAGS ENVELOPE)`);
          await client.ok(`FETCH ${message} BODY.PEEK[HEADER.FIELDS (FROM SUBJECT)]`);
          await client.ok(`FETCH ${message} BODY.PEEK[1]`);
          await client.ok(`STORE ${message} ${n % 2 === 0 ? '+' : '-'}FLAGS.SILENT (\\Flagged)`);
          await client.ok('NOOP');
          commands += 5;
        }
      }),
    );
    return commands / ((performance.now() - started) / 1000);
  };
  await measure(RATE_MS / 2);
  figure(`${contender.name}: commands of ${CLIENTS} clients`, await measure(RATE_MS), 'commands/s');
  for (const client of clients) client.close();
}
