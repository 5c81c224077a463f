// How a node is configured: the only reader of process.env. One table holds every variable with its default and the reason
// for it; all are validated together, so that one message names everything that is wrong.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigError, type ConfigProblem } from './config/error.js';
import {
  contactUrl,
  databaseUrl,
  domain,
  domainList,
  emailAddress,
  flag,
  hidden,
  hostPort,
  hostPorts,
  httpUrl,
  identifier,
  integer,
  ipAddress,
  isLoopback,
  isVapidPair,
  natsUrls,
  networkList,
  nodeName,
  oneOf,
  originList,
  type Parser,
  path,
  port,
  providerUrl,
  readableFile,
  selector,
  setOf,
  vapidPrivateKey,
  vapidPublicKey,
  withoutPassword,
  withoutPasswords,
} from './config/values.js';

export type Environment = Readonly<Record<string, string | undefined>>;

interface Field<T, D> extends Parser<T> {
  readonly name: string;
  readonly initial: D;
  /** Hides what is secret in a value. */
  readonly shown?: (text: string) => string;
}

function field<T, D extends T | undefined>(
  name: string,
  initial: D,
  parser: Parser<T>,
  shown?: (text: string) => string,
): Field<T, D> {
  return shown === undefined ? { name, initial, ...parser } : { name, initial, shown, ...parser };
}

/** This version opens no listeners for them. */
const ROLES_TO_COME = ['imap', 'pop3'] as const;
const ROLES = setOf('api', 'mx', 'submission', ...ROLES_TO_COME, 'mailbox', 'outbound');

const ALL_ROLES = ROLES.parse('all');

