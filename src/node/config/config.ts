// Reads the configuration of a node; nothing else reads process.env. `node/config/variables.ts` declares every variable with its default
// and its meaning; all are validated together, so that one message names every wrong value.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigError, type ConfigProblem } from './error.js';
import { availableProcessors } from './processors.js';
import { hidden, isLoopback, isVapidPair, type ListenerPort, withoutPassword } from './values.js';
import type { Variable } from './variable.js';
import { VARIABLES } from './variables.js';

export type Environment = Readonly<Record<string, string | undefined>>;

type Values = {
  -readonly [K in keyof typeof VARIABLES]: (typeof VARIABLES)[K] extends Variable<infer T, infer D> ? T | D : never;
};
type Key = keyof Values;

export interface Config
  extends Readonly<
    Omit<
      Values,
      | 'httpBind'
      | 'acmePort'
      | 'tlsCert'
      | 'tlsKey'
      | 'vapidPublicKey'
      | 'vapidPrivateKey'
      | 'dkimSelector'
      | 'dkimKey'
      | 'junkFilter'
    >
  > {
  /** The address of plain HTTP and of metrics. */
  readonly httpBind: string;
  /** Who learns from moves to and from Junk. */
  readonly junkFilter: NonNullable<Values['junkFilter']>;
  /** `off` without a directory. */
  readonly acmePort: ListenerPort;
  /** PEM paths; the default pair comes first. */
  readonly tls: readonly { readonly cert: string; readonly key: string }[] | undefined;
  /** The key pair of Web Push. */
  readonly vapid: { readonly publicKey: string; readonly privateKey: string } | undefined;
  /** The key for domains without keys of their own: its selector, and the path of its PEM file. */
  readonly dkim: { readonly selector: string; readonly key: string } | undefined;
  readonly demo: boolean;
  /** Variables that look like Mansio's but have no meaning. */
  readonly unknown: readonly string[];
}

export interface ConfigRow {
  readonly name: string;
  /** '' when there is no value. */
  readonly value: string;
  /** `unknown`: a variable that looks like Mansio's but has no effect; its value, which may be a secret, is hidden. */
  readonly source: 'default' | 'environment' | 'env file' | 'demo' | 'data directory' | 'listener' | 'unknown';
}

/** A variable with an empty value counts as not set. @throws ConfigError */
export function readConfig(env: Environment = process.env): Config {
  const problems: ConfigProblem[] = [];
  const wrong = (key: Key, accepted: string) => {
    const { name, shown } = VARIABLES[key] as Variable<unknown, unknown>;
    const text = textOf(env, name) ?? '';
    problems.push({ name, value: shown === undefined ? text : shown(text), accepted });
  };
  const values = {} as Values;
  const good = new Set<Key>();
  for (const key of Object.keys(VARIABLES) as Key[]) {
    const { name, initial, parse, accepts } = VARIABLES[key] as Variable<unknown, unknown>;
    const text = textOf(env, name);
    try {
      Object.assign(values, { [key]: text === undefined ? initial : parse(text) });
      good.add(key);
    } catch {
      wrong(key, accepts);
    }
  }
  checkAgreement(values, good, wrong);
  if (problems.length > 0) throw new ConfigError(problems);

  return configOf(values, env);
}

type Wrong = (key: Key, accepted: string) => void;
/** Reports `key` when all of `keys` can be read and do not agree. */
type Agree = (keys: readonly Key[], holds: () => boolean, key: Key, accepted: string) => void;

/** Checks values that must agree with each other. `good`: the keys whose values can be read. */
function checkAgreement(values: Values, good: ReadonlySet<Key>, wrong: Wrong): void {
  const agree: Agree = (keys, holds, key, accepted) => {
    if (keys.every((each) => good.has(each)) && !holds()) wrong(key, accepted);
  };
  checkPairs(values, agree);
  checkExposure(values, agree);
  checkPorts(values, agree);
  checkAcme(values, agree);
  checkJunkFilter(values, agree);
}

function checkPairs(values: Values, agree: Agree): void {
  agree(
    ['roles', 'natsUrl'],
    () => values.natsUrl !== undefined || values.roles.has('mailbox'),
    'roles',
    'all, or a list with mailbox: without NATS_URL no other node holds the mailboxes',
  );
  agree(
    ['processes', 'natsUrl'],
    () => values.natsUrl !== undefined || values.processes === 1,
    'processes',
    '1 while NATS_URL is not set: several processes reach each other over NATS only',
  );
  const pair = ['tlsCert', 'tlsKey'] as const;
  for (const key of pair) {
    const both = () => (values.tlsCert === undefined) === (values.tlsKey === undefined);
    if (values[key] === undefined)
      agree(pair, both, key, `${VARIABLES[key].accepts}, because the other of the pair is set`);
  }
  agree(
    pair,
    () =>
      (values.tlsCert?.length ?? 0) === (values.tlsKey?.length ?? 0) ||
      values.tlsKey === undefined ||
      values.tlsCert === undefined,
    'tlsKey',
    'as many paths as MANSIO_TLS_CERT has',
  );
  const signing = ['dkimSelector', 'dkimKey'] as const;
  for (const key of signing) {
    const both = () => (values.dkimSelector === undefined) === (values.dkimKey === undefined);
    if (values[key] === undefined)
      agree(signing, both, key, `${VARIABLES[key].accepts}, because the other of the pair is set`);
  }
}

