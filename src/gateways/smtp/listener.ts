// The common part of all SMTP listeners. The handlers (mx, submission) accept or reject each command. The listener turns their
// rejections into replies and log lines, counts and traces messages, renews the certificate, and when it stops, waits for
// messages that are being received. `connection` holds the limits of a session, smtp-server the syntax.
import type { Logger } from 'pino';
import type { SMTPServerAddress, SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { NO_SPAN, NO_TRACER, type Span, type Tracer } from '../../actors/runtime/tracing.js';
import type { ListenerLogins } from '../../auth/listener-logins.js';
import { atMost } from '../../concurrency/time-bounds.js';
import type { CertificateSource } from '../../net/tcp/certificate-source.js';
import { TrustedNetworks } from '../../net/tcp/trusted-networks.js';
import { clock } from '../../store/clock.js';
import { newId } from '../../store/ids/new-id.js';
import type { MessageStream } from './data-parser.js';
import { DEFAULT_LIMITS, type SmtpLimits } from './limits.js';
import { logRefused } from './mail-log.js';
import type { ListenerMeter } from './meter.js';
import type { NewRefusal, RefusalRecord } from './refusal-record.js';
import { refusalIn, replyTo, type SmtpReply } from './replies.js';
import { ProxyRefused, SmtpServer } from './server.js';

export interface ListenerOptions {
  readonly bind: string;
  /** The port; 0 picks a free one. */
  readonly port: number;
  /** The name in the banner and in Received. */
  readonly hostname: string;
  /** Octets. */
  readonly maxMessageSize: number;
  readonly tls: CertificateSource;
  readonly log: Logger;
  readonly tracer?: Tracer;
  readonly limits?: Partial<SmtpLimits>;
  /** Networks whose PROXY header is believed. */
  readonly trusted?: TrustedNetworks;
  readonly refusals?: Pick<RefusalRecord, 'add'>;
}

export interface SmtpListener {
  /** `ip:port`. */
  readonly address: string;
  /** Open connections. */
  readonly connections: number;
  /**
   * Prepares the listener to stop: everything is accepted as before, and idle connections are ended.
   * `othersListen` leaves new connections to the other processes that share the port.
   */
  beginDrain(othersListen?: boolean): void;
  /** Stops listening; messages that are being received may finish for up to `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** The reason why a command is not carried out. */
export interface Rejection {
  readonly reply: SmtpReply;
  /** One of a closed set of words. */
  readonly reason: string;
  /** The error that was thrown, unless it was a refusal. */
  readonly fault?: unknown;
}

type Decision = Rejection | undefined | Promise<Rejection | undefined>;

export interface MailTransaction {
  /** The id in the log and in Received. */
  readonly transaction: string;
  /** ms since the epoch. */
  readonly receivedAt: number;
  /** The envelope sender; '' is the null sender. */
  readonly sender: string;
  /** Runs from the end of DATA to the reply. */
  readonly span: Span;
  readonly newId: () => string;
  /** Set when the header of a message that is refused has one. */
  messageId?: string | undefined;
}

export interface DataReply {
  /** Text of the 250. */
  readonly text: string;
  /** Called after the reply. */
  readonly afterwards: () => void;
}

export interface SmtpHandlers {
  readonly settings: Pick<SMTPServerOptions, 'secure' | 'needsUpgrade' | 'hideDSN'>;
  readonly name: 'mx' | 'submission';
  readonly meter: ListenerMeter;
  readonly logins?: ListenerLogins<SmtpReply>;
  mailFrom(path: SMTPServerAddress, session: SMTPServerSession): Decision;
  rcptTo(path: SMTPServerAddress, session: SMTPServerSession): Decision;
  /** Resolves once the message is committed. @throws SmtpRefused and faults when it is not */
  onMessage(stream: MessageStream, session: SMTPServerSession, mailTransaction: MailTransaction): Promise<DataReply>;
  /** Fields for log lines. */
  about?(session: SMTPServerSession): Readonly<Record<string, unknown>>;
}

type Callback = (error?: Error | null, message?: string) => void;

const NEVER_OFFERED = ['WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'];

/** Returns the server too, for callers that end sessions. */
export async function startListener(
  options: ListenerOptions,
  handlers: SmtpHandlers,
): Promise<{ readonly listener: SmtpListener; readonly server: SmtpServer }> {
  const { log } = options;
  const messages = new MessageReceipt(options, handlers);
  const server = new SmtpServer(
    {
      ...handlers.settings,
      name: options.hostname,
      size: options.maxMessageSize,
      disabledCommands: handlers.logins === undefined ? ['AUTH', ...NEVER_OFFERED] : NEVER_OFFERED,
      onMailFrom: (path, session, done) => messages.onMailFrom(path, session, done),
      onRcptTo: (path, session, done) => messages.onRcptTo(path, session, done),
      onData: (stream, session, done) => messages.onData(stream as MessageStream, session, done),
      onClose: (session) => log.debug({ remoteAddress: session.remoteAddress, session: session.id }, 'smtp closed'),
    },
    { ...DEFAULT_LIMITS, ...options.limits },
    options.trusted ?? new TrustedNetworks([]),
    options.tls,
    handlers.logins,
  );
  server.on('connect', (connection) => {
    log.debug({ remoteAddress: connection.remoteAddress, session: connection.id }, 'smtp connected');
  });
  server.on('error', (error) => {
    if (error instanceof ProxyRefused) log.warn({ err: error.cause, proxy: error.proxy }, error.message);
    // The peer causes these: resets and failed handshakes.
    else log.debug({ err: error }, 'smtp connection failed');
  });

  const address = await server.open(options.port, options.bind);
  const listener: SmtpListener = {
    address,
    get connections() {
      return server.openConnections;
    },
    beginDrain: (othersListen) => server.beginDrain(othersListen),
    async stop(graceMs) {
      const deadline = performance.now() + graceMs;
      await server.drain(graceMs);
      // Committed messages may still wait for their mailboxes; that is safe, so waiting only saves a second attempt.
      await atMost(messages.allAnswered(), deadline - performance.now());
    },
  };
  return { listener, server };
}

/** Answers the commands of a mail transaction as the handlers decide, logs and counts. */
class MessageReceipt {
  readonly #handlers: SmtpHandlers;
  readonly #log: Logger;
  readonly #tracer: Tracer;
  readonly #meter: ListenerMeter;
  readonly #refusals: ListenerOptions['refusals'];
  readonly #inProgress = new Set<Promise<void>>();

  constructor({ log, tracer = NO_TRACER, refusals }: ListenerOptions, handlers: SmtpHandlers) {
    this.#handlers = handlers;
    this.#refusals = refusals;
    this.#log = log;
    this.#tracer = tracer;
    this.#meter = handlers.meter;
  }

  async allAnswered(): Promise<void> {
    await Promise.all(this.#inProgress);
  }

  #refused(
    session: SMTPServerSession,
    about: Readonly<Record<string, unknown>>,
    { reply: { code }, reason, fault }: Rejection,
    mail: Pick<NewRefusal, 'recipients' | 'transaction' | 'messageId'>,
  ): void {
    this.#meter.refused(reason, code);
    this.#refusals?.add(session, { ...mail, listener: this.#handlers.name, code, reason });
    logRefused(this.#log, session, { ...about, ...this.#handlers.about?.(session) }, reason, code, fault);
  }

  #reply(
    decision: Decision,
    session: SMTPServerSession,
    about: Readonly<Record<string, unknown>>,
    recipients: readonly string[],
    done: Callback,
  ): void {
    const end = (rejection: Rejection | undefined): void => {
      if (rejection === undefined) {
        done();
        return;
      }
      answer(done, rejection.reply);
      this.#refused(session, about, rejection, { recipients });
    };
    if (decision instanceof Promise) decision.then(end, (fault: unknown) => end(rejectionOf(fault)));
    else end(decision);
  }

  onMailFrom(path: SMTPServerAddress, session: SMTPServerSession, done: Callback): void {
    this.#reply(this.#handlers.mailFrom(path, session), session, { sender: path.address }, [], done);
  }

  onRcptTo(path: SMTPServerAddress, session: SMTPServerSession, done: Callback): void {
    this.#reply(
      this.#handlers.rcptTo(path, session),
      session,
      { recipient: path.address, sender: senderOf(session) },
      [path.address],
      done,
    );
  }

  onData(stream: MessageStream, session: SMTPServerSession, done: Callback): void {
    const work = this.#receiveMessage(stream, session, done).finally(() => this.#inProgress.delete(work));
    this.#inProgress.add(work);
  }

  async #receiveMessage(stream: MessageStream, session: SMTPServerSession, done: Callback): Promise<void> {
    const transaction = newId();
    const receivedAt = clock.now();
    const sender = senderOf(session);
    const recipients = session.envelope.rcptTo.length;
    let span = NO_SPAN;
    let ended: number | undefined;
    stream.once('end', () => {
      ended = performance.now();
      const attributes = { 'mansio.transaction': transaction, 'mansio.message.recipients': recipients };
      span = this.#tracer.start('SMTP message', { kind: 'server', attributes });
    });
    const replied = (reply: number, failure?: unknown): void => {
      if (ended === undefined) return;
      this.#meter.replied(reply < 400, performance.now() - ended);
      span.set({ 'mansio.smtp.reply': reply });
      span.end(failure);
    };
    const mailTransaction: MailTransaction = {
      transaction,
      receivedAt,
      sender,
      newId,
      get span() {
        return span;
      },
    };
    let accepted: DataReply;
    try {
      accepted = await this.#handlers.onMessage(stream, session, mailTransaction);
    } catch (error) {
      const rejection = rejectionOf(error);
      const { code } = answer(done, rejection.reply);
      this.#refused(session, { transaction, sender, recipients }, rejection, {
        recipients: session.envelope.rcptTo.map(({ address }) => address),
        transaction,
        messageId: mailTransaction.messageId ?? null,
      });
      replied(code, rejection.fault);
      return;
    }
    done(null, accepted.text);
    replied(250);
    accepted.afterwards();
  }
}

/** RFC 3848, RFC 6531 §4.3. */
export function protocolOf({ envelope, secure, user, openingCommand }: SMTPServerSession): string {
  const type = envelope.smtpUtf8 ? 'UTF8SMTP' : openingCommand === 'EHLO' || user ? 'ESMTP' : 'SMTP';
  return `${type}${secure ? 'S' : ''}${user ? 'A' : ''}`;
}

function rejectionOf(error: unknown): Rejection {
  const reply = replyTo(error);
  const refusal = refusalIn(error);
  return refusal === undefined ? { reply, reason: 'fault', fault: error } : { reply, reason: refusal };
}

/** Passes a refusal to smtp-server in the form that it expects. */
function answer(done: Callback, reply: SmtpReply): SmtpReply {
  done(Object.assign(new Error(reply.text), { responseCode: reply.code }));
  return reply;
}

function senderOf(session: SMTPServerSession): string {
  return session.envelope.mailFrom ? session.envelope.mailFrom.address : '';
}
