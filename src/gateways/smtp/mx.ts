// The MX listener (RFC 5321): accepts mail for hosted domains from anyone and relays nothing. The directory decides about
// recipients, mx-data receives the message, accept commits it. listener has the part that submission shares. It logs one line
// per message and per refusal, with ids and without contents.
import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server';
import { type Directory, mailboxesOf, type Recipient, unclaimedIn } from '../../actors/directory/protocol.js';
import { NO_QUOTAS, type RecipientQuotas, roomOfAny } from '../../actors/quotas/protocol.js';
import { NO_TRACER } from '../../actors/runtime/tracing.js';
import type { Authenticate } from '../../mail-format/authentication/authentication.js';
import { fieldValue, headerLines } from '../../mail-format/header/header-lines.js';
import { type Received, receivedLine, returnPathLine } from '../../mail-format/header/trace.js';
import { isRewritten } from '../../mail-format/srs.js';
import type { CheckChain } from '../../message-checks/check-chain.js';
import type { ClientCheck } from '../../message-checks/content-check.js';
import { isPostmaster } from '../../message-checks/postmaster.js';
import type { Spool } from '../../message-content/spool/spool.js';
import { networkOf } from '../../net/tcp/ip-address.js';
import { type AcceptPorts, acceptMessage, type Destination, type FeedbackIntake } from './accept.js';
import type { MessageStream } from './data-parser.js';
import { findRecipient, judgeRecipient, judgeSender } from './envelope-policy.js';
import { DEFAULT_LIMITS } from './limits.js';
import {
  type DataReply,
  type ListenerOptions,
  type MailTransaction,
  protocolOf,
  type Rejection,
  type SmtpListener,
  startListener,
} from './listener.js';
import { logAccepted } from './mail-log.js';
import { NO_METER, type SmtpMeter } from './meter.js';
import { LargeHeaders, receiveMail } from './mx-data.js';

import { accepting, recipientReply, refusalReply, type SmtpRefusal } from './replies.js';

/** The mailboxes of one message: an alias leads to at most this many, and the peer sends to further ones in another transaction. */
const MOST_MAILBOXES = 1_000;

interface Receiver extends Omit<AcceptPorts, 'directory' | 'tracer' | 'feedback'> {
  readonly spool: Spool;
}

export interface MxOptions extends ListenerOptions {
  readonly directory: Directory;
  readonly receiver: Receiver;
  /** Checks the origin of messages; without it, messages are accepted unchecked. */
  readonly authenticate?: Authenticate;
  /** Judge messages before they are accepted. */
  readonly checks: CheckChain;
  /** Judges clients at RCPT, for every recipient but the postmaster. */
  readonly clientCheck?: ClientCheck | undefined;
  readonly meter?: SmtpMeter;
  /** Absent: nothing has a limit. */
  readonly quotas?: RecipientQuotas;
  /** Notes reports of other servers before they are accepted. */
  readonly feedback?: FeedbackIntake;
  /** Domains whose postmaster may answer to `RCPT TO:<postmaster>`, after the domains that contain the hostname. */
  readonly hostedDomains?: () => Promise<readonly string[]>;
}

export async function startMx(options: MxOptions): Promise<SmtpListener> {
  const { receiver, directory, hostname, maxMessageSize, authenticate, checks, log } = options;
  const { meter = NO_METER, tracer = NO_TRACER } = options;
  const { headerSize: maxHeaderSize } = { ...DEFAULT_LIMITS, ...options.limits };
  const largeHeaders = new LargeHeaders();
  const ports: AcceptPorts = { ...receiver, directory, tracer, feedback: options.feedback };

  function mailFrom(path: SMTPServerAddress): Rejection | undefined {
    const refusal = judgeSender(path);
    return refusal === undefined ? undefined : { reply: refusalReply(refusal), reason: refusal };
  }

  function rcptTo(path: SMTPServerAddress, session: SMTPServerSession) {
    const refusal = judgeRecipient(path, session.envelope.mailFrom);
    return refusal === undefined
      ? findMailbox(options, path, session)
      : { reply: refusalReply(refusal), reason: refusal };
  }

  async function receive(
    stream: MessageStream,
    session: SMTPServerSession,
    mailTransaction: MailTransaction,
  ): Promise<DataReply> {
    const { transaction, receivedAt, sender } = mailTransaction;
    // findMailbox has added the recipient to the address.
    const destinations = session.envelope.rcptTo as (SMTPServerAddress & Destination)[];
    // After a PROXY header, this is the address of the client that connected to the proxy.
    const about = { remoteAddress: session.remoteAddress };
    const peer = { ...about, helo: session.hostNameAppearsAs, accountId: undefined, user: undefined };
    const envelope = { id: transaction, sender, recipients: destinations.map(({ address }) => address) };
    const network = networkOf(session.remoteAddress);
    const message = await receiveMail(stream, receiver.spool.bodyWriter(network), {
      maxSize: maxMessageSize,
      maxHeaderSize,
      hostname,
      network,
      largeHeaders,
      returnPath: returnPathLine(sender),
      received: receivedLine(received(session, hostname, mailTransaction)),
      authenticate: authenticate && ((header) => authenticate({ ...peer, sender }, header)),
      checks,
      envelope,
      peer,
      refused: noteMessageId(mailTransaction),
    });
    const { content, judgement } = message;
    mailTransaction.span.set({ 'mansio.message.octets': content.size });
    const acceptance = await mailTransaction.span.within(() =>
      acceptMessage(ports, message, destinations, { ...about, receivedAt, sender, newId: mailTransaction.newId }),
    );
    return {
      text: `2.0.0 Accepted as ${transaction}`,
      afterwards() {
        const { hash: blob, size } = content;
        const { deliveries } = acceptance;
        const placed = deliveries.filter(({ emailId }) => emailId !== undefined).length;
        meter.accepted({ octets: size, mailboxes: deliveries.length, placed });
        const authentication = message.authenticated?.summary;
        const accepted = { transaction, blob, size, sender, receivedAt, authentication, junkBy: judgement.by };
        logAccepted(log, session, accepted, acceptance);
      },
    };
  }

  const { listener } = await startListener(options, {
    settings: {},
    name: 'mx',
    meter,
    mailFrom,
    rcptTo,
    onMessage: receive,
  });
  return listener;
}

