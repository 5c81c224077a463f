// The MX listener (RFC 5321): takes mail for hosted domains from anyone and relays nothing. It decides who is a recipient
// by asking the directory, reads the message and hands it to acceptance; limits and the wire are connection's and
// smtp-server's. One log line a message and a refusal, with ids and never with contents.
import type { Logger } from 'pino';
import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server';
import type { Directory } from '../../actors/directory/protocol.js';
import { NO_SPAN, NO_TRACER, type Tracer } from '../../actors/runtime/tracing.js';
import type { Authenticate, Origin } from '../../mail/authentication.js';
import { type Received, receivedLine, returnPathLine } from '../../mail/trace.js';
import type { Spool } from '../spool/spool.js';
import { TrustedNetworks } from '../tcp/trusted-networks.js';
import { type Acceptance, type AcceptancePorts, acceptMessage, type Destination } from './acceptance.js';
import { type ArrivedMessage, arrive } from './arrival.js';
import type { MessageStream } from './data-parser.js';
import { waitFor } from './deadline.js';
import { findRecipient, judgeRecipient, judgeSender } from './envelope-policy.js';
import { idSource } from './id-source.js';
import { DEFAULT_LIMITS, type SmtpLimits } from './limits.js';
import { logAccepted, logRefused } from './mail-log.js';
import { NO_METER, type SmtpMeter } from './meter.js';
import { type CertificateSource, ProxyRefused, SmtpServer } from './server.js';
import { Refused, type Reply, recipientReply, refusalReply, replyTo } from './verdict.js';

interface Receiver extends Omit<AcceptancePorts, 'directory' | 'tracer'> {
  readonly spool: Spool;
}

export interface MxOptions {
  readonly bind: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** In the banner and in Received. */
  readonly hostname: string;
  /** Octets. */
  readonly maxMessageSize: number;
  readonly tls: CertificateSource;
  readonly directory: Directory;
  readonly receiver: Receiver;
  /** Finds out where messages come from; without it they are taken as they are. */
  readonly authenticate?: Authenticate;
  readonly log: Logger;
  readonly meter?: SmtpMeter;
  readonly tracer?: Tracer;
  /** Domains whose postmaster may answer to `RCPT TO:<postmaster>`, after those the hostname is in. */
  readonly hostedDomains?: () => Promise<readonly string[]>;
  readonly limits?: Partial<SmtpLimits>;
  /** Whose PROXY header is believed. */
  readonly trusted?: TrustedNetworks;
}

