// The table of all settings: the name of each environment variable, its default, its accepted values and its meaning. `config.ts` reads the
// variables, `mansio config` prints their values, and `npm run docs` writes docs/configuration.md from this table.
import { resolve } from 'node:path';
import { shownRelayUrl } from '../../mail-format/relay-url.js';
import { certificates } from './certificate-variables.js';
import { contentChecks } from './content-check-variables.js';
import { quotas, sending } from './limit-variables.js';
import { listeners } from './listener-variables.js';
import {
  contactUrl,
  databaseUrl,
  domainList,
  emailAddress,
  flag,
  hidden,
  hostPorts,
  httpUrl,
  identifier,
  integer,
  natsUrls,
  nodeName,
  oneOf,
  originList,
  path,
  processCount,
  providerUrl,
  readableFile,
  relayUrl,
  selector,
  setOf,
  vapidPrivateKey,
  vapidPublicKey,
  withoutPassword,
  withoutPasswords,
} from './values.js';
import { variable } from './variable.js';

type List = readonly string[];

const ROLES = setOf('api', 'mx', 'submission', 'imap', 'pop3', 'mailbox', 'outbound');

const NONE = { byDefault: 'none' } as const;

const store = {
  databaseUrl: variable(
    'DATABASE_URL',
    undefined,
    databaseUrl,
    'A PostgreSQL 15 or later, encoding UTF8; on another machine with `?sslmode=verify-full`. Without it the node runs the embedded PostgreSQL in its data directory.',
    { byDefault: 'none: embedded', shown: withoutPassword },
  ),
  natsUrl: variable<List | undefined, undefined>(
    'NATS_URL',
    undefined,
    natsUrls,
    'The NATS servers between [several nodes](cluster.md); on other machines with `tls://`. For certificates of your own authority set `NODE_EXTRA_CA_CERTS=/path/ca.pem`, which Node.js reads.',
    { byDefault: 'none: the node is alone', shown: withoutPasswords },
  ),
  dataDir: variable(
    'MANSIO_DATA_DIR',
    resolve('data'),
    path,
    'Holds the embedded database, the self-signed certificate, the spool and the name of the node. One running node uses it at a time.',
    { byDefault: '`./data`' },
  ),
  allowUnsafeDatabase: variable(
    'MANSIO_ALLOW_UNSAFE_DATABASE',
    false,
    flag,
    'Start on a database that may lose commits, because `fsync` or `full_page_writes` is off.',
  ),
  shards: variable(
    'MANSIO_SHARDS',
    256,
    integer(1, 65_536),
    'Shards that accounts hash onto, fixed when the store is made: enough for dozens of nodes, few enough to renew in one statement.',
  ),
};

const node = {
  nodeId: variable('MANSIO_NODE_ID', undefined, nodeName, 'Name of this node in the cluster.', {
    byDefault: 'random, kept in the data directory',
  }),
  roles: variable(
    'MANSIO_ROLES',
    ROLES.parse('all'),
    ROLES,
    'What this node does. Without `NATS_URL` the list must have `mailbox`.',
    { byDefault: '`all`' },
  ),
  processes: variable<number | 'auto', number>(
    'MANSIO_PROCESSES',
    1,
    processCount,
    'Nodes that run as [processes of one parent](cluster.md#several-processes-on-one-machine), on the same ports. `auto` is one per processor. Any value but 1 needs `NATS_URL`.',
  ),
  leaseTtlMs: variable(
    'MANSIO_LEASE_TTL_MS',
    3000,
    integer(200, 600_000),
    'Milliseconds for which a crashed node keeps its shards. A node renews its leases after each third of this time, so it may miss two renewals.',
  ),
  logLevel: variable(
    'MANSIO_LOG_LEVEL',
    'info',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'The least severe log lines that are written.',
  ),
  otlpEndpoint: variable(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    undefined,
    httpUrl,
    "Base URL of an OpenTelemetry collector that takes traces over HTTP. This is OpenTelemetry's own variable.",
    { byDefault: 'none: no traces' },
  ),
};