const FIELDS = {
  /** None: the embedded PostgreSQL, so that a fresh machine needs nothing installed. */
  databaseUrl: field('DATABASE_URL', undefined, databaseUrl, withoutPassword),
  /** None: the in-process bus of a node that runs alone. */
  natsUrl: field<readonly string[] | undefined, undefined>('NATS_URL', undefined, natsUrls, withoutPasswords),
  /** Beside where one starts it: visible, and gone with the clone. */
  dataDir: field('MANSIO_DATA_DIR', resolve('data'), path),
  /** None: random, kept in the data directory. */
  nodeId: field('MANSIO_NODE_ID', undefined, nodeName),
  roles: field('MANSIO_ROLES', ALL_ROLES, {
    ...ROLES,
    accepts: `${ROLES.accepts} (${ROLES_TO_COME.join(' and ')} open no listeners in this version)`,
  }),
  /** Nothing is open to others before somebody says so. */
  bind: field('MANSIO_BIND', '127.0.0.1', ipAddress),
  /** None: made from the HTTP listener. */
  publicUrl: field('MANSIO_PUBLIC_URL', undefined, httpUrl),
  hostname: field('MANSIO_HOSTNAME', machineName(), domain),
  /** None: mail is taken for nobody; the demo hosts example.test. */
  hostedDomains: field<readonly string[], readonly string[]>('MANSIO_HOSTED_DOMAINS', [], domainList),
  /** Mail that comes before its account does must not be lost. */
  unknownRecipients: field('MANSIO_UNKNOWN_RECIPIENTS', 'hold', oneOf('hold', 'reject')),
  httpPort: field('MANSIO_HTTP_PORT', 8080, port),
  /** 0: off. */
  metricsPort: field('MANSIO_METRICS_PORT', 0, port),
  /** 25 needs root. */
  mxPort: field('MANSIO_MX_PORT', 2525, port),
  /** 587 and 465 need root. */
  submissionPort: field('MANSIO_SUBMISSION_PORT', 2587, port),
  submissionsPort: field('MANSIO_SUBMISSIONS_PORT', 2465, port),
  /** 143, 993, 110 and 995 need root. No listener is open on them in this version. */
  imapPort: field('MANSIO_IMAP_PORT', 2143, port),
  imapsPort: field('MANSIO_IMAPS_PORT', 2993, port),
  pop3Port: field('MANSIO_POP3_PORT', 2110, port),
  pop3sPort: field('MANSIO_POP3S_PORT', 2995, port),
  /** None: what the nodes of the cluster listen on. */
  publicSubmission: field('MANSIO_PUBLIC_SUBMISSION', undefined, hostPort),
  publicSubmissions: field('MANSIO_PUBLIC_SUBMISSIONS', undefined, hostPort),
  publicImap: field('MANSIO_PUBLIC_IMAP', undefined, hostPort),
  publicImaps: field('MANSIO_PUBLIC_IMAPS', undefined, hostPort),
  publicPop3: field('MANSIO_PUBLIC_POP3', undefined, hostPort),
  publicPop3s: field('MANSIO_PUBLIC_POP3S', undefined, hostPort),
  /** Passwords in the clear are for tries on this machine: the demo's default is `true`. */
  allowPlaintextAuth: field('MANSIO_ALLOW_PLAINTEXT_AUTH', false, flag),
  /** None: a self-signed pair made once into the data directory. */
  tlsCert: field('MANSIO_TLS_CERT', undefined, readableFile),
  tlsKey: field('MANSIO_TLS_KEY', undefined, readableFile),
  /** 25 MiB of attachments grow to 35 MiB in base64. */
  maxMessageSize: field('MANSIO_MAX_MESSAGE_SIZE', 36_700_160, integer(1024, 1_073_741_824)),
  /** Seconds; 0: an account may export as often as it likes. */
  mboxExportInterval: field('MANSIO_MBOX_EXPORT_INTERVAL', 600, integer(0, 86_400)),
  /** Requests a minute; 0: as many as one likes. */
  rateGlobal: field('MANSIO_RATE_GLOBAL', 100, integer(0, 1_000_000)),
  rateAuth: field('MANSIO_RATE_AUTH', 10, integer(0, 1_000_000)),
  rateWrite: field('MANSIO_RATE_WRITE', 30, integer(0, 1_000_000)),
  /** None: pages of other origins cannot read the API. */
  corsOrigins: field<readonly string[], readonly string[]>('MANSIO_CORS_ORIGINS', [], originList),
  /** None: who connects is who speaks. */
  proxyNetworks: field<readonly string[], readonly string[]>('MANSIO_PROXY_NETWORKS', [], networkList),
  /** None: there are no logins, API keys alone open accounts. */
  oidcAuthority: field('MANSIO_OIDC_AUTHORITY', undefined, providerUrl),
  /** Only told to the web app, which signs people in under it. */
  oidcClientId: field('MANSIO_OIDC_CLIENT_ID', undefined, identifier),
  /** None: a token need not say what it is for. */
  oidcAudience: field('MANSIO_OIDC_AUDIENCE', undefined, identifier),
  /** None: a pair made once into the store. */
  vapidPublicKey: field('MANSIO_VAPID_PUBLIC_KEY', undefined, vapidPublicKey),
  vapidPrivateKey: field('MANSIO_VAPID_PRIVATE_KEY', undefined, vapidPrivateKey, hidden),
  /** Whom a push service may write to. None: the postmaster of this host. */
  vapidSubject: field('MANSIO_VAPID_SUBJECT', undefined, contactUrl),
  /** Endpoints come from clients, and the server sends to them. */
  pushAllowPrivate: field('MANSIO_PUSH_ALLOW_PRIVATE', false, flag),
  /** None: the system's resolvers. */
  outboundDns: field<readonly string[] | undefined, undefined>('MANSIO_OUTBOUND_DNS', undefined, hostPorts),
  /** Of other servers; another one than 25 is for tests. */
  outboundPort: field('MANSIO_OUTBOUND_PORT', 25, integer(1, 65_535)),
  /** Who publishes an MX record chooses what this server connects to. */
  outboundAllowPrivate: field('MANSIO_OUTBOUND_ALLOW_PRIVATE', false, flag),
  /** About five days with the delays below (RFC 5321 §4.5.4.1). */
  outboundMaxRetries: field('MANSIO_OUTBOUND_MAX_RETRIES', 30, integer(0, 1000)),
  outboundBackoffBaseMs: field('MANSIO_OUTBOUND_BACKOFF_BASE_MS', 60_000, integer(1, 86_400_000)),
  outboundBackoffCapMs: field('MANSIO_OUTBOUND_BACKOFF_CAP_MS', 14_400_000, integer(1, 604_800_000)),
  /** A wake-up makes deliveries immediate; this finds what a wake-up missed. */
  outboundPollMs: field('MANSIO_OUTBOUND_POLL_MS', 1000, integer(10, 3_600_000)),
  /** None: mail of domains without a key of their own is not signed. */
  dkimSelector: field('MANSIO_DKIM_SELECTOR', undefined, selector),
  dkimKey: field('MANSIO_DKIM_KEY', undefined, readableFile),
  /** Mail that fails a DMARC policy: forwarders and lists break more of it than forgers send. */
  dmarcReject: field('MANSIO_DMARC_REJECT', 'tag', oneOf('tag', 'reject', 'none')),
  anonymousAccount: field('MANSIO_ANONYMOUS_ACCOUNT', undefined, emailAddress),
  /** Enough to spread over dozens of nodes evenly, few enough to renew in one statement. */
  shards: field('MANSIO_SHARDS', 256, integer(1, 65_536)),
  /** Failover within 3 s; a heartbeat each second bears two lost ones. */
  leaseTtlMs: field('MANSIO_LEASE_TTL_MS', 3000, integer(200, 600_000)),
  allowUnsafeDatabase: field('MANSIO_ALLOW_UNSAFE_DATABASE', false, flag),
  /** OpenTelemetry's own variable; none: nothing is traced. */
  otlpEndpoint: field('OTEL_EXPORTER_OTLP_ENDPOINT', undefined, httpUrl),
  logLevel: field('MANSIO_LOG_LEVEL', 'info', oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')),
} as const;

type Values = {
  -readonly [K in keyof typeof FIELDS]: (typeof FIELDS)[K] extends Field<infer T, infer D> ? T | D : never;
};
type Key = keyof Values;

export interface Config
  extends Readonly<
    Omit<Values, 'tlsCert' | 'tlsKey' | 'vapidPublicKey' | 'vapidPrivateKey' | 'dkimSelector' | 'dkimKey'>
  > {
  /** PEM paths. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** For Web Push. */
  readonly vapid: { readonly publicKey: string; readonly privateKey: string } | undefined;
  /** The key of domains that have none of their own: its selector, and the path of its PEM file. */
  readonly dkim: { readonly selector: string; readonly key: string } | undefined;
  readonly demo: boolean;
  /** Variables that look like Mansio's and mean nothing to it. */
  readonly unknown: readonly string[];
}

export interface ConfigRow {
  readonly name: string;
  /** '' when there is none. */
  readonly value: string;
  /** `unknown`: a variable that looks like one of Mansio's and does nothing; its value, which may be a secret, is hidden. */
  readonly source: 'default' | 'environment' | 'env file' | 'demo' | 'data directory' | 'listener' | 'unknown';
}

/** A variable set to nothing counts as not set. @throws ConfigError */
export function readConfig(env: Environment = process.env): Config {
  const problems: ConfigProblem[] = [];
  const wrong = (key: Key, accepted: string) => {
    const { name, shown } = FIELDS[key] as Field<unknown, unknown>;
    const text = textOf(env, name) ?? '';
    problems.push({ name, value: shown === undefined ? text : shown(text), accepted });
  };
  const values = {} as Values;
  const good = new Set<Key>();
  for (const key of Object.keys(FIELDS) as Key[]) {
    const { name, initial, parse, accepts } = FIELDS[key] as Field<unknown, unknown>;
    const text = textOf(env, name);
    try {
      Object.assign(values, { [key]: text === undefined ? initial : parse(text) });
      good.add(key);
    } catch {
      wrong(key, accepts);
    }
  }
  const agree = (keys: readonly Key[], holds: () => boolean, key: Key, accepted: string) => {
    if (keys.every((each) => good.has(each)) && !holds()) wrong(key, accepted);
  };
  agree(
    ['roles', 'natsUrl'],
    () => values.natsUrl !== undefined || values.roles.has('mailbox'),
    'roles',
    'all, or a list with mailbox: without NATS_URL no other node holds the mailboxes',
  );
  const pair = ['tlsCert', 'tlsKey'] as const;
  for (const key of pair) {
    const both = () => (values.tlsCert === undefined) === (values.tlsKey === undefined);
    if (values[key] === undefined)
      agree(pair, both, key, `${FIELDS[key].accepts}, because the other of the pair is set`);
  }
  const signing = ['dkimSelector', 'dkimKey'] as const;
  for (const key of signing) {
    const both = () => (values.dkimSelector === undefined) === (values.dkimKey === undefined);
    if (values[key] === undefined)
      agree(signing, both, key, `${FIELDS[key].accepts}, because the other of the pair is set`);
  }
  agree(
    ['allowPlaintextAuth', 'bind'],
    () => !values.allowPlaintextAuth || isLoopback(values.bind),
    'allowPlaintextAuth',
    'true only while MANSIO_BIND is a loopback address',
  );
  const unseen = () => values.anonymousAccount === undefined || isLoopback(values.bind);
  agree(
    ['anonymousAccount', 'bind'],
    unseen,
    'anonymousAccount',
    'an account only while MANSIO_BIND is a loopback address',
  );
  agree(
    ['anonymousAccount', 'oidcAuthority'],
    () => values.anonymousAccount === undefined || values.oidcAuthority === undefined,
    'anonymousAccount',
    'an account only while MANSIO_OIDC_AUTHORITY is not set',
  );
  const vapid = ['vapidPublicKey', 'vapidPrivateKey'] as const;
  agree(
    vapid,
    () => isVapidOrNone(values.vapidPublicKey, values.vapidPrivateKey),
    'vapidPublicKey',
    'the public key of MANSIO_VAPID_PRIVATE_KEY, and neither without the other',
  );
  const ports = [
    ...(['httpPort', 'mxPort', 'metricsPort', 'submissionPort', 'submissionsPort'] as const),
    ...(['imapPort', 'imapsPort', 'pop3Port', 'pop3sPort'] as const),
  ];
  ports.forEach((key, i) => {
    for (const other of ports.slice(0, i)) {
      const apart = () => values[key] === 0 || values[key] !== values[other];
      agree([key, other], apart, key, `a port other than ${FIELDS[other].name}`);
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);

  const { tlsCert, tlsKey, vapidPublicKey: publicKey, vapidPrivateKey: privateKey, ...others } = values;
  const { dkimSelector, dkimKey, ...rest } = others;
  const demo = isDemo(values);
  return {
    ...rest,
    hostedDomains: demo ? ['example.test'] : rest.hostedDomains,
    allowPlaintextAuth: rest.allowPlaintextAuth || (demo && textOf(env, FIELDS.allowPlaintextAuth.name) === undefined),
    tls: tlsCert !== undefined && tlsKey !== undefined ? { cert: tlsCert, key: tlsKey } : undefined,
    vapid: publicKey !== undefined && privateKey !== undefined ? { publicKey, privateKey } : undefined,
    dkim: dkimSelector !== undefined && dkimKey !== undefined ? { selector: dkimSelector, key: dkimKey } : undefined,
    demo,
    unknown: unknownIn(env),
  };
}

/** Roles that are listed and do nothing in this version; none for `all`, which means those that there are. */
export function idleRoles({ roles }: Pick<Config, 'roles'>): readonly string[] {
  return roles.size === ALL_ROLES.size ? [] : ROLES_TO_COME.filter((role) => roles.has(role));
}

/** Names that `loadEnvFile` has set. */
const fromFile = new Set<string>();

/** Sets what the file (lines of NAME=value) has and the environment has not. @throws Error when it cannot be read */
export function loadEnvFile(file: string, env: NodeJS.ProcessEnv = process.env): void {
  for (const [name, value] of Object.entries(parseEnv(readFileSync(file, 'utf8')))) {
    if (textOf(env, name) !== undefined) continue;
    env[name] = value;
    fromFile.add(name);
  }
}

/** The URL of DATABASE_URL as it may be shown. */
export const shownDatabaseUrl: (url: string) => string = withoutPassword;

/** The effective values in the order of the table, secrets hidden, then the unknown ones. @throws ConfigError */
export function describeConfig(env: Environment = process.env): readonly ConfigRow[] {
  const config = readConfig(env);
  const effective: Record<string, unknown> = {
    ...config,
    tlsCert: config.tls?.cert,
    tlsKey: config.tls?.key,
    vapidPublicKey: config.vapid?.publicKey,
    vapidPrivateKey: config.vapid?.privateKey,
    dkimSelector: config.dkim?.selector,
    dkimKey: config.dkim?.key,
  };
  const known = Object.entries(FIELDS).map(([key, { name, shown }]): ConfigRow => {
    const text = written(effective[key]);
    if (textOf(env, name) === undefined) {
      if (key === 'nodeId') return { name, value: keptNodeId(config.dataDir) ?? '', source: 'data directory' };
      if (key === 'publicUrl') return { name, value: listenerUrl(config), source: 'listener' };
    }
    const value = shown === undefined || text === '' ? text : shown(text);
    return { name, value, source: sourceOf(env, name, config.demo && DEMO_SETS.has(key)) };
  });
  return [...known, ...config.unknown.map((name) => ({ name, value: hidden(), source: 'unknown' as const }))];
}

function sourceOf(env: Environment, name: string, isDemo: boolean): ConfigRow['source'] {
  if (textOf(env, name) !== undefined) return env === process.env && fromFile.has(name) ? 'env file' : 'environment';
  return isDemo ? 'demo' : 'default';
}

/** The name that the node made for itself; undefined before its first start. */
function keptNodeId(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, 'node-id'), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** What clients are told when MANSIO_PUBLIC_URL is not set; '' when the port is picked at the start. */
function listenerUrl({ bind, httpPort, roles, hostname: host }: Config): string {
  if (httpPort === 0 || !roles.has('api')) return '';
  const name = bind === '0.0.0.0' || bind === '::' ? host : bind.includes(':') ? `[${bind}]` : bind;
  return `http://${name}:${httpPort}`;
}

const DEMO_SETS: ReadonlySet<string> = new Set(['hostedDomains', 'allowPlaintextAuth']);

function isVapidOrNone(publicKey: string | undefined, privateKey: string | undefined): boolean {
  if (publicKey === undefined || privateKey === undefined) return publicKey === privateKey;
  return isVapidPair(publicKey, privateKey);
}

/** The demo: an own database, no domain named, reachable from this machine alone. */
function isDemo({ databaseUrl: url, hostedDomains, bind }: Values): boolean {
  return url === undefined && hostedDomains.length === 0 && isLoopback(bind);
}

function unknownIn(env: Environment): string[] {
  const known = new Set<string>(Object.values(FIELDS).map(({ name }) => name));
  const ours = (name: string) => /^MANSIO_/.test(name) && !known.has(name);
  return Object.keys(env)
    .filter((name) => ours(name) && textOf(env, name) !== undefined)
    .sort();
}

function textOf(env: Environment, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
}

function written(value: unknown): string {
  if (value instanceof Set || Array.isArray(value)) return [...value].join(',');
  return value === undefined ? '' : String(value);
}

/** What the machine calls itself may not be a name that may stand in a banner. */
function machineName(): string {
  try {
    return domain.parse(hostname());
  } catch {
    return 'localhost';
  }
}
