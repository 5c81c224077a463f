// One mail transaction (RFC 5321 §3.3): envelope, message, and what the server said to each recipient and to the whole. The
// library sends it, pipelined where the server allows; this feeds it the message and settles exactly once, whatever happens.
import type { Writable } from 'node:stream';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { type DeliveryFault, judgeFault, judgeReply, type Stage, type Verdict } from '../mail/delivery-status.js';
import type { ClientConnection } from './connection.js';
import type { CourierLimits } from './limits.js';
import type { OutgoingContent } from './outgoing-message.js';

export interface Envelope {
  /** '' is the null sender. */
  readonly sender: string;
  /** Different from each other. */
  readonly recipients: readonly string[];
  /** Non-ASCII addresses or header (RFC 6531 §3.4). */
  readonly isInternational: boolean;
  /** Header fields to put before the content; ASCII, every line ends in CRLF. */
  readonly prefix: string;
  readonly content: OutgoingContent;
}

export interface Judged {
  readonly verdict: Verdict;
  /** What the server said that decided; undefined when it said nothing. */
  readonly reply?: string | undefined;
  readonly stage?: Stage;
}

export interface TransactionResult {
  /** By recipient; every one is there. */
  readonly answers: ReadonlyMap<string, Judged>;
  /** The final dot is out and there is no reply: the message may have been taken (RFC 5321 §4.5.5). */
  readonly isDoubtful: boolean;
  /** The connection failed before the server said anything to this message. */
  readonly isUnheard: boolean;
  readonly isReusable: boolean;
  /** Before the next transaction. */
  readonly needsReset: boolean;
}

interface Surroundings {
  readonly limits: CourierLimits;
  /** Replaces what was watched for before. */
  watch(ms: number, what: string): void;
}

/** The library keeps its books in the envelope it is given. */
interface Books {
  from: string;
  to: string[];
  size: number;
  use8BitMime: boolean;
  accepted?: string[];
  rejectedErrors?: SMTPConnection.SMTPError[];
  mailError?: SMTPConnection.SMTPError;
}

const DOT_FIRST = /^\./m;

export class Transaction {
  readonly done: Promise<TransactionResult>;
  readonly #connection: ClientConnection;
  readonly #envelope: Envelope;
  readonly #around: Surroundings;
  readonly #books: Books;
  #settle!: (result: TransactionResult) => void;
  #reject!: (error: unknown) => void;
  #isOver = false;
  #wake: (() => void) | undefined;
  /** The last octet of the message was given to the library. */
  #isWritten = false;

  constructor(connection: ClientConnection, envelope: Envelope, around: Surroundings) {
    this.#connection = connection;
    this.#envelope = envelope;
    this.#around = around;
    this.#books = {
      from: envelope.sender,
      to: [...envelope.recipients],
      size: envelope.prefix.length + envelope.content.size,
      use8BitMime: envelope.content.isEightBit,
    };
    this.done = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#reject = reject;
    });
  }

  start(): void {
    const { limits } = this.#around;
    const { isInternational, prefix, content } = this.#envelope;
    this.#connection.begin(isInternational, content.isPlain && !DOT_FIRST.test(prefix));
    this.#around.watch(limits.envelopeMs, 'no reply to the envelope');
    // The library asks of a stream no more than `pipe` when it has nothing to listen to.
    const message = { pipe: (target: Writable) => this.#write(target) };
    this.#connection.send(this.#books, message as never, (error, info) => {
      if (error) this.#refused(error);
      else if (this.#isWritten) this.#accepted(info.response);
      else this.lost('the server took the message before it was sent', 'protocol');
    });
  }

  /** The connection is gone, or given up. `reply`: what the server said of it. */
  lost(detail: string, fault: DeliveryFault = 'lost', reply?: string): void {
    const verdict = reply === undefined ? judgeFault(fault, detail) : judgeReply(reply, 'mail');
    const { accepted = [], rejectedErrors = [], mailError } = this.#books;
    const isUnheard = accepted.length === 0 && rejectedErrors.length === 0 && mailError === undefined;
    this.#end({ verdict, reply }, { isReusable: false, isDoubtful: this.#isWritten, isUnheard });
  }

  #accepted(reply: string): void {
    this.#end({ verdict: judgeReply(reply, 'message'), reply, stage: 'message' }, { isReusable: true });
  }

  #refused(error: SMTPConnection.SMTPError): void {
    const { code, command, response } = error;
    if (code === 'ESTREAM' || response === undefined) this.lost(error.message);
    else if (code === 'EMESSAGE') this.#judged(response, 'message', this.#isWritten);
    else if (code !== 'EENVELOPE') this.lost(response, 'lost', response);
    else this.#judged(response, command === 'MAIL FROM' ? 'mail' : command === 'DATA' ? 'data' : 'rcpt', true);
  }

  #judged(reply: string, stage: Stage, isReusable: boolean): void {
    // Another reply than a refusal: server and client are out of step.
    const isInStep = /^[45]/.test(reply);
    this.#end(
      { verdict: judgeReply(reply, stage), reply, stage },
      { isReusable: isReusable && isInStep, needsReset: true },
    );
  }

  /** `rest`: for those whom the server did not refuse by name. */
  #end(rest: Judged, about: Partial<Omit<TransactionResult, 'answers'>>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake?.();
    const answers = new Map<string, Judged>();
    // Pipelined recipients of a refused sender are refused too, and not for their own sake.
    const refusals = this.#books.mailError === undefined ? (this.#books.rejectedErrors ?? []) : [];
    for (const { recipient = '', response } of refusals) {
      if (response === undefined) continue;
      answers.set(recipient, { verdict: judgeReply(response, 'rcpt'), reply: response, stage: 'rcpt' });
    }
    for (const recipient of this.#envelope.recipients) if (!answers.has(recipient)) answers.set(recipient, rest);
    const { destroyed, isOutOfStep } = this.#connection;
    const isReusable = about.isReusable === true && !destroyed && !isOutOfStep;
    this.#settle({ isDoubtful: false, isUnheard: false, needsReset: false, ...about, isReusable, answers });
  }

  #write(target: Writable): void {
    const { prefix, content } = this.#envelope;
    const { limits, watch } = this.#around;
    if (prefix !== '') target.write(prefix, 'latin1');
    if (content.whole !== undefined) {
      this.#isWritten = true;
      watch(limits.messageMs, 'no reply to the message');
      target.end(content.whole);
      return;
    }
    this.#stream(target).catch((error: unknown) => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#reject(error);
    });
  }

  async #stream(target: Writable): Promise<void> {
    const { limits, watch } = this.#around;
    for await (const chunk of this.#envelope.content.chunks()) {
      if (this.#isOver) return;
      watch(limits.blockMs, 'the message was not taken');
      if (target.write(chunk)) continue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        target.once('drain', resolve);
      });
      if (this.#isOver) return;
    }
    // What is still on its way is at most what buffers hold.
    this.#isWritten = true;
    watch(limits.messageMs, 'no reply to the message');
    target.end();
  }
}