/** Adds the mailbox to the address, or says why it has none. @throws ContentRefused when the client is refused */
async function findMailbox(
  options: MxOptions,
  path: SMTPServerAddress,
  session: SMTPServerSession,
): Promise<Rejection | undefined> {
  // The recipients before this one; `Object.assign` below added their lookups.
  const others = session.envelope.rcptTo as (SMTPServerAddress & Destination)[];
  const before = others.map(({ recipient }) => recipient);
  // Only bounces come back to a rewritten sender (docs/forwarding.md): it is no way to write to that sender through this server.
  const { mailFrom } = session.envelope;
  if (isRewritten(path.address) && mailFrom !== false && mailFrom.address !== '')
    return { reply: recipientReply('unknown'), reason: 'unknown' };
  const recipient = await findRecipient(options, path.address, unclaimedIn(before));
  const { kind } = recipient;
  if (kind !== 'mailbox' && kind !== 'unclaimed' && kind !== 'several')
    return { reply: recipientReply(kind), reason: kind };
  if (before.length > 0 && [...before, recipient].flatMap(mailboxesOf).length > MOST_MAILBOXES)
    return { reply: refusalReply('tooManyMailboxes'), reason: 'tooManyMailboxes' };
  if (options.clientCheck !== undefined && !isPostmaster(path.address)) {
    const judgement = await options.clientCheck.refusalOf(session.remoteAddress);
    if (judgement !== undefined) accepting(judgement);
  }
  const refusal = await refusalWithoutRoom(options, recipient, session);
  if (refusal !== undefined) return { reply: refusalReply(refusal), reason: refusal };
  Object.assign(path, { recipient });
  return undefined;
}

/** The room for a message of the size that MAIL has declared. @throws StoreFault */
async function refusalWithoutRoom(
  { quotas = NO_QUOTAS }: MxOptions,
  recipient: Recipient,
  { envelope: { mailFrom } }: SMTPServerSession,
): Promise<SmtpRefusal | undefined> {
  const declared = mailFrom === false || mailFrom.args === false ? undefined : mailFrom.args['SIZE'];
  const room = await roomOfAny(quotas, mailboxesOf(recipient), Number(declared ?? 0) || 0);
  if (room === 'room') return undefined;
  return room === 'full' ? 'overQuota' : 'longOverQuota';
}

function received(
  session: SMTPServerSession,
  hostName: string,
  { transaction: id, receivedAt }: MailTransaction,
): Received {
  const { rcptTo } = session.envelope;
  return {
    from: { helo: session.hostNameAppearsAs, remoteAddress: session.remoteAddress },
    hostName,
    protocol: protocolOf(session),
    id,
    date: new Date(receivedAt),
    // With several recipients, the field would reveal one of them to the others.
    recipient: rcptTo.length === 1 ? rcptTo[0]!.address : undefined,
  };
}

function noteMessageId(mailTransaction: MailTransaction): (header: Buffer) => void {
  return (header) => {
    const field = headerLines(header).find(({ name }) => name === 'message-id');
    mailTransaction.messageId = field && /<[^<>\s]+>/.exec(fieldValue(field))?.[0];
  };
}
