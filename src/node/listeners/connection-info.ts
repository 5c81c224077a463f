// The addresses at which clients reach the cluster: those that the operator publishes (MANSIO_PUBLIC_…), otherwise the listeners that the
// nodes have registered in the store. A node registers its published addresses together with its listeners, so that every node, and a
// command without these settings, tells clients the same.

import type { ConnectionInfo, ProtocolInfo } from '../../gateways/http/routes/connection-info.js';
import { type OwnStsPolicy, ownStsPolicy } from '../../mail-format/authentication/own-sts-policy.js';
import type { NodeRow, PublicListeners } from '../../store/leases.js';
import type { Config } from '../config/config.js';

/** The settings that publish an address, by the names of the ready line. The one of `http` is a URL. */
const SETTINGS = {
  http: 'publicUrl',
  mx: 'publicSmtp',
  submission: 'publicSubmission',
  submissions: 'publicSubmissions',
  imap: 'publicImap',
  imaps: 'publicImaps',
  pop3: 'publicPop3',
  pop3s: 'publicPop3s',
} as const;

type PublicName = keyof typeof SETTINGS;

export type Published = Pick<Config, 'hostname' | 'httpsPort' | (typeof SETTINGS)[PublicName] | `${PublicName}Port`>;

export type KnownNode = Pick<NodeRow, 'listeners' | 'state' | 'expired'>;

/** The prefix of a listener's name for its published address, whichever nodes listen. */
const PUBLISHED = 'public:';

/** The data that a node registers; `listeners`: `ip:port` by name. */
export function registration(config: Published, listeners: Readonly<Record<string, string>>): PublicListeners {
  const open = Object.entries(listeners).map(([name, address]) => [name, `${config.hostname}:${portOf(address)}`]);
  const published = (Object.keys(SETTINGS) as PublicName[]).flatMap((name) => {
    const address = ownSetting(config, name);
    return address === undefined ? [] : [[`${PUBLISHED}${name}`, address]];
  });
  return Object.fromEntries([...open, ...published]);
}

/** `nodes`: the nodes in the store. */
export function connectionInfoOf(config: Published, nodes: readonly KnownNode[]): ConnectionInfo {
  const smtp = protocolInfo(config, nodes, 'submission', 'submissions');
  const pop3 = protocolInfo(config, nodes, 'pop3', 'pop3s');
  const imap = protocolInfo(config, nodes, 'imap', 'imaps');
  // A disabled protocol names the host of an enabled one, which is the same on every node.
  const serverName = [smtp, imap, pop3].find(({ enabled }) => enabled)?.serverName ?? config.hostname;
  const named = (info: ProtocolInfo): ProtocolInfo => (info.enabled ? info : { ...info, serverName });
  const mx = mxAddressOf(config, nodes);
  return { smtp: named(smtp), pop3: named(pop3), imap: named(imap), ...(mx !== undefined && { mx }) };
}

/** `host:port` of the MX listener as other mail servers reach it; undefined when no node accepts inbound mail. */
export function mxAddressOf(config: Published, nodes: readonly KnownNode[]): string | undefined {
  return addressOf(config, nodes, 'mx');
}

/**
 * The MTA-STS policy of all hosted domains; undefined when there is none. It names the published MX host, otherwise the hosts of all nodes
 * that the store knows: one that restarts stays in the policy, because senders keep a policy for days.
 */
export function stsPolicyOf(
  config: Published & Pick<Config, 'mtaStsMode'>,
  nodes: readonly KnownNode[],
): OwnStsPolicy | undefined {
  const address = published(config, nodes, 'mx');
  const hosts =
    address === undefined ? nodes.flatMap(({ listeners }) => listeners?.['mx'] ?? []).map(hostOf) : [hostOf(address)];
  return config.mtaStsMode === 'off' || hosts.length === 0 ? undefined : ownStsPolicy(config.mtaStsMode, hosts);
}

/** The base URL of the API: the published one, else that of the HTTPS listeners; undefined without both. */
export function apiUrlOf(config: Published, nodes: readonly KnownNode[]): string | undefined {
  const https = registered(nodes, 'https');
  return published(config, nodes, 'http') ?? (https && `https://${https.replace(/:443$/, '')}`);
}

/** The base URL of the page: that of the API, else that of plain HTTP on this machine; undefined when no port of it is known. */
export function pageUrlOf(config: Published, nodes: readonly KnownNode[]): string | undefined {
  const http = registered(nodes, 'http');
  const port = http === undefined ? config.httpPort : portOf(http);
  const local = typeof port === 'number' && port > 0 ? `http://localhost:${port}` : undefined;
  return apiUrlOf(config, nodes)?.replace(/\/+$/, '') ?? local;
}

function protocolInfo(
  config: Published,
  nodes: readonly KnownNode[],
  plainName: PublicName,
  secureName: PublicName,
): ProtocolInfo {
  const plain = addressOf(config, nodes, plainName);
  const secure = addressOf(config, nodes, secureName);
  // Clients get one host: the published one, otherwise that of the listener with STARTTLS.
  const first = published(config, nodes, plainName) ?? published(config, nodes, secureName) ?? plain ?? secure;
  const serverName = first === undefined ? config.hostname : hostOf(first);
  const portAt = (address: string | undefined) =>
    address !== undefined && hostOf(address) === serverName ? portOf(address) : 0;
  return { enabled: first !== undefined, serverName, port: portAt(plain), securePort: portAt(secure) };
}

function addressOf(config: Published, nodes: readonly KnownNode[], name: PublicName): string | undefined {
  return published(config, nodes, name) ?? registered(nodes, name);
}

/** The node's own setting counts where no node has registered one: for a starting node, or a command. */
function published(config: Published, nodes: readonly KnownNode[], name: PublicName): string | undefined {
  return registered(nodes, `${PUBLISHED}${name}`) ?? ownSetting(config, name);
}

/** A node whose port is off publishes no address for it. */
function ownSetting(config: Published, name: PublicName): string | undefined {
  const isOff = config[`${name}Port`] === 'off' && (name !== 'http' || config.httpsPort === 'off');
  return isOff ? undefined : config[SETTINGS[name]];
}

/** The address that most nodes have registered; stopping nodes count only when there are no others. */
function registered(nodes: readonly KnownNode[], name: string): string | undefined {
  const open = nodes.filter((node) => !node.expired && node.listeners?.[name] !== undefined);
  const staying = open.filter(({ state }) => state !== 'draining');
  const counts = new Map<string, number>();
  for (const { listeners } of staying.length > 0 ? staying : open) {
    const address = listeners![name]!;
    counts.set(address, (counts.get(address) ?? 0) + 1);
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]?.[0];
}

export function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':'));
}

export function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}
