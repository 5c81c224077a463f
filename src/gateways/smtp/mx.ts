// The MX listener (RFC 5321): takes mail for hosted domains from anyone and relays nothing. It decides who is a recipient
// by asking the directory, reads the message and hands it to acceptance; limits and the wire are connection's and
// smtp-server's. One log line a message and a refusal, with ids and never with contents.
import type { Logger } from 'pino';
import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server';
import type { Directory, Recipient } from '../../actors/directory/protocol.js';
import { parseAddress } from '../../mail/address.js';
import { type Received, receivedLine, returnPathLine } from '../../mail/trace.js';
import type { Spool } from '../spool/spool.js';
import { type Acceptance, type AcceptancePorts, acceptMessage, type Destination } from './acceptance.js';
import type { MessageStream } from './data-parser.js';
import { idSource } from './id-source.js';
import { DEFAULT_LIMITS, type SmtpLimits } from './limits.js';
import { isAscii } from './path.js';
import { receive } from './receive.js';
import { type CertificateSource, SmtpServer } from './server.js';
import { isBug, type Refusal, type Reply, recipientReply, refusalReply, replyTo } from './verdict.js';

export interface Receiver extends AcceptancePorts {
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
  readonly log: Logger;
  /** Domains whose postmaster may answer to `RCPT TO:<postmaster>`, after those the hostname is in. */
  readonly hostedDomains?: () => Promise<readonly string[]>;
  readonly limits?: Partial<SmtpLimits>;
}