const incoming = {
  hostedDomains: variable<List, List>(
    'MANSIO_HOSTED_DOMAINS',
    [],
    domainList,
    'Added to the hosted domains at start. Leaving a domain out removes nothing: `mansio domain remove` does.',
    { byDefault: '`example.test` in the demo, else none' },
  ),
  unknownRecipients: variable(
    'MANSIO_UNKNOWN_RECIPIENTS',
    'hold',
    oneOf('hold', 'reject'),
    'Mail for unknown addresses of a hosted domain: `hold` keeps it, unclaimed (`mansio unclaimed`), `reject` answers `550 5.1.1`. `postmaster` and `abuse` are accepted always.',
  ),
  maxMessageSize: variable(
    'MANSIO_MAX_MESSAGE_SIZE',
    36_700_160,
    integer(1024, 1_073_741_824),
    'Bytes of a message; a larger one is refused with `552 5.3.4`. The default is 35 MiB, which 25 MiB of attachments need in base64.',
  ),
  dns: variable<List | undefined, undefined>(
    'MANSIO_DNS',
    undefined,
    hostPorts,
    'Name servers for the checks of incoming mail, and of `mansio doctor`.',
    { byDefault: "`MANSIO_OUTBOUND_DNS`, else the system's" },
  ),
  ...contentChecks,
};

const outgoing = {
  relayUrl: variable<string | undefined, undefined>(
    'MANSIO_RELAY_URL',
    undefined,
    relayUrl,
    'The [smart host](operations.md#smart-hosts) for mail to other servers: `smtps://user:password@host:465`, or `smtp://…:587` with STARTTLS. `mansio domain relay` sets another one for a domain.',
    { byDefault: 'none: the MX hosts of the recipients', shown: shownRelayUrl },
  ),
  outboundDns: variable<List | undefined, undefined>(
    'MANSIO_OUTBOUND_DNS',
    undefined,
    hostPorts,
    'Name servers for mail that leaves, and for the hosts of push services and webhooks.',
    { byDefault: "the system's" },
  ),
  outboundPort: variable(
    'MANSIO_OUTBOUND_PORT',
    25,
    integer(1, 65_535),
    'SMTP port of other servers. Another one than 25 is for tests.',
  ),
  outboundAllowPrivate: variable(
    'MANSIO_OUTBOUND_ALLOW_PRIVATE',
    false,
    flag,
    'Deliver to loopback, private and link-local addresses, for tests. Otherwise such a host is a permanent failure (5.4.6): anybody can publish an MX record that names it.',
  ),
  outboundMaxRetries: variable(
    'MANSIO_OUTBOUND_MAX_RETRIES',
    30,
    integer(0, 1000),
    'Retries of a recipient before it is *Failed*: about five days with the default delays (RFC 5321 §4.5.4.1).',
  ),
  outboundBackoffBaseMs: variable(
    'MANSIO_OUTBOUND_BACKOFF_BASE_MS',
    60_000,
    integer(1, 86_400_000),
    'Milliseconds before retry n: base·2ⁿ⁻¹, never more than the cap, ±10 %.',
  ),
  outboundBackoffCapMs: variable(
    'MANSIO_OUTBOUND_BACKOFF_CAP_MS',
    14_400_000,
    integer(1, 604_800_000),
    'The longest delay before a retry, in milliseconds.',
  ),
  outboundPollMs: variable(
    'MANSIO_OUTBOUND_POLL_MS',
    1000,
    integer(10, 3_600_000),
    'Milliseconds between two polls of the queue. New mail wakes the queue and does not wait for a poll.',
  ),
  outboundKeepDays: variable(
    'MANSIO_OUTBOUND_KEEP_DAYS',
    90,
    integer(0, 36_500),
    'Days that an outbound email that is *Sent* or *Failed* stays after its last change; 0 keeps them. The copy in Sent stays.',
  ),
  dkimSelector: variable(
    'MANSIO_DKIM_SELECTOR',
    undefined,
    selector,
    'Selector of the key that signs for hosted domains without keys of their own, set together with `MANSIO_DKIM_KEY`.',
    NONE,
  ),
  dkimKey: variable('MANSIO_DKIM_KEY', undefined, readableFile, 'PEM file of that private key.', NONE),
};

