// A configuration profile for Apple Mail on iPhone, iPad and Mac (`com.apple.mail.managed`): a property list that the device installs. Its
// identifiers are derived from the account, so that a later profile replaces the earlier one.
import { createHash } from 'node:crypto';
import { uuidV8 } from '../../../mail-format/ids.js';
import type { MailServer, MailServers } from './mail-servers.js';
import { element, type XmlElement, xmlDocument } from './xml.js';

export interface ProfileOwner {
  readonly accountId: string;
  readonly email: string;
  readonly displayName: string;
}

type PropertyList = string | number | boolean | readonly PropertyList[] | { readonly [key: string]: PropertyList };

const DOCTYPE = 'plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd"';
const ACCOUNT_TYPES = { imap: 'EmailTypeIMAP', pop3: 'EmailTypePOP' } as const;

/** `password`: when it is absent, the device asks its user for one. */
export function appleProfile(owner: ProfileOwner, servers: MailServers, password?: string): string {
  const { accountId, email, displayName } = owner;
  const [incoming] = servers.incoming;
  const [outgoing] = servers.outgoing;
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const identifier = `${domain.split('.').toReversed().join('.')}.mail.${accountId}`;
  const account = {
    PayloadType: 'com.apple.mail.managed',
    PayloadVersion: 1,
    PayloadIdentifier: `${identifier}.account`,
    PayloadUUID: uuidOf(accountId, 'account'),
    PayloadDisplayName: `Mail: ${email}`,
    EmailAccountDescription: email,
    EmailAccountName: displayName,
    EmailAccountType: ACCOUNT_TYPES[incoming.protocol === 'pop3' ? 'pop3' : 'imap'],
    EmailAddress: email,
    ...serverKeys('Incoming', incoming, email),
    ...serverKeys('Outgoing', outgoing, email),
    OutgoingPasswordSameAsIncomingPassword: true,
    ...(password !== undefined && { IncomingPassword: password }),
  };
  const profile = {
    PayloadType: 'Configuration',
    PayloadVersion: 1,
    PayloadIdentifier: identifier,
    PayloadUUID: uuidOf(accountId, 'profile'),
    PayloadDisplayName: `Mail: ${email}`,
    PayloadDescription: `Sets up the mail account ${email}.`,
    PayloadOrganization: domain,
    PayloadRemovalDisallowed: false,
    PayloadContent: [account],
  };
  return xmlDocument(element('plist', [propertyList(profile)], { version: '1.0' }), DOCTYPE);
}

function serverKeys(side: 'Incoming' | 'Outgoing', { host, port }: MailServer, username: string) {
  return {
    [`${side}MailServerAuthentication`]: 'EmailAuthPassword',
    [`${side}MailServerHostName`]: host,
    [`${side}MailServerPortNumber`]: port,
    // Mail detects by itself whether the port begins with TLS or uses STARTTLS.
    [`${side}MailServerUseSSL`]: true,
    [`${side}MailServerUsername`]: username,
  };
}

function uuidOf(accountId: string, part: string): string {
  const digest = createHash('sha256').update(`apple-profile ${part} ${accountId}`).digest();
  return uuidV8(digest).toUpperCase();
}

function propertyList(value: PropertyList): XmlElement {
  if (typeof value === 'string') return element('string', value);
  if (typeof value === 'number') return element('integer', String(value));
  if (typeof value === 'boolean') return element(value ? 'true' : 'false', '');
  if (isArray(value)) return element('array', value.map(propertyList));
  const pairs = Object.entries(value).flatMap(([key, each]) => [element('key', key), propertyList(each)]);
  return element('dict', pairs);
}

const isArray = (value: object): value is readonly PropertyList[] => Array.isArray(value);
