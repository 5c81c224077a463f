// The submission listeners (RFC 6409, RFC 8314): they accept mail from the account's own programs, with STARTTLS or TLS
// from the start, and queue it. sender-policy decides which senders an account may use, submission-login checks the
// login, submit queues the message. listener has the part that MX shares.
import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server';
import type { Directory, Senders } from '../../actors/directory/protocol.js';
import type { SignIn } from '../../auth/sign-in.js';
import { receivedLine } from '../../mail-format/header/trace.js';
import { dsnOfMail, dsnOfRcpt } from '../../mail-format/reports/dsn-parameters.js';
import { SubmittedMessage } from '../../mail-format/writing/submitted-message.js';
import type { CheckChain } from '../../message-checks/check-chain.js';
import { withShortLines } from '../../message-content/compose/short-lines.js';
import type { Spool } from '../../message-content/spool/spool.js';
import type { MessageStream } from './data-parser.js';
import {
  type DataReply,
  type ListenerOptions,
  type MailTransaction,
  protocolOf,
  type Rejection,
  type SmtpListener,
  startListener,
} from './listener.js';
import { logQueued } from './mail-log.js';
import { NO_SUBMISSION_METER, type SubmissionMeter } from './meter.js';
import { accepting, refusalReply, SmtpRefused } from './replies.js';
import { SenderPolicy } from './sender-policy.js';
import { receiveSubmission } from './submission-data.js';
import { loginOf, submissionLogins } from './submission-login.js';
import { type SubmitPorts, submitMessage, suspensionOf } from './submit.js';

export interface SubmissionOptions extends ListenerOptions {
  /** Whether TLS begins before anything is said (RFC 8314 §3.3), instead of by STARTTLS. */
  readonly implicitTls: boolean;
  /** Whether credentials may come without TLS. */
  readonly allowPlaintextAuth: boolean;
  readonly signIn: SignIn;
  readonly directory: Pick<Directory, 'recipient'> & Pick<Senders, 'maySendAs'>;
  readonly receiver: SubmitPorts & { readonly spool: Spool };
  /** Judge messages before they are queued. Recipients see no headers of theirs: scores of outgoing mail are for the operator. */
  readonly checks: CheckChain;
  readonly meter?: SubmissionMeter;
}

export async function startSubmission(options: SubmissionOptions): Promise<SmtpListener> {
  const { receiver, signIn, hostname, maxMessageSize, checks, log, meter = NO_SUBMISSION_METER } = options;
  const policy = new SenderPolicy(options.directory, signIn);

  async function receive(
    stream: MessageStream,
    session: SMTPServerSession,
    mailTransaction: MailTransaction,
  ): Promise<DataReply> {
    const { transaction, receivedAt, sender } = mailTransaction;
    const { principal } = loginOf(session);
    const date = new Date(receivedAt);
    const message = new SubmittedMessage({ date, messageId: `<${transaction}@${hostname}>` });
    // The trace omits the address of the client, to protect the author's privacy.
    const trace = receivedLine({ hostName: hostname, protocol: protocolOf(session), id: transaction, date });
    const recipients = session.envelope.rcptTo.map(({ address, args }) => ({ address, dsn: dsnOfRcpt(args) }));
    const dsn = session.envelope.mailFrom === false ? undefined : dsnOfMail(session.envelope.mailFrom.args);
    const newWriter = () => receiver.spool.writer(principal.accountId);
    let content = await receiveSubmission(stream, newWriter(), Buffer.from(trace), maxMessageSize, message);
    const { span } = mailTransaction;
    try {
      const refusal = await policy.judgeHeader(principal, message.header);
      if (refusal !== undefined) throw new SmtpRefused(refusal);
      const envelope = { id: transaction, sender, recipients: recipients.map(({ address }) => address) };
      const { remoteAddress, hostNameAppearsAs: helo } = session;
      const peer = { remoteAddress, helo, accountId: principal.accountId, user: principal.email };
      const { chunks } = content;
      accepting(await checks.judge({ authenticated: undefined, chunks }, envelope, peer));
      content = await withShortLines(content, newWriter);
      span.set({ 'mansio.message.octets': content.size });
      const queueing = span.within(() =>
        submitMessage(receiver, principal.accountId, { sender, recipients, dsn }, content),
      );
      const queued = await queueing;
      return {
        text: `2.0.0 Queued as ${queued.id}`,
        afterwards() {
          const { size, hash: blob } = content;
          meter.queued({ octets: size, recipients: recipients.length });
          logQueued(log, session, { transaction, blob, size, sender, receivedAt }, queued, principal);
        },
      };
    } finally {
      content.release();
    }
  }

  const { listener, server } = await startListener(
    { ...options, limits: { greetDelayMs: 0, ...options.limits } },
    {
      name: 'submission',
      settings: { hideDSN: false, ...(options.implicitTls && { secure: true, needsUpgrade: true }) },
      meter,
      logins: submissionLogins({ signIn, allowPlaintextAuth: options.allowPlaintextAuth, log }),
      mailFrom: (path: SMTPServerAddress, session: SMTPServerSession) => judgeSender(policy, receiver, path, session),
      rcptTo: (path: SMTPServerAddress, session: SMTPServerSession) =>
        policy.judgeRecipient(path, session.envelope.mailFrom).then(rejectionOf),
      onMessage: receive,
      about: (session) => ({ accountId: loginOf(session).principal.accountId }),
    },
  );
  const ending = signIn.ended$.subscribe((isOver) => {
    server.dismiss((user) => isOver(user as ReturnType<typeof loginOf>), refusalReply('loginEnded').text);
  });
  return {
    address: listener.address,
    get connections() {
      return listener.connections;
    },
    beginDrain: (othersListen) => listener.beginDrain(othersListen),
    async stop(graceMs) {
      await listener.stop(graceMs);
      ending.unsubscribe();
    },
  };
}

/** A suspended account hears of it before it sends a message. @throws StoreFault */
async function judgeSender(
  policy: SenderPolicy,
  { sending }: SubmitPorts,
  path: SMTPServerAddress,
  session: SMTPServerSession,
): Promise<Rejection | undefined> {
  const login = loginOf(session);
  const refusal = await policy.judgeSender(path, login);
  if (refusal !== undefined) return rejectionOf(refusal);
  const suspension = await suspensionOf(sending, login.principal.accountId);
  if (suspension === undefined) return undefined;
  return { reply: refusalReply('sendingSuspended', suspension), reason: 'sendingSuspended' };
}

function rejectionOf(refusal: Parameters<typeof refusalReply>[0] | undefined): Rejection | undefined {
  return refusal === undefined ? undefined : { reply: refusalReply(refusal), reason: refusal };
}
