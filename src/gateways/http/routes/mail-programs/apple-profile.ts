// The configuration profile for Apple Mail, for the signed-in account: without a key, which the device then requests from its user, or with
// a new key that is shown nowhere else.
import { optional } from 'superstruct';
import type { Keyring, Profiles } from '../../../../actors/account/protocol.js';
import type { Principal } from '../../../../actors/directory/protocol.js';
import type { Scope } from '../../../../store/directory.js';
import { attachmentDisposition } from '../../content-disposition.js';
import { line, record } from '../../fields.js';
import { appleProfile, type ProfileOwner } from '../../mail-programs/apple-profile.js';
import { type MailServers, mailServers } from '../../mail-programs/mail-servers.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, Problem } from '../../problem.js';
import { binary, defineRoute, OWNER, type Route } from '../../route.js';
import type { ConnectionInfo } from '../connection-info.js';
import { document } from './document-reply.js';

export interface AppleProfileSources {
  readonly keys: Pick<Keyring, 'issue'>;
  readonly profiles: Pick<Profiles, 'read'>;
  readonly connectionInfo: () => ConnectionInfo;
}

const PATH = '/api/smtp-credentials/mobileconfig';
const TAGS = ['API keys'];
const MEDIA_TYPE = 'application/x-apple-aspen-config';
const LONGEST_NAME = 100;
const LONGEST_DEVICE_ID = 200;
const DEFAULT_NAME = 'Apple Mail';

const profileReply = binary(MEDIA_TYPE, { 'Content-Disposition': 'attachment, with a file name (RFC 6266)' });

const newProfile = named(
  'NewAppleProfile',
  record({
    name: optional(line(LONGEST_NAME, { description: `Name of the key; \`${DEFAULT_NAME}\` when absent` })),
    deviceId: optional(line(LONGEST_DEVICE_ID, { description: 'Another key for the same device revokes this one' })),
  }),
);

export function appleProfileRoutes({ keys, profiles, connectionInfo }: AppleProfileSources): readonly Route[] {
  async function ownerOf({ accountId, email }: Principal): Promise<ProfileOwner> {
    const displayName = (await profiles.read(accountId))?.displayName || email;
    return { accountId, email, displayName };
  }

  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'Configuration profile for Apple Mail, without a key',
      description: `The profile sets up IMAP, or POP3 where there is no IMAP, and submission. ${NOT_SERVED}`,
      tags: TAGS,
      access: OWNER,
      rate: 'authentication',
      replies: { 200: profileReply },
      problems: [404],
      handler: async ({ principal }) => {
        const servers = mailServers(connectionInfo());
        return servers === undefined ? notServed() : reply(200, appleProfile(await ownerOf(principal), servers));
      },
    }),
    defineRoute({
      method: 'POST',
      path: PATH,
      summary: 'Configuration profile for Apple Mail, with an API key made for it',
      description: `The key has the scopes of the protocols in the profile and is in this reply only. ${NOT_SERVED}`,
      tags: TAGS,
      access: OWNER,
      rate: 'authentication',
      body: newProfile,
      example: { name: 'iPhone', deviceId: '6F9619FF-8B86' },
      replies: { 201: profileReply },
      problems: [404],
      handler: async ({ principal, body }) => {
        const servers = mailServers(connectionInfo());
        if (servers === undefined) return notServed();
        const { name = DEFAULT_NAME, deviceId } = body;
        // The profile is checked before the key is made: nobody would know the key of a profile that fails.
        const owner = await ownerOf(principal);
        const key = await keys.issue(principal.accountId, name, scopesFor(servers), deviceId);
        if (key === undefined) return invalid({ name: ['the account has as many active keys as it may'] });
        return reply(201, appleProfile(owner, servers, key.apiKey));
      },
    }),
  ];
}

const NOT_SERVED = '404 when mail programs could not both read and send mail.';

function notServed(): Problem {
  return new Problem(404, { detail: 'Mail programs are not served now.' });
}

function scopesFor({ incoming: [{ protocol }] }: MailServers): readonly Scope[] {
  return [protocol, 'smtp'];
}

function reply<const S extends number>(status: S, profile: string) {
  return document(status, MEDIA_TYPE, profile, [['Content-Disposition', attachmentDisposition('mail.mobileconfig')]]);
}
