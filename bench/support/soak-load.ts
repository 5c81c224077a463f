// The load of the soak: clients of every kind on one node, each at its own rate, on mailboxes that are kept at one size. Memory that grows
// is therefore used by the node and not by the mail.
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { BenchAccount, BenchNode } from './node.js';
import { SmtpSender } from './smtp-load.js';
import { pause } from './write-probe.js';

export interface SoakAccount extends BenchAccount {
  readonly key: string;
}

/** The most emails of a mailbox; the oldest are deleted beyond it. */
const KEPT = 200;
const MESSAGES_A_CONNECTION = 50;
const HUB_MS = 5_000;
const ANSWER_MS = 30_000;
const WORDS = 'quarterly invoice meeting lunch holiday report budget travel ticket server question answer'.split(' ');

interface Page {
  readonly items: readonly { readonly id: string; readonly threadId: string; readonly hasAttachments: boolean }[];
  readonly totalCount: number;
}

export class SoakLoad {
  readonly #node: BenchNode;
  readonly #accounts: readonly SoakAccount[];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 });
  readonly #recentIds: string[] = [];
  readonly done: Record<string, number> = {};
  readonly failed: Record<string, number> = {};
  readonly lastFault: Record<string, string> = {};
  #stopped = false;
  #clients: Promise<void>[] = [];

  constructor(node: BenchNode, accounts: readonly SoakAccount[]) {
    this.#node = node;
    this.#accounts = accounts;
  }