const access = {
  allowPlaintextAuth: variable(
    'MANSIO_ALLOW_PLAINTEXT_AUTH',
    false,
    flag,
    'Take passwords without TLS; on a loopback `MANSIO_BIND` only.',
    { byDefault: '`false`; `true` in the demo' },
  ),
  anonymousAccount: variable(
    'MANSIO_ANONYMOUS_ACCOUNT',
    undefined,
    emailAddress,
    'Account of requests without a credential, only with both `…BIND` addresses on loopback and without an OpenID provider ([rules](interface/credentials.md#the-anonymous-account)).',
    NONE,
  ),
  oidcAuthority: variable(
    'MANSIO_OIDC_AUTHORITY',
    undefined,
    providerUrl,
    'URL of an OpenID provider, as its tokens name it. Without it there are no logins; API keys alone open accounts.',
    { byDefault: 'none: no logins' },
  ),
  oidcClientId: variable(
    'MANSIO_OIDC_CLIENT_ID',
    undefined,
    identifier,
    'Id of the web app at the provider, where its redirect URI is `/sign-in/oidc` of this server. `/api/config` tells it to the web app.',
    NONE,
  ),
  oidcClientSecret: variable(
    'MANSIO_OIDC_CLIENT_SECRET',
    undefined,
    identifier,
    'Secret of that id, where the provider has given one. Only the node uses it.',
    { byDefault: 'none: a public client', shown: hidden },
  ),
  oidcAudience: variable(
    'MANSIO_OIDC_AUDIENCE',
    undefined,
    identifier,
    'Value that tokens must have in `aud`. Set it when the provider serves other services too.',
    { byDefault: 'none: any audience' },
  ),
  rateGlobal: variable(
    'MANSIO_RATE_GLOBAL',
    100,
    integer(0, 1_000_000),
    'Requests a minute of one account or address ([limits](#limits)); 0 is no limit.',
  ),
  rateAuth: variable(
    'MANSIO_RATE_AUTH',
    10,
    integer(0, 1_000_000),
    'Requests a minute to `/api/smtp-credentials`; 0 is no limit.',
  ),
  rateWrite: variable(
    'MANSIO_RATE_WRITE',
    30,
    integer(0, 1_000_000),
    'Other writes a minute (POST, PUT, PATCH, DELETE); 0 is no limit.',
  ),
  rateSession: variable(
    'MANSIO_RATE_SESSION',
    1200,
    integer(0, 1_000_000),
    'Requests a minute of one session of the page, a quarter of them writes; 0 is no limit.',
  ),
  mboxExportInterval: variable(
    'MANSIO_MBOX_EXPORT_INTERVAL',
    600,
    integer(0, 86_400),
    'Seconds between two MBOX exports of an account; 0 for none.',
  ),
  corsOrigins: variable<List, List>(
    'MANSIO_CORS_ORIGINS',
    [],
    originList,
    'Browser origins whose pages may use API and hub ([pages of other origins](#pages-of-other-origins)).',
  ),
};

const push = {
  vapidPublicKey: variable(
    'MANSIO_VAPID_PUBLIC_KEY',
    undefined,
    vapidPublicKey,
    'Public key of Web Push, set together with `MANSIO_VAPID_PRIVATE_KEY`.',
    { byDefault: 'a pair made once into the store' },
  ),
  vapidPrivateKey: variable('MANSIO_VAPID_PRIVATE_KEY', undefined, vapidPrivateKey, 'Private key of that pair.', {
    byDefault: 'a pair made once into the store',
    shown: hidden,
  }),
  vapidSubject: variable(
    'MANSIO_VAPID_SUBJECT',
    undefined,
    contactUrl,
    'URL (`mailto:` or `https:`) at which operators of push services reach the operator of this server.',
    { byDefault: '`MANSIO_PUBLIC_URL` if https, else `mailto:postmaster@` and `MANSIO_HOSTNAME`' },
  ),
  pushAllowPrivate: variable(
    'MANSIO_PUSH_ALLOW_PRIVATE',
    false,
    flag,
    'Take push endpoints on private addresses and without TLS (tests). Endpoints come from clients, and the server sends to them.',
  ),
};

const webhooks = {
  webhookAllowPrivate: variable(
    'MANSIO_WEBHOOK_ALLOW_PRIVATE',
    false,
    flag,
    'Take webhooks on private addresses and without TLS (tests). Their URLs come from users, and the server sends to them.',
  ),
};

const images = {
  imagesAllowPrivate: variable(
    'MANSIO_IMAGES_ALLOW_PRIVATE',
    false,
    flag,
    'Let the image proxy load images from private addresses, and from every port (tests). Their URLs come from mail, and the server asks them.',
  ),
};

/** The sections in the order of `mansio config`. */
export const SECTIONS = {
  'Store and data': store,
  Node: node,
  'Names, listeners and TLS': listeners,
  'Certificates by ACME, and MTA-STS': certificates,
  'Mail in': incoming,
  'Mail out': outgoing,
  'Access and rates': access,
  'Quotas and limits': { ...quotas, ...sending },
  'Web Push': push,
  Webhooks: webhooks,
  'Images of mail': images,
} as const;

export const VARIABLES = {
  ...store,
  ...node,
  ...listeners,
  ...certificates,
  ...incoming,
  ...outgoing,
  ...access,
  ...quotas,
  ...sending,
  ...push,
  ...webhooks,
  ...images,
} as const;
