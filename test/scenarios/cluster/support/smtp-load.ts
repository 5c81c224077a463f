// Implements one sender of the load. Every attempt at a message has its own id in the subject, so that an attempt whose answer was lost
// differs from its repetition: the former may be there at most once, the acknowledged one is there once.
import type { TestAccount } from '../../../../dev/node-accounts.js';
import { SmtpClient } from '../../../support/clients/smtp-client.js';
import type { Target } from './load.js';

export interface Refusal {
  readonly node: string;
  readonly code: number;
  /** The step before the refusal: a command, `message`, or `connect`. */
  readonly after: string;
  readonly text: string;
}

/** Collects the answers that senders got. */
export interface Mailing {
  /** Subject → addresses it was accepted for. */
  readonly accepted: Map<string, readonly string[]>;
  /** Subjects of messages that were sent completely and not answered. */
  readonly open: Set<string>;
  /** Refusals with 4xx: the sender tries another node. */
  readonly temporary: Refusal[];
  /** Refusals with 5xx: the message bounces. */
  readonly refused: Refusal[];
  /** Number of 421 replies between two messages: the connection ended, nothing was refused. */
  goodbyes: number;
  /** Connections that broke or hung within a message. */
  interrupted: number;
  /** Connections that could not be opened. */
  unreachable: number;
  /** In ms, from the first attempt at a message to its acknowledgement. */
  slowestMs: number;
}

export interface Work {
  readonly targets: () => readonly Target[];
  readonly accounts: readonly TestAccount[];
  readonly pauseMs: () => number;
  readonly answerMs: number;
  readonly stopping: () => boolean;
}

const RETRY_MS = 50;
const PER_CONNECTION = 20;

class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(`${refusal.code} ${refusal.text}`);
    this.refusal = refusal;
  }
}

export async function sender(number: number, work: Work, mailing: Mailing): Promise<void> {
  let turn = number;
  let connection: Connection | undefined;
  for (let message = 1; !work.stopping(); message++) {
    const to = recipients(work.accounts, number + message);
    const began = performance.now();
    // A sender completes a started message, as an MTA does; the end of the load is the limit.
    for (let attempt = 1; !work.stopping(); attempt++) {
      const subject = `sender ${number} message ${message} attempt ${attempt}`;
      try {
        if (connection === undefined || connection.sent >= PER_CONNECTION) {
          connection?.close();
          connection = undefined;
          const targets = work.targets();
          connection = await Connection.open(targets[turn++ % targets.length]!, work.answerMs);
        }
        await connection.send(subject, to, mailing.open);
        mailing.accepted.set(subject, to);
        mailing.slowestMs = Math.max(mailing.slowestMs, performance.now() - began);
        break;
      } catch (error) {
        if (error instanceof Refused && isGoodbye(error.refusal)) mailing.goodbyes++;
        else if (error instanceof Refused) {
          const forGood = error.refusal.code >= 500;
          (forGood ? mailing.refused : mailing.temporary).push(error.refusal);
          if (forGood) break;
        } else if (connection === undefined) mailing.unreachable++;
        else mailing.interrupted++;
        connection?.close();
        connection = undefined;
        await pause(RETRY_MS);
      }
    }
    await pause(work.pauseMs());
  }
  connection?.close();
}

/** The server sent it before the next message began, or while its first command was on the way. */
function isGoodbye({ code, after }: Refusal): boolean {
  return code === 421 && after.startsWith('MAIL ');
}

/** Returns one account, and all of them for every fifth message. */
function recipients(accounts: readonly TestAccount[], number: number): readonly string[] {
  const some = number % 5 === 0 ? accounts : [accounts[number % accounts.length]!];
  return some.map(({ email }) => email);
}

class Connection {
  sent = 0;
  readonly #node: string;
  readonly #client: SmtpClient;
  readonly #answerMs: number;

  private constructor(node: string, client: SmtpClient, answerMs: number) {
    this.#node = node;
    this.#client = client;
    this.#answerMs = answerMs;
  }

  static async open({ name, mx }: Target, answerMs: number): Promise<Connection> {
    const client = await bounded(SmtpClient.connect(mx), answerMs);
    const connection = new Connection(name, client, answerMs);
    try {
      await connection.#expect('connect', 220);
      await connection.#say('EHLO load.test', 250);
      return connection;
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  async send(subject: string, to: readonly string[], open: Set<string>): Promise<void> {
    this.sent++;
    await this.#say('MAIL FROM:<load@remote.test>', 250);
    for (const address of to) await this.#say(`RCPT TO:<${address}>`, 250);
    await this.#say('DATA', 354);
    open.add(subject);
    const header = `From: load@remote.test\r\nTo: ${to.join(', ')}\r\nSubject: ${subject}\r\n`;
    this.#client.write(`${header}\r\n${'Some text of a message.\r\n'.repeat(40)}.\r\n`);
    try {
      await this.#expect('message', 250);
      open.delete(subject);
    } catch (error) {
      if (error instanceof Refused) open.delete(subject);
      throw error;
    }
  }

  close(): void {
    this.#client.destroy();
  }

  async #say(line: string, wanted: number): Promise<void> {
    this.#client.write(`${line}\r\n`);
    await this.#expect(line, wanted);
  }

  async #expect(after: string, wanted: number): Promise<void> {
    // Destroying the client ends the wait: a node that hangs counts as one that has vanished.
    const timer = setTimeout(() => this.#client.destroy(), this.#answerMs);
    try {
      const { code, text } = await this.#client.reply();
      if (code !== wanted) throw new Refused({ node: this.#node, code, after, text });
    } finally {
      clearTimeout(timer);
    }
  }
}

async function bounded(connecting: Promise<SmtpClient>, withinMs: number): Promise<SmtpClient> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      connecting.then((client) => client.destroy()).catch(() => {});
      reject(new Error('no connection in time'));
    }, withinMs);
  });
  return Promise.race([connecting, late]).finally(() => clearTimeout(timer));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