  start(): void {
    this.#clients = [
      this.#every('message in', 100, this.#ingest()),
      this.#every('large message in', 3_000, this.#ingest(300_000)),
      this.#every('list and read', 60, () => this.#read()),
      this.#every('search', 400, () => this.#search()),
      this.#every('thread', 700, () => this.#thread()),
      this.#every('mark', 250, () => this.#mark()),
      this.#every('trim', 300, () => this.#trim()),
      this.#every('draft, send', 1_500, () => this.#send()),
      this.#every('label', 2_000, () => this.#label()),
      this.#every('filter', 5_000, () => this.#filter()),
      this.#every('refused request', 500, () => this.#refused()),
      this.#every('hub connection', 700, () => this.#hub()),
      this.#every('aborted view', 1_000, () => this.#aborted()),
      this.#every('export', 10_000, () => this.#export()),
    ];
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#clients);
    this.#agent.destroy();
  }

  /** Runs one client: the act, then the pause, however long the act took. */
  async #every(name: string, pauseMs: number, act: () => Promise<void>): Promise<void> {
    while (!this.#stopped) {
      try {
        await act();
        this.done[name] = (this.done[name] ?? 0) + 1;
      } catch (error) {
        this.failed[name] = (this.failed[name] ?? 0) + 1;
        this.lastFault[name] = error instanceof Error ? error.message : String(error);
      }
      await pause(pauseMs * (0.5 + Math.random()));
    }
  }

  #anyone(): SoakAccount {
    return this.#accounts[Math.floor(Math.random() * this.#accounts.length)]!;
  }

  #ingest(octets = 3_000): () => Promise<void> {
    let sender: SmtpSender | undefined;
    let sent = 0;
    return async () => {
      sender ??= await SmtpSender.open('127.0.0.1', this.#node.port('mx'));
      const id = `<${randomBytes(9).toString('hex')}@remote.test>`;
      const answered = Math.random() < 0.5 ? this.#recentIds[Math.floor(Math.random() * this.#recentIds.length)] : '';
      const to = Math.random() < 0.1 ? [this.#anyone(), this.#anyone()] : [this.#anyone()];
      try {
        const message = messageOf(id, answered ?? '', octets);
        if (!(await sender.send('sender@remote.test', [...new Set(to.map(({ email }) => email))], message)))
          throw new Error('refused');
      } catch (error) {
        sent = MESSAGES_A_CONNECTION;
        throw error;
      } finally {
        if (++sent >= MESSAGES_A_CONNECTION) {
          sender.close();
          sender = undefined;
          sent = 0;
        }
      }
      this.#recentIds.push(id);
      if (this.#recentIds.length > 500) this.#recentIds.shift();
    };
  }

  async #read(): Promise<void> {
    const { key } = this.#anyone();
    const { items } = await this.#get<Page>(key, '/api/emails?pageSize=50');
    const email = items[Math.floor(Math.random() * items.length)];
    if (email === undefined) return;
    const detail = await this.#get<{ attachments: { id: string }[] }>(key, `/api/emails/${email.id}`);
    const attachment = detail.attachments[0];
    if (attachment !== undefined) await this.#call(key, 'GET', `/api/emails/${email.id}/attachments/${attachment.id}`);
  }

  async #search(): Promise<void> {
    const word = WORDS[Math.floor(Math.random() * WORDS.length)]!;
    await this.#get(this.#anyone().key, `/api/emails/search?q=${word.slice(0, 3 + Math.floor(Math.random() * 5))}`);
  }

  async #thread(): Promise<void> {
    const { key } = this.#anyone();
    const [email] = (await this.#get<Page>(key, '/api/emails?pageSize=1')).items;
    if (email !== undefined) await this.#get(key, `/api/emails/threads/${email.threadId}`);
  }

  async #mark(): Promise<void> {
    const { key } = this.#anyone();
    const [email] = (await this.#get<Page>(key, '/api/emails?pageSize=1')).items;
    if (email !== undefined) await this.#call(key, 'PATCH', `/api/emails/${email.id}`, { isRead: Math.random() < 0.5 });
  }

  async #trim(): Promise<void> {
    const { key } = this.#anyone();
    for (const list of ['/api/emails', '/api/emails/sent']) {
      const { totalCount } = await this.#get<Page>(key, `${list}?pageSize=1`);
      if (totalCount <= KEPT) continue;
      const { items } = await this.#get<Page>(key, `${list}?pageSize=100&page=${Math.ceil(totalCount / 100)}`);
      await this.#call(key, 'POST', '/api/emails/bulk/delete', { emailIds: items.map(({ id }) => id) });
    }
  }

  async #send(): Promise<void> {
    const { key, email } = this.#anyone();
    const recipients = [{ address: this.#anyone().email, type: 'To' }];
    const body = { fromAddress: email, subject: 'A letter', textBody: 'Some words.', recipients };
    const draft = JSON.parse(await this.#call(key, 'POST', '/api/outbound/drafts', body)) as { id: string };
    await this.#call(key, 'POST', `/api/outbound/drafts/${draft.id}/send`);
  }

  async #label(): Promise<void> {
    const { key } = this.#anyone();
    const name = randomBytes(6).toString('hex');
    const label = JSON.parse(
      await this.#call(key, 'POST', '/api/labels', { name, color: '#808080', sortOrder: 0 }),
    ) as { id: string };
    const { items } = await this.#get<Page>(key, '/api/emails?pageSize=5');
    for (const { id } of items) await this.#call(key, 'POST', `/api/labels/emails/${id}`, { labelId: label.id });
    await this.#call(key, 'DELETE', `/api/labels/${label.id}`);
  }

  async #filter(): Promise<void> {
    const { key } = this.#anyone();
    const rule = { name: 'soak', isEnabled: true, priority: 1, bodyContains: 'holiday', markAsRead: true };
    const { id } = JSON.parse(await this.#call(key, 'POST', '/api/filters', rule)) as { id: string };
    await this.#call(key, 'POST', `/api/filters/${id}/test`);
    await pause(3_000);
    await this.#call(key, 'DELETE', `/api/filters/${id}`);
  }

  async #refused(): Promise<void> {
    const wrong = randomBytes(24).toString('base64url');
    await this.#call(wrong, 'GET', '/api/emails', undefined, [401, 429]);
    await this.#call(this.#anyone().key, 'GET', `/api/emails/${randomBytes(8).toString('hex')}`, undefined, [404]);
  }

  #hub(): Promise<void> {
    const { key } = this.#anyone();
    return new Promise((resolve, reject) => {
      const socket = connect(this.#node.port('http'), '127.0.0.1');
      let got = '';
      socket.on('data', (data) => {
        const isUpgraded = got.includes('\r\n');
        got += data.toString('latin1');
        if (isUpgraded || !got.includes('\r\n')) return;
        const line = got.split('\r\n')[0]!;
        if (!line.startsWith('HTTP/1.1 101')) reject(new Error(line));
        const text = Buffer.from('{"protocol":"json","version":1}\u001e');
        socket.write(Buffer.concat([Buffer.of(0x81, 0x80 | text.length, 0, 0, 0, 0), text]));
        setTimeout(() => socket.destroy(), HUB_MS * 2 * Math.random());
        resolve();
      });
      socket.on('error', reject);
      socket.write(
        `GET /hubs/email HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
          `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n` +
          `Authorization: ApiKey ${key}\r\n\r\n`,
      );
    });
  }

  async #aborted(): Promise<void> {
    const { key } = this.#anyone();
    const { items } = await this.#get<Page>(key, '/api/emails?pageSize=50');
    const email = items.find(({ hasAttachments }) => hasAttachments) ?? items[0];
    if (email === undefined) return;
    await new Promise<void>((resolve) => {
      const headers = { authorization: `Bearer ${key}` };
      const path = `/api/emails/${email.id}/export/eml`;
      const sent = request({ port: this.#node.port('http'), path, headers }, (response) => {
        response.once('data', () => sent.destroy());
      });
      sent.on('error', () => {}).on('close', resolve);
      sent.end();
    });
  }

  async #export(): Promise<void> {
    await this.#call(this.#anyone().key, 'GET', '/api/emails/export/mbox');
  }

  async #get<T>(key: string, path: string): Promise<T> {
    return JSON.parse(await this.#call(key, 'GET', path)) as T;
  }

  #call(key: string, method: string, path: string, body?: object, expected?: readonly number[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const port = this.#node.port('http');
      const sent = request({ agent: this.#agent, port, method, path, headers, timeout: ANSWER_MS }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('error', reject).on('end', () => {
          const { statusCode = 0 } = response;
          const isRight = expected?.includes(statusCode) ?? statusCode < 300;
          if (isRight) resolve(text);
          else reject(new Error(`${method} ${path}: ${statusCode}`));
        });
      });
      sent.on('timeout', () => sent.destroy(new Error('no answer')));
      sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

function messageOf(id: string, answered: string, octets: number): string {
  const words: string[] = [];
  for (let length = 0; length < Math.min(octets, 3_000); ) {
    const word =
      Math.random() < 0.2 ? randomBytes(4).toString('hex') : WORDS[Math.floor(Math.random() * WORDS.length)]!;
    words.push(words.length % 12 === 11 ? `${word}\r\n` : word);
    length += word.length + 1;
  }
  const head =
    `From: Sender <sender@remote.test>\r\nTo: you@example.test\r\nSubject: ${words.slice(0, 4).join(' ')}\r\n` +
    `Message-ID: ${id}\r\n${answered === '' ? '' : `References: ${answered}\r\n`}` +
    `Date: Sat, 21 Nov 2026 12:00:00 +0000\r\nMIME-Version: 1.0\r\n`;
  const attachment = octets > 3_000 ? randomBytes((octets * 3) / 4).toString('base64') : undefined;
  if (attachment === undefined) return `${head}\r\n${words.join(' ')}\r\n.\r\n`;
  return (
    `${head}Content-Type: multipart/mixed; boundary=soak\r\n\r\n--soak\r\n\r\n${words.join(' ')}\r\n` +
    `--soak\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n` +
    `Content-Disposition: attachment; filename="data.bin"\r\n\r\n${attachment.replace(/.{76}/g, '$&\r\n')}\r\n--soak--\r\n.\r\n`
  );
}
