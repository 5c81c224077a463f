// The configuration file of Thunderbird and of the programs that read the same file (K-9 Mail, Evolution, KMail, FairEmail): version 1.1 of
// the format (draft-ietf-mailmaint-autoconfig). The program replaces %EMAILADDRESS% by the address of its user, so the file reveals nothing
// about any account.
import type { MailServer, MailServers } from './mail-servers.js';
import { element, type XmlElement, xmlDocument } from './xml.js';

const SOCKET_TYPES = { implicit: 'SSL', starttls: 'STARTTLS' } as const;

/** `domain`: the domain of the address, in lower-case ASCII. */
export function clientConfig(domain: string, { incoming, outgoing }: MailServers): string {
  const provider = [
    element('domain', domain),
    element('displayName', domain),
    element('displayShortName', domain),
    ...incoming.map((server) => serverElement('incomingServer', server)),
    ...outgoing.map((server) => serverElement('outgoingServer', server)),
  ];
  return xmlDocument(element('clientConfig', [element('emailProvider', provider, { id: domain })], { version: '1.1' }));
}

function serverElement(name: string, { protocol, host, port, tls }: MailServer): XmlElement {
  const fields = {
    hostname: host,
    port: String(port),
    socketType: SOCKET_TYPES[tls],
    // The password is an API key, sent within TLS.
    authentication: 'password-cleartext',
    username: '%EMAILADDRESS%',
  };
  return element(
    name,
    Object.entries(fields).map(([field, value]) => element(field, value)),
    { type: protocol },
  );
}