/** Checks what may be open without authentication, and the keys of Web Push. */
function checkExposure(values: Values, agree: Agree): void {
  agree(
    ['allowPlaintextAuth', 'bind'],
    () => !values.allowPlaintextAuth || isLoopback(values.bind),
    'allowPlaintextAuth',
    'true only while MANSIO_BIND is a loopback address',
  );
  agree(
    ['anonymousAccount', 'bind', 'httpBind'],
    () => values.anonymousAccount === undefined || isLocal(values),
    'anonymousAccount',
    'an account only while MANSIO_BIND and MANSIO_HTTP_BIND are loopback addresses',
  );
  agree(
    ['anonymousAccount', 'oidcAuthority'],
    () => values.anonymousAccount === undefined || values.oidcAuthority === undefined,
    'anonymousAccount',
    'an account only while MANSIO_OIDC_AUTHORITY is not set',
  );
  agree(
    ['oidcClientSecret', 'oidcClientId', 'oidcAuthority'],
    () =>
      values.oidcClientSecret === undefined ||
      (values.oidcClientId !== undefined && values.oidcAuthority !== undefined),
    'oidcClientSecret',
    'a secret only together with MANSIO_OIDC_AUTHORITY and MANSIO_OIDC_CLIENT_ID',
  );
  const vapid = ['vapidPublicKey', 'vapidPrivateKey'] as const;
  agree(
    vapid,
    () => isVapidOrNone(values.vapidPublicKey, values.vapidPrivateKey),
    'vapidPublicKey',
    'the public key of MANSIO_VAPID_PRIVATE_KEY, and neither without the other',
  );
}

/** Checks that rspamd can be taught, where it is what learns. */
function checkJunkFilter(values: Values, agree: Agree): void {
  agree(
    ['junkFilter', 'rspamdUrl'],
    () => values.junkFilter !== 'rspamd' || values.rspamdUrl !== undefined,
    'junkFilter',
    'a value other than rspamd while MANSIO_RSPAMD_URL is not set',
  );
  agree(
    ['rspamdControllerUrl', 'rspamdUrl'],
    () => values.rspamdControllerUrl === undefined || values.rspamdUrl !== undefined,
    'rspamdControllerUrl',
    'a URL only together with MANSIO_RSPAMD_URL',
  );
}

/** Checks that there is something to request a certificate for. */
function checkAcme(values: Values, agree: Agree): void {
  agree(
    ['acmeDirectory', 'acmeNames', 'hostname', 'publicUrl'],
    () => values.acmeDirectory === undefined || acmeNamesOf(values).length > 0,
    'acmeNames',
    'a list of names, because neither MANSIO_HOSTNAME nor MANSIO_PUBLIC_URL has a full name, such as mail.example.org',
  );
}

function checkPorts(values: Values, agree: Agree): void {
  const ports = [
    ...(['httpPort', 'httpsPort', 'acmePort', 'mxPort', 'metricsPort', 'submissionPort', 'submissionsPort'] as const),
    ...(['imapPort', 'imapsPort', 'pop3Port', 'pop3sPort', 'sievePort'] as const),
  ];
  // The port of ACME has a default that depends on another setting.
  const effective = { ...values, acmePort: acmePortOf(values) };
  ports.forEach((key, i) => {
    for (const other of ports.slice(0, i)) {
      const port = effective[key];
      const apart = () => port === 0 || port === 'off' || port !== effective[other];
      agree(['acmeDirectory', key, other], apart, key, `a port other than ${VARIABLES[other].name}, which has ${port}`);
    }
  });
}

function configOf(values: Values, env: Environment): Config {
  const { tlsCert, tlsKey, vapidPublicKey: publicKey, vapidPrivateKey: privateKey, ...others } = values;
  const { dkimSelector, dkimKey, ...rest } = others;
  const demo = isDemo(values);
  return {
    ...rest,
    httpBind: httpBindOf(values),
    dns: values.dns ?? values.outboundDns,
    junkFilter: values.junkFilter ?? (values.rspamdUrl === undefined ? 'builtin' : 'rspamd'),
    acmePort: acmePortOf(values),
    acmeNames: acmeNamesOf(values),
    hostedDomains: demo ? ['example.test'] : rest.hostedDomains,
    allowPlaintextAuth:
      rest.allowPlaintextAuth || (demo && textOf(env, VARIABLES.allowPlaintextAuth.name) === undefined),
    tls: tlsKey && tlsCert?.map((cert, i) => ({ cert, key: tlsKey[i]! })),
    vapid: publicKey !== undefined && privateKey !== undefined ? { publicKey, privateKey } : undefined,
    dkim: dkimSelector !== undefined && dkimKey !== undefined ? { selector: dkimSelector, key: dkimKey } : undefined,
    demo,
    unknown: unknownIn(env),
  };
}