export interface MxListener {
  /** `ip:port`. */
  readonly address: string;
  /** Stops listening and lets messages on their way finish for up to `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

type Recipients = SMTPServerAddress & { accountId?: string };
type Callback = (error?: Error | null, message?: string) => void;

export async function startMx(options: MxOptions): Promise<MxListener> {
  const { directory, receiver, hostname, maxMessageSize, log } = options;
  const newId = idSource();
  const underWay = new Set<Promise<void>>();

  const onMailFrom = (path: SMTPServerAddress, session: SMTPServerSession, done: Callback): void => {
    const refusal = judgeSender(path);
    if (refusal === undefined) done();
    else refuse(log, session, done, refusalReply(refusal), refusal, { sender: path.address });
  };

  const onRcptTo = (path: Recipients, session: SMTPServerSession, done: Callback): void => {
    const refusal = judgeRecipient(path, session);
    const about = { recipient: path.address, sender: sender(session) };
    if (refusal !== undefined) {
      refuse(log, session, done, refusalReply(refusal), refusal, about);
      return;
    }
    resolveRecipient(options, path.address).then(
      (recipient) => {
        if (recipient.kind === 'mailbox') {
          path.accountId = recipient.accountId;
          done();
        } else refuse(log, session, done, recipientReply(recipient.kind), recipient.kind, about);
      },
      (error: unknown) => refuse(log, session, done, replyTo(error), 'fault', about, error),
    );
  };

  const onData = (stream: MessageStream, session: SMTPServerSession, done: Callback): void => {
    const work = takeMessage(stream, session, done).finally(() => underWay.delete(work));
    underWay.add(work);
  };

  const takeMessage = async (stream: MessageStream, session: SMTPServerSession, done: Callback): Promise<void> => {
    const id = newId();
    const receivedAt = Date.now();
    const from = sender(session);
    const destinations = session.envelope.rcptTo as (Recipients & Destination)[];
    try {
      const trace = Buffer.from(returnPathLine(from) + receivedLine(received(session, hostname, id, receivedAt)));
      const content = await receive(stream, receiver.spool.writer(), trace, maxMessageSize);
      const { hash, size } = content;
      const acceptance = await acceptMessage(receiver, content, destinations, receivedAt, newId);
      done(null, `2.0.0 Accepted as ${id}`);
      logAccepted(log, session, { transaction: id, blob: hash, size, sender: from, receivedAt }, acceptance);
    } catch (error) {
      const reason = error instanceof Error && 'refusal' in error ? String(error.refusal) : 'fault';
      const about = { transaction: id, sender: from, recipients: destinations.length };
      refuse(log, session, done, replyTo(error), reason, about, reason === 'fault' ? error : undefined);
    }
  };

  const pair = options.tls.current();
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
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
  );
  server.on('connect', (connection) => {
    log.debug({ remoteAddress: connection.remoteAddress, session: connection.id }, 'smtp connected');
  });
  // The peer's doing: resets, failed handshakes.
  server.on('error', (error) => log.debug({ err: error }, 'smtp connection failed'));
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
    async stop(graceMs) {
      const deadline = Date.now() + graceMs;
      await server.drain(graceMs);
      // What was committed may still wait for its mailbox; the row is safe, so this only spares a second try.
      await settled(underWay, Math.max(0, deadline - Date.now()));
    },
  };

  function resolveRecipient(at: MxOptions, recipient: string): Promise<Recipient> {
    if (recipient.toLowerCase() !== 'postmaster') return directory.recipient(recipient);
    return resolvePostmaster(at);
  }
}

const MAIL_PARAMETERS = new Set(['SIZE', 'BODY', 'SMTPUTF8']);

function judgeSender(path: SMTPServerAddress): Refusal | undefined {
  const args = path.args || {};
  for (const name in args) if (!MAIL_PARAMETERS.has(name)) return 'unknownParameter';
  if (path.address === '') return undefined;
  if (!isAscii(path.address) && args['SMTPUTF8'] === undefined) return 'needsUtf8';
  return parseAddress(path.address) === undefined ? 'badSender' : undefined;
}

function judgeRecipient(path: SMTPServerAddress, session: SMTPServerSession): Refusal | undefined {
  if (path.args) return 'unknownParameter';
  if (path.address.toLowerCase() === 'postmaster') return undefined;
  const { mailFrom } = session.envelope;
  const utf8 = mailFrom && mailFrom.args && mailFrom.args['SMTPUTF8'] !== undefined;
  if (!utf8 && !isAscii(path.address)) return 'needsUtf8';
  return parseAddress(path.address) === undefined ? 'badRecipient' : undefined;
}

/** `RCPT TO:<postmaster>` must reach someone (RFC 5321 §4.5.1): the postmaster of the first domain hosted here. */
async function resolvePostmaster({ directory, hostname, hostedDomains }: MxOptions): Promise<Recipient> {
  const labels = hostname.split('.');
  const domains = labels.map((_, i) => labels.slice(i).join('.')).slice(0, -1);
  for (const domain of [...domains, ...((await hostedDomains?.()) ?? [])]) {
    if (parseAddress(`postmaster@${domain}`) === undefined) continue;
    const recipient = await directory.recipient(`postmaster@${domain}`);
    if (recipient.kind !== 'notHosted') return recipient;
  }
  return { kind: 'unknown' };
}

function sender(session: SMTPServerSession): string {
  return session.envelope.mailFrom ? session.envelope.mailFrom.address : '';
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

interface Accepted {
  readonly transaction: string;
  readonly blob: string;
  readonly size: number;
  readonly sender: string;
  readonly receivedAt: number;
}

function logAccepted(log: Logger, session: SMTPServerSession, message: Accepted, acceptance: Acceptance): void {
  const recipients = [];
  for (const { accountId, inboundId, address, emailId, fault } of acceptance.deliveries) {
    recipients.push({ address, accountId, inboundId, emailId });
    if (fault === undefined) continue;
    const about = { transaction: message.transaction, accountId, inboundId, err: fault };
    if (isBug(fault)) log.error(about, 'delivery failed, left to the mailbox');
    else log.warn(about, 'delivery postponed');
  }
  const { receivedAt, ...ids } = message;
  log.info(
    {
      ...ids,
      messageId: acceptance.summary.messageId,
      remoteAddress: session.remoteAddress,
      tls: session.secure,
      recipients,
      durationMs: Date.now() - receivedAt,
    },
    'message accepted',
  );
}

/** Tells the peer, and the log why. */
function refuse(
  log: Logger,
  session: SMTPServerSession,
  done: Callback,
  reply: Reply,
  reason: string,
  about: Record<string, unknown>,
  error?: unknown,
): void {
  const { code, text } = reply;
  done(Object.assign(new Error(text), { responseCode: code }));
  const line = { ...about, remoteAddress: session.remoteAddress, tls: session.secure, reason, code };
  if (error === undefined) log.info(line, 'refused');
  else if (isBug(error)) log.error({ ...line, err: error }, 'refused');
  else log.warn({ ...line, err: error }, 'refused');
}

async function settled(work: ReadonlySet<Promise<void>>, graceMs: number): Promise<void> {
  if (work.size === 0) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  await Promise.race([Promise.allSettled(work), late]);
  clearTimeout(timer);
}
