// The node that the parts of the benchmark `realtime` measure, with methods that cause events in its accounts.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { cpuSeconds } from '../support/cpu-time.js';
import { type BenchAccount, type BenchNode, startBenchNode } from '../support/node.js';
import { type Joint, startJoint } from '../support/processes.js';
import { SmtpSender } from '../support/smtp-load.js';
import { pause } from '../support/write-probe.js';

export interface KeyedAccount extends BenchAccount {
  readonly key: string;
}

/** Makes the node collect garbage on SIGUSR2. */
const PRELOAD = fileURLToPath(new URL('../support/collect-garbage.js', import.meta.url));
const SETTLE_MS = 1_500;
const PAGE = 100;

export class Target {
  readonly node: BenchNode;
  readonly #joint: Joint;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(node: BenchNode, joint: Joint) {
    this.node = node;
    this.#joint = joint;
  }

  /** `processes` is the number of the node's processes. */
  static async start(processes = 1): Promise<Target> {
    const NODE_OPTIONS = `${process.env['NODE_OPTIONS'] ?? ''} --import ${PRELOAD}`;
    const joint = await startJoint(processes);
    return new Target(await startBenchNode({ MANSIO_LOG_LEVEL: 'warn', NODE_OPTIONS, ...joint.settings }), joint);
  }

  get pid(): number {
    return this.node.process.pid!;
  }

  /** Returns the processor time of all processes of the node and of NATS, without the database. */
  async cpuSeconds(): Promise<number> {
    const { natsPid } = this.#joint;
    const roots = { node: [this.pid], database: [this.node.databasePid], nats: natsPid === undefined ? [] : [natsPid] };
    const { node, database, nats } = await cpuSeconds(roots);
    return node - database + nats;
  }

  hub(query = ''): string {
    return `http://127.0.0.1:${this.node.port('http')}/hubs/email${query}`;
  }

  async accounts(count: number): Promise<KeyedAccount[]> {
    const accounts = await this.node.createAccounts(count);
    return Promise.all(accounts.map(async (account) => ({ ...account, key: await this.node.createKey(account.id) })));
  }

  sender(): Promise<SmtpSender> {
    return SmtpSender.open('127.0.0.1', this.node.port('mx'));
  }

  /** Returns the moment of the 250, in ns of the monotonic clock; `sent` is called when the last octet was written. */
  async deliver(sender: SmtpSender, to: BenchAccount, subject: string, sent?: () => void): Promise<bigint> {
    const message = `From: a@remote.test\r\nTo: ${to.email}\r\nSubject: ${subject}\r\n\r\ntext\r\n.\r\n`;
    if (!(await sender.send('a@remote.test', [to.email], message, sent))) throw new Error('mail was refused');
    return process.hrtime.bigint();
  }

  /** Returns the resident memory after a garbage collection, in octets. */
  async memory(): Promise<number> {
    this.node.process.kill('SIGUSR2');
    await pause(SETTLE_MS);
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8')) ?? [];
    return Number(kib) * 1024;
  }

  /** Returns the ids of the newest emails of the inbox. */
  async newestIds({ key }: KeyedAccount, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let page = 1; ids.length < count; page++) {
      const path = `/api/emails?pageSize=${PAGE}&page=${page}`;
      const { items } = JSON.parse(await this.rest(key, 'GET', path)) as { readonly items: readonly { id: string }[] };
      if (items.length === 0) throw new Error(`the inbox has ${ids.length} emails`);
      ids.push(...items.map(({ id }) => id));
    }
    return ids.slice(0, count);
  }

  async markRead({ key }: KeyedAccount, emailIds: readonly string[], isRead: boolean): Promise<void> {
    await this.rest(key, 'POST', '/api/emails/bulk/mark-read', { emailIds, isRead });
  }

  rest(key: string, method: string, path: string, body?: unknown): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `ApiKey ${key}`, 'content-type': 'application/json' };
      const options = { port: this.node.port('http'), host: '127.0.0.1', agent: this.#agent, method, path, headers };
      const sent = request(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('error', reject).on('end', () => {
          const { statusCode = 0 } = response;
          if (statusCode < 300) resolve(text);
          else reject(new Error(`${method} ${path}: ${statusCode} ${text}`));
        });
      });
      sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.node.stop();
    await this.#joint.stop();
  }
}
