// Checks the syntax and parameters of senders and recipients, for every listener. The directory decides about recipients
// of mail over MX; MX refuses domains that are not hosted here (RFC 5321 §7.1: no relay).
import type { SMTPServerAddress } from 'smtp-server';
import type { Directory, Recipient } from '../../actors/directory/protocol.js';
import { parseAddress, parseSender } from '../../mail-format/address.js';
import { isAscii, type Path } from './path.js';
import type { SmtpRefusal } from './replies.js';

const MAIL_PARAMETERS: ReadonlySet<string> = new Set(['SIZE', 'BODY', 'SMTPUTF8']);
const NO_PARAMETERS: ReadonlySet<string> = new Set();

export function judgeSender(
  path: SMTPServerAddress,
  parameters: ReadonlySet<string> = MAIL_PARAMETERS,
): SmtpRefusal | undefined {
  const wrong = judgeParameters(path, parameters);
  if (wrong !== undefined) return wrong;
  if (path.address === '') return undefined;
  if (!isAscii(path.address) && !asksForUtf8(path)) return 'needsUtf8';
  return parseSender(path.address) === undefined ? 'badSender' : undefined;
}

export function judgeRecipient(
  path: SMTPServerAddress,
  sender: SMTPServerAddress | false,
  parameters: ReadonlySet<string> = NO_PARAMETERS,
): SmtpRefusal | undefined {
  const wrong = judgeParameters(path, parameters);
  if (wrong !== undefined) return wrong;
  if (isBarePostmaster(path.address)) return undefined;
  if (!isAscii(path.address) && !(sender && asksForUtf8(sender))) return 'needsUtf8';
  return parseAddress(path.address) === undefined ? 'badRecipient' : undefined;
}

function judgeParameters(path: SMTPServerAddress, known: ReadonlySet<string>): SmtpRefusal | undefined {
  if ((path as Path).isMalformed === true) return 'malformedParameter';
  return Object.keys(path.args || {}).some((name) => !known.has(name)) ? 'unknownParameter' : undefined;
}

export interface RecipientLookup {
  readonly directory: Directory;
  /** The name of this host. */
  readonly hostname: string;
  /** Domains whose postmaster may answer to `RCPT TO:<postmaster>`, after the domains that contain the hostname. */
  readonly hostedDomains?: (() => Promise<readonly string[]>) | undefined;
}

/** Finds where mail for a path of `judgeRecipient` goes; `beside` as in Directory.recipient. @throws StoreFault */
export function findRecipient(lookup: RecipientLookup, address: string, beside: readonly string[]): Promise<Recipient> {
  return isBarePostmaster(address) ? findPostmaster(lookup, beside) : lookup.directory.recipient(address, beside);
}

/** RFC 5321 §4.5.1: mail for `postmaster` alone must reach someone. */
async function findPostmaster(lookup: RecipientLookup, beside: readonly string[]): Promise<Recipient> {
  const { directory, hostname, hostedDomains } = lookup;
  const labels = hostname.split('.');
  const domains = labels.slice(0, -1).map((_, i) => labels.slice(i).join('.'));
  for (const domain of [...domains, ...((await hostedDomains?.()) ?? [])]) {
    const address = `postmaster@${domain}`;
    if (parseAddress(address) === undefined) continue;
    const recipient = await directory.recipient(address, beside);
    if (recipient.kind !== 'notHosted') return recipient;
  }
  return { kind: 'unknown' };
}

function isBarePostmaster(address: string): boolean {
  return address.toLowerCase() === 'postmaster';
}

function asksForUtf8({ args }: SMTPServerAddress): boolean {
  return args !== false && args['SMTPUTF8'] !== undefined;
}
