// Decides who may send as whom, and to whom, at submission (RFC 6409 §6.1; docs/interface/mail.md, "Sender addresses"). Envelope
// sender, From and Sender must be addresses that the account may send as. Recipients may be anywhere, with a full domain, but must exist if hosted here.
import type { SMTPServerAddress } from 'smtp-server';
import type { Directory, Principal, Senders } from '../../actors/directory/protocol.js';
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import type { SignIn } from '../../auth/sign-in.js';
import { parseAddress } from '../../mail-format/address.js';
import { type OriginatorFault, originators } from '../../mail-format/header/originators.js';
import type { HeaderFields } from '../../mail-format/mime-index/header-fields.js';
import { dsnOfMail, dsnOfRcpt, MAIL_DSN, RCPT_DSN } from '../../mail-format/reports/dsn-parameters.js';
import { judgeRecipient, judgeSender } from './envelope-policy.js';
import type { SmtpRefusal } from './replies.js';

/** RFC 4954 §5: anybody may send `AUTH=`, but its identity is ignored. */
const PARAMETERS: ReadonlySet<string> = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'AUTH', ...MAIL_DSN]);

const HEADER_REFUSALS: Readonly<Record<OriginatorFault, SmtpRefusal>> = {
  missing: 'noFrom',
  malformed: 'malformedFrom',
  senderNeeded: 'noSender',
};

export class SenderPolicy {
  readonly #directory: Pick<Directory, 'recipient'> & Pick<Senders, 'maySendAs'>;
  readonly #signIn: Pick<SignIn, 'holds'>;

  constructor(directory: Pick<Directory, 'recipient'> & Pick<Senders, 'maySendAs'>, signIn: Pick<SignIn, 'holds'>) {
    this.#directory = directory;
    this.#signIn = signIn;
  }

  /** Anybody may use the null sender: read receipts have it (RFC 6409 §3.2, RFC 8098 §3). @throws StoreFault */
  async judgeSender(path: SMTPServerAddress, login: ProtocolLogin): Promise<SmtpRefusal | undefined> {
    if (!(await this.#signIn.holds(login))) return 'loginEnded';
    const refusal = judgeSender(path, PARAMETERS);
    if (refusal !== undefined) return refusal;
    if (dsnOfMail(path.args) === null) return 'badDsn';
    if (path.address === '') return undefined;
    return (await this.#directory.maySendAs(login.principal.accountId, path.address)) ? undefined : 'foreignSender';
  }

  /** Accepts a full mailbox: it may have room when the message arrives. @throws StoreFault */
  async judgeRecipient(path: SMTPServerAddress, sender: SMTPServerAddress | false): Promise<SmtpRefusal | undefined> {
    const refusal = judgeRecipient(path, sender, RCPT_DSN);
    if (refusal !== undefined) return refusal;
    if (dsnOfRcpt(path.args) === null) return 'badDsn';
    const domain = parseAddress(path.address)?.domain;
    if (domain === undefined) return 'badRecipient';
    const { kind } = await this.#directory.recipient(path.address);
    if (kind === 'unknown') return 'unknownRecipient';
    if (kind === 'loop') return 'loop';
    // RFC 6409 §4.2: a local name would have another meaning elsewhere.
    const isLocalName = !domain.startsWith('[') && !domain.includes('.');
    return kind === 'notHosted' && isLocalName ? 'unqualifiedDomain' : undefined;
  }

  /** @throws StoreFault */
  async judgeHeader({ accountId }: Principal, header: HeaderFields): Promise<SmtpRefusal | undefined> {
    const addresses = originators(header);
    if (typeof addresses === 'string') return HEADER_REFUSALS[addresses];
    for (const address of new Set(addresses)) {
      if (!(await this.#directory.maySendAs(accountId, address))) return 'foreignFrom';
    }
    return undefined;
  }
}
