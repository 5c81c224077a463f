// REST on a store of a million emails (BENCH_REST_EMAILS), 100,000 of them in one mailbox: list, search, mark read, each
// by one client and by 32, and the export of a mailbox with the memory that it takes.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from '../src/store/postgres/client.js';
import { figure, latency } from './support/figures.js';
import { fillStore, rareWordOf, wordOf } from './support/large-store.js';
import { type BenchNode, startBenchNode } from './support/node.js';

const EMAILS = Number(process.env['BENCH_REST_EMAILS'] ?? 1_000_000);
const LARGE = Math.min(100_000, Math.ceil(EMAILS / 2));
const ACCOUNTS = 50;
const CLIENTS = 32;
const SAMPLES = 200;

interface Answer {
  readonly status: number;
  readonly json: { readonly items?: readonly { readonly id: string }[]; readonly totalCount?: number };
}
type Call = (method: string, path: string, body?: object) => Promise<Answer>;

export async function run(): Promise<void> {
  const node = await startBenchNode({ MANSIO_LOG_LEVEL: 'warn', MANSIO_MBOX_EXPORT_INTERVAL: '0' });
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  try {
    const accounts = await node.createAccounts(ACCOUNTS);
    const others = Math.floor((EMAILS - LARGE) / (ACCOUNTS - 1));
    const sql = connect(node.database, { max: 1, applicationName: 'bench' });
    const started = performance.now();
    await fillStore(sql, new Map(accounts.map(({ id }, i) => [id, i === 0 ? LARGE : others])));
    await sql.end();
    figure(`made a searchable store of ${EMAILS} emails`, (performance.now() - started) / 1000, 's');
    const call = caller(node, agent, await node.createKey(accounts[0]!.id));
    await measure(call);
    await exported(node, agent, await node.createKey(accounts[0]!.id));
  } finally {
    agent.destroy();
    await node.stop();
  }
}

async function measure(call: Call): Promise<void> {
  const get = async (path: string) => {
    const answer = await call('GET', `/api/emails${path}`);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
    return answer.json;
  };
  const first = performance.now();
  const ids = (await get('?pageSize=100')).items!.map(({ id }) => id);
  figure(`first list of ${LARGE}, which loads the mailbox`, performance.now() - first, 'ms');
  const found = async (q: string) => figure(`matches of ${q}`, (await get(`/search?q=${q}`)).totalCount!, 'emails');
  await both('list, page 1', (i) => get(`?page=${1 + (i % 3)}`));
  await both('search, a rare word', (i) => get(`/search?q=${rareWordOf(1 + ((i * 37) % LARGE))}`));
  await found(wordOf(0));
  // One after the other, each for the first time.
  await timed('search, a frequent word not asked before', 1, 20, (i) => get(`/search?q=${wordOf(i + 1)}`), 0);
  await both('search, a frequent word', (i) => get(`/search?q=${wordOf(i % 20)}&page=${1 + (i % 5)}`));
  const prefixes = [...'bcdfghjklmnpqrstvwxyz'].map((letter) => `${letter}a`);
  await found(prefixes[0]!);
  await timed('search, a prefix of two letters not asked before', 1, 20, (i) => get(`/search?q=${prefixes[i]}`), 0);
  await both('search, a prefix', (i) => get(`/search?q=${prefixes[i % 20]}`));
  await both('search, two words', (i) => get(`/search?q=${wordOf(i % 50)}+${wordOf(100 + (i % 1000))}`));
  await both('search, a phrase', (i) => get(`/search?q=%22${wordOf(200 + (i % 500))}+${wordOf(i % 50)}%22`));
  await both('search, flags alone', () => get('/search?isRead=false&hasAttachments=true'));
  await both('mark read', async (i) => {
    const body = { isRead: i % 2 === 0 };
    const { status } = await call('PATCH', `/api/emails/${ids[i % ids.length]}`, body);
    if (status !== 204) throw new Error(`mark read: ${status}`);
  });
  await both('thread', (i) => get(`/threads/${ids[i % ids.length]}`));
  const label = await call('POST', '/api/labels', { name: 'Bench', color: '#808080', sortOrder: 0 });
  const { id: labelId } = label.json as { id?: string };
  for (const id of ids) await call('POST', `/api/labels/emails/${id}`, { labelId });
  await both('list of a label', async () => {
    const { status } = await call('GET', `/api/labels/${labelId}/emails`);
    if (status !== 200) throw new Error(`list of a label: ${status}`);
  });
}

async function both(name: string, one: (i: number) => Promise<unknown>): Promise<void> {
  await timed(name, 1, SAMPLES, one);
  await timed(name, CLIENTS, SAMPLES * 4, one);
}

async function timed(
  name: string,
  clients: number,
  samples: number,
  one: (i: number) => Promise<unknown>,
  warm = 20,
): Promise<void> {
  for (let i = 0; i < warm; i++) await one(i);
  const taken: number[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (next < samples) {
        const i = next++;
        const started = performance.now();
        await one(i);
        taken.push(performance.now() - started);
      }
    }),
  );
  latency(`${name}, ${clients} client(s)`, taken);
}

function caller(node: BenchNode, agent: Agent, key: string): Call {
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const sent = request({ agent, port: node.port('http'), method, path, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => resolve({ status: response.statusCode!, json: text === '' ? {} : JSON.parse(text) }));
      });
      sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
}

async function exported(node: BenchNode, agent: Agent, key: string): Promise<void> {
  const before = residentMb(node);
  let most = before;
  const watching = setInterval(() => {
    most = Math.max(most, residentMb(node));
  }, 50);
  const started = performance.now();
  const { emails, octets } = await new Promise<{ emails: number; octets: number }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    request({ agent, port: node.port('http'), path: '/api/emails/export/mbox', headers }, (response) => {
      let [emails, octets, tail] = [0, 0, ''];
      response.on('data', (piece: Buffer) => {
        octets += piece.length;
        const text = tail + piece.toString('latin1');
        emails += text.split('From ann@').length - 1;
        tail = text.slice(-8);
      });
      response.on('end', () => resolve({ emails, octets }));
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
  clearInterval(watching);
  const seconds = (performance.now() - started) / 1000;
  figure(`export of ${emails} emails`, emails / seconds, 'emails/s', `${(octets / 1e6 / seconds).toFixed(0)} MB/s`);
  figure("the node's memory at most during it", most, 'MB', `${before.toFixed(0)} MB before`);
}

function residentMb(node: BenchNode): number {
  const [kilobytes] = /\d+(?= kB)/.exec(/VmRSS:.*/.exec(readFileSync(`/proc/${node.process.pid}/status`, 'utf8'))![0])!;
  return Number(kilobytes) / 1024;
}