/** Returns the number of nodes that one parent runs on this machine; 1 means that there is no parent. */
export function processCountOf({ processes }: Pick<Config, 'processes'>): number {
  return processes === 'auto' ? availableProcessors() : processes;
}

/** Names of variables that `loadEnvFile` has set. */
const fromFile = new Set<string>();

/**
 * Sets the variables of the file (lines of NAME=value) that the environment does not have, and returns them. @throws Error when it cannot
 * be read
 */
export function loadEnvFile(file: string, env: NodeJS.ProcessEnv = process.env): Readonly<Record<string, string>> {
  const entries = Object.entries(parseEnv(readFileSync(file, 'utf8')) as Record<string, string>);
  const loaded = entries.filter(([name]) => textOf(env, name) === undefined);
  for (const [name, value] of loaded) {
    env[name] = value;
    fromFile.add(name);
  }
  return Object.fromEntries(loaded);
}

/** Returns DATABASE_URL without its password. */
export const shownDatabaseUrl: (url: string) => string = withoutPassword;

/** Returns the effective values in the order of the table, with secrets hidden, then the unknown variables. @throws ConfigError */
export function describeConfig(env: Environment = process.env): readonly ConfigRow[] {
  const config = readConfig(env);
  const effective: Record<string, unknown> = {
    ...config,
    dnsbl: config.dnsbl.map(({ zone, action }) => (action === 'refuse' ? zone : `${zone}=${action}`)),
    tlsCert: config.tls?.map(({ cert }) => cert),
    tlsKey: config.tls?.map(({ key }) => key),
    vapidPublicKey: config.vapid?.publicKey,
    vapidPrivateKey: config.vapid?.privateKey,
    dkimSelector: config.dkim?.selector,
    dkimKey: config.dkim?.key,
    processes: config.processes === 'auto' ? `auto: ${processCountOf(config)}` : config.processes,
  };
  const known = Object.entries(VARIABLES).map(([key, { name, shown }]): ConfigRow => {
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

/** Returns the name that the node generated; undefined before its first start. */
export function keptNodeId(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, 'node-id'), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Returns the URL for clients when MANSIO_PUBLIC_URL is not set; '' when the port is picked at the start. */
function listenerUrl({ httpBind: bind, httpPort, httpsPort, roles, hostname: host }: Config): string {
  if (httpsPort !== 'off' && httpsPort !== 0 && roles.has('api'))
    return `https://${host}${httpsPort === 443 ? '' : `:${httpsPort}`}`;
  if (httpPort === 0 || httpPort === 'off' || !roles.has('api')) return '';
  const name = bind === '0.0.0.0' || bind === '::' ? host : bind.includes(':') ? `[${bind}]` : bind;
  return `http://${name}:${httpPort}`;
}

const DEMO_SETS: ReadonlySet<string> = new Set(['hostedDomains', 'allowPlaintextAuth']);

function isVapidOrNone(publicKey: string | undefined, privateKey: string | undefined): boolean {
  if (publicKey === undefined || privateKey === undefined) return publicKey === privateKey;
  return isVapidPair(publicKey, privateKey);
}

/** Whether this is the demo: an embedded database, no hosted domain is set, and all listeners are on loopback. */
function isDemo(values: Values): boolean {
  return values.databaseUrl === undefined && values.hostedDomains.length === 0 && isLocal(values);
}

/** Plain HTTP listens on MANSIO_BIND if that is loopback, else on 127.0.0.1; only MANSIO_HTTP_BIND opens it to other machines. */
function httpBindOf({ bind, httpBind }: Pick<Values, 'bind' | 'httpBind'>): string {
  return httpBind ?? (isLoopback(bind) ? bind : '127.0.0.1');
}

/** The names of the deployment's own certificate: an authority certifies full names of hosts only. */
function acmeNamesOf({
  acmeNames,
  hostname,
  publicUrl,
}: Pick<Values, 'acmeNames' | 'hostname' | 'publicUrl'>): readonly string[] {
  if (acmeNames.length > 0) return acmeNames;
  const host = publicUrl === undefined ? hostname : new URL(publicUrl).hostname;
  return [...new Set([hostname, host])].filter((name) => name.includes('.') && isIP(name.replace(/[[\]]/g, '')) === 0);
}

function acmePortOf({ acmeDirectory, acmePort = 80 }: Pick<Values, 'acmeDirectory' | 'acmePort'>): ListenerPort {
  return acmeDirectory === undefined ? 'off' : acmePort;
}

/** Whether no listener is open to other machines. */
function isLocal(values: Pick<Values, 'bind' | 'httpBind'>): boolean {
  return isLoopback(values.bind) && isLoopback(httpBindOf(values));
}

function unknownIn(env: Environment): string[] {
  const known = new Set<string>(Object.values(VARIABLES).map(({ name }) => name));
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
