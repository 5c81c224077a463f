// Tests the configuration profile for Apple Mail: what the device reads in it, with and without a key, and for a known device.

import { appleProfile } from '../../../../src/gateways/http/mail-programs/apple-profile.js';
import { type MailServers, mailServers } from '../../../../src/gateways/http/mail-programs/mail-servers.js';
import test from '../../../support/test.js';
import { IMAP, OFF, SUBMISSION, startGateway } from '../gateway.js';

const OWNER = {
  accountId: '018f0000-0000-7000-8000-00000000000a',
  email: 'zoë@example.test',
  displayName: 'Zoë <💌> & "Co"',
};
const SERVERS = mailServers({ smtp: SUBMISSION, imap: IMAP, pop3: OFF })!;

/** Values by key; those of the innermost dictionary win over those of the outer one. */
function keysOf(profile: string): Readonly<Record<string, string>> {
  const pairs = profile.matchAll(/<key>(\w+)<\/key>\s*(?:<(true|false)\/>|<(?:string|integer)>([^<]*)<)/g);
  return Object.fromEntries([...pairs].reverse().map(([, key, flag, text]) => [key!, (flag ?? text)!]));
}

test('the profile sets an account up, TLS from the start, and escapes what people write', (t) => {
  const profile = appleProfile(OWNER, SERVERS);
  t.true(
    profile.startsWith(
      '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n',
    ),
  );
  t.true(profile.includes('<string>Zoë &lt;💌&gt; &amp; &quot;Co&quot;</string>'));
  t.like(keysOf(profile), {
    EmailAccountType: 'EmailTypeIMAP',
    EmailAddress: 'zoë@example.test',
    IncomingMailServerAuthentication: 'EmailAuthPassword',
    IncomingMailServerHostName: 'mail.example.test',
    IncomingMailServerPortNumber: '993',
    IncomingMailServerUseSSL: 'true',
    IncomingMailServerUsername: 'zoë@example.test',
    OutgoingMailServerHostName: 'mail.example.test',
    OutgoingMailServerPortNumber: '465',
    OutgoingPasswordSameAsIncomingPassword: 'true',
    PayloadIdentifier: `test.example.mail.${OWNER.accountId}`,
    PayloadType: 'Configuration',
  });
  t.notRegex(profile, /<key>(Incoming|Outgoing)Password<|undefined/);
  t.regex(appleProfile(OWNER, SERVERS, 'mansio_key'), /<key>IncomingPassword<\/key>\s*<string>mansio_key<\/string>/);
});

test('identifiers are those of the account: a later profile takes the place of the one before', (t) => {
  const uuids = (accountId: string, servers: MailServers = SERVERS, password?: string) =>
    appleProfile({ ...OWNER, accountId }, servers, password).match(/[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/g)!;
  const first = uuids(OWNER.accountId);
  t.is(new Set(first).size, 2);
  const pop3 = mailServers({ smtp: SUBMISSION, imap: OFF, pop3: IMAP })!;
  t.deepEqual(uuids(OWNER.accountId, pop3, 'another'), first);
  t.notDeepEqual(uuids('018f0000-0000-7000-8000-00000000000b'), first);
});

test('without IMAP the account is one of POP3, and the key is for that', async (t) => {
  const gateway = await startGateway(t, {
    advertised: { connectionInfo: { smtp: SUBMISSION, imap: OFF, pop3: IMAP } },
  });
  const post = () => gateway.fetch('/api/smtp-credentials/mobileconfig', { method: 'POST', json: { deviceId: 'd' } });
  t.like(keysOf(await (await post()).text()), { EmailAccountType: 'EmailTypePOP', IncomingPassword: 'mansio_made' });
  const { keys } = (await (await gateway.fetch('/api/smtp-credentials')).json()) as {
    keys: readonly { name: string; scopes: readonly string[] }[];
  };
  t.like(keys.at(-1), { name: 'Apple Mail', scopes: ['pop3', 'smtp'] });
  // Another key for the same device revokes the first one.
  await post();
  const later = (await (await gateway.fetch('/api/smtp-credentials')).json()) as { keys: readonly unknown[] };
  t.is(later.keys.length, keys.length);
});
