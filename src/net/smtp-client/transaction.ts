// One mail transaction (RFC 5321 §3.3): envelope, message, and the server's reply to each recipient and to the message. The library sends
// commands, pipelined if the server allows it; this file writes the message and settles exactly once.
import type { Writable } from 'node:stream';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import {
  type DeliveryFault,
  type DeliveryStatus,
  faultStatus,
  replyStatus,
  type Stage,
} from '../../mail-format/reports/delivery-status.js';
import type { ClientConnection, EnvelopeDsn } from './connection.js';
import type { SmtpClientLimits } from './limits.js';
import type { OutgoingMessage } from './outgoing-message.js';

export interface Envelope {
  /** '' is the null sender. */
  readonly sender: string;
  /** The recipients differ from each other. */
  readonly recipients: readonly string[];
  /** True for non-ASCII addresses or a non-ASCII header (RFC 6531 §3.4). */
  readonly isInternational: boolean;
  /** The header fields that precede the content; ASCII, every line ends in CRLF. */
  readonly prefix: string;
  /** The notifications that the sender asks for. */
  readonly dsn?: EnvelopeDsn | undefined;
  readonly content: OutgoingMessage;
}

export interface Answer {
  readonly status: DeliveryStatus;
  /** The deciding reply; undefined when there is none. */
  readonly reply?: string | undefined;
  readonly stage?: Stage;
}

export interface TransactionResult {
  /** The answer for every recipient. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** True when the final dot is sent and no reply tells whether the message was accepted (RFC 5321 §4.5.5): it may have been. */
  readonly isDoubtful: boolean;
  /** True when the server asked for the message: each reply so far belongs to its command. */
  readonly isInStep: boolean;
  /** True when the connection failed before the server replied to anything of this message. */
  readonly isUnanswered: boolean;
  readonly isReusable: boolean;
  /** True when RSET is needed before the next transaction. */
  readonly needsReset: boolean;
}

interface TransactionOptions {
  readonly limits: SmtpClientLimits;
  /** Sets the time limit, which replaces the previous one. */
  watch(ms: number, what: string): void;
}

/** The library writes its results into this envelope. */
interface LibraryEnvelope {
  from: string;
  to: string[];
  size: number;
  use8BitMime: boolean;
  accepted?: string[];
  rejectedErrors?: SMTPConnection.SMTPError[];
  mailError?: SMTPConnection.SMTPError;
}

/** The characters of a status that are kept before the note of doubt. */
const SHORTENED = 440;

function doubtful(status: DeliveryStatus): DeliveryStatus {
  const text = `${[...status.text].slice(0, SHORTENED).join('')} (the host may have taken the message)`;
  return { ...status, text };
}

const DOT_FIRST = /^\./m;

export class Transaction {
  readonly done: Promise<TransactionResult>;
  readonly #connection: ClientConnection;
  readonly #envelope: Envelope;
  readonly #options: TransactionOptions;
  readonly #envelopeState: LibraryEnvelope;
  #settle!: (result: TransactionResult) => void;
  #reject!: (error: unknown) => void;
  #isOver = false;
  #wake: (() => void) | undefined;
  /** True after 354. */
  #isAskedFor = false;
  /** True when the last octet of the message was passed to the library. */
  #isWritten = false;

  constructor(connection: ClientConnection, envelope: Envelope, options: TransactionOptions) {
    this.#connection = connection;
    this.#envelope = envelope;
    this.#options = options;
    this.#envelopeState = {
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
    const { limits } = this.#options;
    const { isInternational, prefix, content, dsn } = this.#envelope;
    this.#connection.begin(isInternational, content.isPlain && !DOT_FIRST.test(prefix), dsn);
    this.#options.watch(limits.envelopeMs, 'no reply to the envelope');
    // The library calls only `pipe` when the stream has no method for listeners.
    const message = { pipe: (target: Writable) => this.#write(target) };
    this.#connection.send(this.#envelopeState, message as never, (error, info) => {
      if (error) this.#refused(error);
      else if (this.#isWritten) this.#accepted(info.response);
      else this.lost('the server took the message before it was sent', 'protocol');
    });
  }

  /** Called when the connection ended or is abandoned. `reply` is the server's reason. */
  lost(detail: string, fault: DeliveryFault = 'lost', reply?: string): void {
    const status = reply === undefined ? faultStatus(fault, detail) : replyStatus(reply, 'mail');
    const { accepted = [], rejectedErrors = [], mailError } = this.#envelopeState;
    const isUnanswered = accepted.length === 0 && rejectedErrors.length === 0 && mailError === undefined;
    this.#end({ status, reply }, { isReusable: false, isDoubtful: this.#isWritten, isUnanswered });
  }

  #accepted(reply: string): void {
    const status = replyStatus(reply, 'message');
    const isInStep = status.kind === 'delivered';
    this.#end({ status, reply, stage: 'message' }, { isReusable: isInStep, isDoubtful: !isInStep });
  }

  #refused(error: SMTPConnection.SMTPError): void {
    const { code, command, response } = error;
    if (code === 'ESTREAM' || response === undefined) this.lost(error.message);
    else if (code === 'EMESSAGE') this.#judged(response, 'message', this.#isWritten);
    else if (code !== 'EENVELOPE') this.lost(response, 'lost', response);
    else this.#judged(response, command === 'MAIL FROM' ? 'mail' : command === 'DATA' ? 'data' : 'rcpt', true);
  }

  #judged(reply: string, stage: Stage, isReusable: boolean): void {
    // This is not a refusal: server and client are out of step.
    const isInStep = /^[45]/.test(reply);
    this.#end(
      { status: replyStatus(reply, stage), reply, stage },
      { isReusable: isReusable && isInStep, needsReset: true, isDoubtful: stage === 'message' && !isInStep },
    );
  }

  /** `rest` is the answer for recipients without a refusal of their own. */
  #end(rest: Answer, about: Partial<Omit<TransactionResult, 'answers'>>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake?.();
    const answers = new Map<string, Answer>();
    // When the sender is refused, refusals of pipelined recipients refer to the sender.
    const refusals = this.#envelopeState.mailError === undefined ? (this.#envelopeState.rejectedErrors ?? []) : [];
    for (const { recipient = '', response } of refusals) {
      if (response === undefined) continue;
      answers.set(recipient, { status: replyStatus(response, 'rcpt'), reply: response, stage: 'rcpt' });
    }
    const others = about.isDoubtful === true ? { ...rest, status: doubtful(rest.status) } : rest;
    for (const recipient of this.#envelope.recipients) if (!answers.has(recipient)) answers.set(recipient, others);
    const { destroyed, isOutOfStep } = this.#connection;
    const isReusable = about.isReusable === true && !destroyed && !isOutOfStep;
    const isInStep = this.#isAskedFor;
    this.#settle({
      isDoubtful: false,
      isUnanswered: false,
      needsReset: false,
      ...about,
      isInStep,
      isReusable,
      answers,
    });
  }

  #write(target: Writable): void {
    this.#isAskedFor = true;
    const { prefix, content } = this.#envelope;
    const { limits, watch } = this.#options;
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
    const { limits, watch } = this.#options;
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
    // The rest of the message is in buffers.
    this.#isWritten = true;
    watch(limits.messageMs, 'no reply to the message');
    target.end();
  }
}
