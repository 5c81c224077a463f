// Asks the listeners of this node, from inside at the address that they are bound to, and from outside at the addresses that DNS has for the
// names that clients are told. The checks `listener` and `certificate` share the answers. Only names of this deployment are contacted.
import {
  type ProbedProtocol,
  type ProbedService,
  type ProbeRequest,
  probeService,
} from '../../net/tcp/server-probe.js';
import { TrustedNetworks } from '../../net/tcp/trusted-networks.js';
import { portOf } from '../listeners/connection-info.js';
import { addressesOf, type DoctorSubject, hostOfAddress, isOfThisMachine, ownNodes } from './subject.js';

export interface ProbedListener {
  /** As in the ready line. */
  readonly name: string;
  readonly serverName: string;
  readonly address: string;
  readonly port: number;
  readonly result: ProbedService | { readonly error: unknown };
}

type Service = Pick<ProbeRequest, 'protocol' | 'tls'>;

const service = (protocol: ProbedProtocol, tls: ProbeRequest['tls']): Service => ({ protocol, tls });

/** How each listener is spoken to, by its name in the ready line. */
const SERVICES: Readonly<Record<string, Service>> = {
  mx: service('smtp', 'start'),
  submission: service('smtp', 'start'),
  submissions: service('smtp', 'implicit'),
  imap: service('imap', 'start'),
  imaps: service('imap', 'implicit'),
  pop3: service('pop3', 'start'),
  pop3s: service('pop3', 'implicit'),
  sieve: service('sieve', 'start'),
  http: service('http', 'none'),
  https: service('http', 'implicit'),
  metrics: service('http', 'none'),
  acme: service('http', 'none'),
};

/** These listen on MANSIO_HTTP_BIND, the others on MANSIO_BIND. */
const ON_HTTP_BIND: ReadonlySet<string> = new Set(['http', 'metrics']);
/** The most addresses of a name that are asked. */
const MOST_ADDRESSES = 4;
/** RFC 8555 §8.3. */
const AUTHORITY_PORT = 80;

const inside = new WeakMap<DoctorSubject, Promise<readonly ProbedListener[]>>();

/** The listeners that this node has registered; asked once per subject. */
export function probedInside(subject: DoctorSubject): Promise<readonly ProbedListener[]> {
  const known = inside.get(subject);
  if (known !== undefined) return known;
  const probed = probeInside(subject);
  inside.set(subject, probed);
  return probed;
}

async function probeInside(subject: DoctorSubject): Promise<readonly ProbedListener[]> {
  const registered = new Map<string, number>();
  for (const { listeners = {} } of ownNodes(subject))
    for (const [name, address] of Object.entries(listeners))
      if (name in SERVICES) registered.set(name, portOf(address));
  const { bind, httpBind } = subject.config;
  return Promise.all(
    [...registered].map(([name, port]) => {
      const address = reachable(ON_HTTP_BIND.has(name) ? httpBind : bind);
      return probe(subject, name, toldHost(subject, name), address, port);
    }),
  );
}

/** The listeners at the addresses that DNS has for them; one element per address. */
export async function probedOutside(subject: DoctorSubject): Promise<readonly ProbedListener[]> {
  const probed = await Promise.all(
    publishedServices(subject).map(async ({ name, host, port }) => {
      const answer = await addressesOf(subject.dns, host);
      if (answer.kind !== 'found') return [];
      const addresses = answer.records.slice(0, MOST_ADDRESSES);
      return Promise.all(addresses.map((address) => probe(subject, name, host, address, port)));
    }),
  );
  return probed.flat();
}

interface PublishedService {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

function publishedServices({ config, records: { endpoints } }: DoctorSubject): readonly PublishedService[] {
  const { connectionInfo, mxAddress, apiUrl } = endpoints;
  const { smtp, imap, pop3 } = connectionInfo;
  const of = (name: string, host: string, port: number): readonly PublishedService[] =>
    port === 0 || !host.includes('.') ? [] : [{ name, host, port }];
  const url = apiUrl === undefined ? undefined : new URL(apiUrl);
  const isHttps = url?.protocol === 'https:';
  return [
    ...(mxAddress === undefined ? [] : of('mx', hostOfAddress(mxAddress), portOf(mxAddress))),
    ...of('submission', smtp.serverName, smtp.port),
    ...of('submissions', smtp.serverName, smtp.securePort),
    ...of('imap', imap.serverName, imap.port),
    ...of('imaps', imap.serverName, imap.securePort),
    ...of('pop3', pop3.serverName, pop3.port),
    ...of('pop3s', pop3.serverName, pop3.securePort),
    ...(config.acmePort === 'off' ? [] : config.acmeNames.flatMap((host) => of('acme', host, AUTHORITY_PORT))),
    ...(url === undefined
      ? []
      : of(isHttps ? 'https' : 'http', url.hostname, Number(url.port || (isHttps ? 443 : 80)))),
  ];
}

/** The name under which clients reach the listener. */
function toldHost(subject: DoctorSubject, listener: string): string {
  return publishedServices(subject).find(({ name }) => name === listener)?.host ?? subject.config.hostname;
}

async function probe(
  { config, dialMs }: DoctorSubject,
  name: string,
  serverName: string,
  address: string,
  port: number,
): Promise<ProbedListener> {
  const { protocol, tls } = SERVICES[name]!;
  // A connection to an address of this machine comes from that address.
  const sendsProxyHeader = isOfThisMachine(address) && new TrustedNetworks(config.proxyNetworks).includes(address);
  const request = { address, port, protocol, tls, serverName, sendsProxyHeader, timeoutMs: dialMs };
  const result = await probeService(request).catch((error: unknown) => ({ error }));
  return { name, serverName, address, port, result };
}

/** The address at which a listener that is bound to `bind` can be reached from this machine. */
function reachable(bind: string): string {
  return bind === '0.0.0.0' ? '127.0.0.1' : bind === '::' ? '::1' : bind;
}