export interface MxListener {
  /** `ip:port`. */
  readonly address: string;
  /** Open connections. */
  readonly connections: number;
  /** The listener is to stop soon: everything is taken as before, and connections that have become idle are ended. */
  beginDrain(): void;
  /** Stops listening and lets messages on their way finish for up to `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

type About = Readonly<Record<string, unknown>>;
type Callback = (error?: Error | null, message?: string) => void;

export async function startMx(options: MxOptions): Promise<MxListener> {
  const {
    receiver,
    directory,
    hostname,
    maxMessageSize,
    authenticate,
    log,
    meter = NO_METER,
    tracer = NO_TRACER,
  } = options;
  const ports: AcceptancePorts = { ...receiver, directory, tracer };
  const newId = idSource();
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const underWay = new Set<Promise<void>>();

  const refused = (session: SMTPServerSession, about: About, reason: string, code: number, fault?: unknown): void => {
    meter.refused(reason, code);
    logRefused(log, session, about, reason, code, fault);
  };

  const onMailFrom = (path: SMTPServerAddress, session: SMTPServerSession, done: Callback): void => {
    const refusal = judgeSender(path);
    if (refusal === undefined) done();
    else {
      const { code } = answer(done, refusalReply(refusal));
      refused(session, { sender: path.address }, refusal, code);
    }
  };

  const onRcptTo = (path: SMTPServerAddress, session: SMTPServerSession, done: Callback): void => {
    const about = { recipient: path.address, sender: sender(session) };
    const refuse = (reply: Reply, reason: string, fault?: unknown): void => {
      answer(done, reply);
      refused(session, about, reason, reply.code, fault);
    };
    const refusal = judgeRecipient(path, session.envelope.mailFrom);
    if (refusal !== undefined) {
      refuse(refusalReply(refusal), refusal);
      return;
    }
    // Those before it in this message, put there below.
    const others = session.envelope.rcptTo as (SMTPServerAddress & Destination)[];
    const beside = others.flatMap(({ recipient }) => (recipient.kind === 'hold' ? [recipient.address] : []));
    findRecipient(options, path.address, beside).then(
      (recipient) => {
        if (recipient.kind !== 'mailbox' && recipient.kind !== 'hold') {
          return refuse(recipientReply(recipient.kind), recipient.kind);
        }
        Object.assign(path, { recipient });
        done();
      },
      (error: unknown) => refuse(replyTo(error), 'fault', error),
    );
  };

  const onData = (stream: MessageStream, session: SMTPServerSession, done: Callback): void => {
    const work = takeMessage(stream, session, done).finally(() => underWay.delete(work));
    underWay.add(work);
  };

  const takeMessage = async (stream: MessageStream, session: SMTPServerSession, done: Callback): Promise<void> => {
    const transaction = newId();
    const receivedAt = Date.now();
    const from = sender(session);
    // The recipient was put beside the address by onRcptTo.
    const destinations = session.envelope.rcptTo as (SMTPServerAddress & Destination)[];
    let span = NO_SPAN;
    let ended: number | undefined;
    stream.once('end', () => {
      ended = performance.now();
      const attributes = { 'mansio.transaction': transaction, 'mansio.message.recipients': destinations.length };
      span = tracer.start('SMTP message', { kind: 'server', attributes });
    });
    const replied = (reply: number, failure?: unknown): void => {
      if (ended === undefined) return;
      meter.replied(reply < 400, performance.now() - ended);
      span.set({ 'mansio.smtp.reply': reply });
      span.end(failure);
    };
    let accepted: ArrivedMessage & { readonly acceptance: Acceptance };
    try {
      const message = await arrive(stream, receiver.spool.bodyWriter(), {
        maxSize: maxMessageSize,
        maxHeaderSize: limits.headerSize,
        returnPath: returnPathLine(from),
        received: receivedLine(received(session, hostname, transaction, receivedAt)),
        authenticate: authenticate && ((header) => authenticate(origin(session), header)),
      });
      span.set({ 'mansio.message.octets': message.content.size });
      const accepting = span.within(() => acceptMessage(ports, message, destinations, receivedAt, newId));
      accepted = { ...message, acceptance: await accepting };
    } catch (error) {
      const { code } = answer(done, replyTo(error));
      const about = { transaction, sender: from, recipients: destinations.length };
      if (error instanceof Refused) refused(session, about, error.refusal, code);
      else refused(session, about, 'fault', code, error);
      replied(code, error instanceof Refused ? undefined : error);
      return;
    }
    done(null, `2.0.0 Accepted as ${transaction}`);
    replied(250);
    const { hash: blob, size } = accepted.content;
    const { summary: authentication } = accepted.authenticated ?? {};
    const { deliveries } = accepted.acceptance;
    const placed = deliveries.filter(({ emailId }) => emailId !== undefined).length;
    meter.accepted({ octets: size, mailboxes: deliveries.length, placed });
    logAccepted(
      log,
      session,
      { transaction, blob, size, sender: from, receivedAt, authentication },
      accepted.acceptance,
    );
  };

  const pair = options.tls.current();
  const server = new SmtpServer(
    {
      name: hostname,
      size: maxMessageSize,
      disabledCommands: ['AUTH', 'WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'],
      key: pair.key,
      cert: pair.cert,
      onMailFrom,
      onRcptTo,
      onData: onData as NonNullable<ConstructorParameters<typeof SmtpServer>[0]['onData']>,
      onClose: (session) => log.debug({ remoteAddress: session.remoteAddress, session: session.id }, 'smtp closed'),
    },
    limits,
    options.trusted ?? new TrustedNetworks([]),
  );
  server.on('connect', (connection) => {
    log.debug({ remoteAddress: connection.remoteAddress, session: connection.id }, 'smtp connected');
  });
  server.on('error', (error) => {
    if (error instanceof ProxyRefused) log.warn({ err: error.cause, proxy: error.proxy }, error.message);
    // The peer's doing: resets, failed handshakes.
    else log.debug({ err: error }, 'smtp connection failed');
  });
  options.tls.onChange(() => {
    try {
      server.renew(options.tls.current());
    } catch (error) {
      log.error({ err: error }, 'new certificate cannot be used, keeping the old one');
    }
  });

  const address = await server.open(options.port, options.bind);
  return {
    address,
    get connections() {
      return server.openConnections;
    },
    beginDrain: () => server.beginDrain(),
    async stop(graceMs) {
      const deadline = Date.now() + graceMs;
      await server.drain(graceMs);
      // What was committed may still wait for its mailbox; the row is safe, so this only spares a second try.
      await waitFor(Promise.all(underWay), Math.max(0, deadline - Date.now()));
    },
  };
}

/** As smtp-server takes a refusal. */
function answer(done: Callback, reply: Reply): Reply {
  done(Object.assign(new Error(reply.text), { responseCode: reply.code }));
  return reply;
}

function sender(session: SMTPServerSession): string {
  return session.envelope.mailFrom ? session.envelope.mailFrom.address : '';
}

/** After a PROXY header the address is that of who connected to the proxy. */
function origin(session: SMTPServerSession): Origin {
  return { remoteAddress: session.remoteAddress, helo: session.hostNameAppearsAs, sender: sender(session) };
}

function received(session: SMTPServerSession, hostName: string, id: string, receivedAt: number): Received {
  const { rcptTo, smtpUtf8 } = session.envelope;
  return {
    helo: session.hostNameAppearsAs,
    remoteAddress: session.remoteAddress,
    hostName,
    // RFC 6531 §4.3.
    protocol: smtpUtf8 ? `UTF8SMTP${session.secure ? 'S' : ''}` : session.transmissionType,
    id,
    date: new Date(receivedAt),
    // Naming one of several would tell it to the others.
    recipient: rcptTo.length === 1 ? rcptTo[0]!.address : undefined,
  };
}
