// Autodiscover of Outlook as plain XML ("POX", MS-OXDSCLI): reads requests and writes replies. Anybody may send requests, so no XML parser
// reads them: two elements are extracted from a text that must have no markup declarations, and therefore no entities of its own.
import { decodeXML } from 'entities';
import { parseAddress } from '../../../mail-format/address.js';
import type { MailProtocol, MailServer, MailServers } from './mail-servers.js';
import { element, type XmlElement, xmlDocument } from './xml.js';

export interface AutodiscoverRequest {
  readonly email: string;
  /** The domain in lower-case ASCII. */
  readonly domain: string;
}

/** Codes of MS-OXDSCLI §2.2.4.1.1.3.2. */
const ERRORS = {
  noSuchAddress: [500, 'The email address cannot be found.'],
  invalidRequest: [600, 'Invalid Request'],
  noProvider: [601, 'Provider is not available'],
} as const;

export type AutodiscoverError = keyof typeof ERRORS;

const NAMESPACE = 'http://schemas.microsoft.com/exchange/autodiscover/responseschema/2006';
/** The schema of replies for desktop programs; the schema for ActiveSync (`mobilesync`) is not served. */
const OUTLOOK = 'http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a';
const ROOT = /^\s*(?:<\?xml[^<>]*\?>\s*)?<(?:[\w.-]+:)?Autodiscover[\s>]/;

const ENCRYPTIONS = { implicit: 'SSL', starttls: 'TLS' } as const;

export function readAutodiscoverRequest(xml: string): AutodiscoverRequest | AutodiscoverError {
  if (xml.includes('<!') || !ROOT.test(xml)) return 'invalidRequest';
  const email = textOf(xml, 'EMailAddress');
  const schema = textOf(xml, 'AcceptableResponseSchema');
  const address = email === undefined ? undefined : parseAddress(email);
  if (email === undefined || address === undefined) return 'invalidRequest';
  // Microsoft's own pages also write the schema with https.
  if (schema?.replace(/^https:/, 'http:') !== OUTLOOK) return 'noProvider';
  return { email, domain: address.domain };
}

/** The text of the first element with that name, under any prefix. */
function textOf(xml: string, name: string): string | undefined {
  const found = new RegExp(`<(?:[\\w.-]+:)?${name}(?:\\s[^<>]*)?>([^<]*)</`).exec(xml)?.[1];
  return found === undefined ? undefined : decodeXML(found).trim();
}

/** Names only the first server of each protocol, because a program accepts one. */
export function autodiscoverSettings(email: string, { incoming, outgoing }: MailServers): string {
  const types = new Map<MailProtocol, MailServer>();
  for (const server of [...incoming, ...outgoing]) {
    if (!types.has(server.protocol)) types.set(server.protocol, server);
  }
  return response([
    element('User', [element('DisplayName', email)]),
    element('Account', [
      element('AccountType', 'email'),
      element('Action', 'settings'),
      ...[...types.values()].map((server) => protocolElement(email, server)),
    ]),
  ]);
}

/** `at`: ms since the epoch. */
export function autodiscoverFault(error: AutodiscoverError, at: number): string {
  const [code, message] = ERRORS[error];
  const time = new Date(at).toISOString().slice(11, -1);
  const fields = [element('ErrorCode', String(code)), element('Message', message), element('DebugData', '')];
  return response([element('Error', fields, { Time: time, Id: '0' })], NAMESPACE);
}

function response(content: readonly XmlElement[], schema = OUTLOOK): string {
  return xmlDocument(element('Autodiscover', [element('Response', content, { xmlns: schema })], { xmlns: NAMESPACE }));
}

function protocolElement(email: string, { protocol, host, port, tls }: MailServer): XmlElement {
  const fields = {
    Type: protocol.toUpperCase(),
    Server: host,
    Port: String(port),
    LoginName: email,
    DomainRequired: 'off',
    SPA: 'off',
    SSL: 'on',
    Encryption: ENCRYPTIONS[tls],
    AuthRequired: 'on',
    // Outlook sends the credential of the incoming server.
    ...(protocol === 'smtp' && { UsePOPAuth: 'on', SMTPLast: 'off' }),
  };
  return element(
    'Protocol',
    Object.entries(fields).map(([name, value]) => element(name, value)),
  );
}
