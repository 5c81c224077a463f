// Where clients reach the mail protocols: what the operator publishes (MANSIO_PUBLIC_…), else the listeners that the nodes
// of the cluster have registered in the store. Every node tells clients the same.
import type { Config } from '../config.js';
import type { ConnectionInfo, ProtocolInfo } from '../gateways/http/routes/connection-info.js';
import type { NodeRow, PublicListeners } from '../store/leases.js';

/** The listeners of a node as the node registers them; `listeners`: `ip:port` by name. */
export function publicListeners(hostname: string, listeners: Readonly<Record<string, string>>): PublicListeners {
  return Object.fromEntries(
    Object.entries(listeners).map(([name, address]) => [name, `${hostname}:${address.replace(/^.*:/, '')}`]),
  );
}

export type Published = Pick<
  Config,
  'hostname' | 'publicSubmission' | 'publicSubmissions' | 'publicImap' | 'publicImaps' | 'publicPop3' | 'publicPop3s'
>;

/** `nodes`: those the store knows of. */
export function connectionInfoOf(config: Published, nodes: readonly NodeRow[]): ConnectionInfo {
  const { publicSubmission, publicSubmissions, publicImap, publicImaps, publicPop3, publicPop3s } = config;
  const protocol = (
    [plain, published]: readonly [string, string | undefined],
    [secure, securePublished]: readonly [string, string | undefined],
  ): ProtocolInfo => {
    const starttls = published ?? registered(nodes, plain);
    const implicit = securePublished ?? registered(nodes, secure);
    // Clients are told one host: what is published decides, then the listener with STARTTLS.
    const first = published ?? securePublished ?? starttls ?? implicit;
    const serverName = first === undefined ? config.hostname : hostOf(first);
    const portAt = (address: string | undefined) =>
      address !== undefined && hostOf(address) === serverName ? portOf(address) : 0;
    return { enabled: first !== undefined, serverName, port: portAt(starttls), securePort: portAt(implicit) };
  };
  return {
    smtp: protocol(['submission', publicSubmission], ['submissions', publicSubmissions]),
    pop3: protocol(['pop3', publicPop3], ['pop3s', publicPop3s]),
    imap: protocol(['imap', publicImap], ['imaps', publicImaps]),
  };
}

/** The address that most nodes have registered; nodes that are stopping count when there are no others. */
function registered(nodes: readonly NodeRow[], name: string): string | undefined {
  const open = nodes.filter((node) => !node.expired && node.listeners?.[name] !== undefined);
  const staying = open.filter(({ state }) => state !== 'draining');
  const counts = new Map<string, number>();
  for (const { listeners } of staying.length > 0 ? staying : open) {
    const address = listeners![name]!;
    counts.set(address, (counts.get(address) ?? 0) + 1);
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]?.[0];
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':'));
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}
