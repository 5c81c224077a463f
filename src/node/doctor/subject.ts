// What the checks of `mansio doctor` look at: this node, its store, its cluster, and DNS. Facts that several checks need are read once.
import { networkInterfaces } from 'node:os';
import { parseRelayUrl, type Relay } from '../../mail-format/relay-url.js';
import { type Dns, DnsFailure } from '../../net/dns/resolver.js';
import { canonicalAddress } from '../../net/tcp/ip-address.js';
import type { UnclaimedMail } from '../../store/addresses/unclaimed.js';
import type { LastBackup } from '../../store/backup/store-snapshot.js';
import type { CertificateState } from '../../store/certificates.js';
import type { ClusterView, NodeRow } from '../../store/leases.js';
import type { DatabaseCondition } from '../../store/postgres/driver/database-condition.js';
import type { RelaySetting } from '../../store/relays.js';
import type { SigningKey } from '../../store/signing-keys.js';
import type { Config } from '../config/config.js';
import type { PublicEndpoints } from '../domains/dns-records.js';
import type { RecordSettings } from '../domains/domain-records.js';

/** What the store says of the cluster and its domains. */
export interface StoredFacts {
  readonly view: ClusterView;
  readonly domains: readonly string[];
  /** The DKIM keys of all domains. */
  readonly keys: readonly SigningKey[];
  /** The smart hosts of domains that have a setting of their own. */
  readonly relays: ReadonlyMap<string, RelaySetting>;
}

/** The questions to the store. Each rejects when the store does not answer. */
export interface DoctorStore {
  condition(): Promise<DatabaseCondition>;
  /** ms since the epoch, by the database's clock. */
  clock(): Promise<number>;
  /** How long the first due email of the queue has been due, in ms. */
  overdueMs(): Promise<number>;
  /** The age of the oldest accepted message that waits for its mailbox, in ms. */
  inboundOldestMs(): Promise<number | null>;
  unclaimed(): Promise<readonly UnclaimedMail[]>;
  /** The certificates of MANSIO_ACME_DIRECTORY and the requests for them; none without it. */
  certificates(): Promise<readonly CertificateState[]>;
  /** Undefined when `mansio backup` has never completed one. */
  lastBackup(): Promise<LastBackup | undefined>;
  /** The number of restored outbound emails that wait for their release. */
  awaitingRelease(): Promise<number>;
}

export interface DoctorSubject {
  readonly config: Config;
  /** The version of this program. */
  readonly version: string;
  /** The name of this node; undefined before its first start. */
  readonly nodeId: string | undefined;
  /** The process of this node; undefined where none runs. */
  readonly pid: number | undefined;
  readonly store: DoctorStore;
  /** Undefined where the store does not answer. */
  readonly facts: StoredFacts | undefined;
  readonly records: RecordSettings;
  readonly dns: Dns;
  /** Zones of DNS block lists; empty: none is asked. */
  readonly blockLists: readonly string[];
  /** The port at which this deployment serves the policies of MTA-STS. */
  readonly policyPort: number;
  /** Certificate authorities in PEM for that policy; those of the system when absent. */
  readonly policyCa?: string | undefined;
  /** The most time of one connection to a listener, in ms. */
  readonly dialMs: number;
  /** The most time of all look-ups for one verification of SPF or DKIM, in ms. */
  readonly lookupsMs: number;
}

/** The smart host that takes mail of the domain's senders; undefined when it leaves directly. */
export function relayOf(domain: string, { config, facts }: DoctorSubject): Relay | undefined {
  const setting = facts?.relays.get(domain) ?? config.relayUrl;
  return setting === undefined ? undefined : parseRelayUrl(setting);
}

/** The living nodes that this data directory runs: one, or the processes of one parent. */
export function ownNodes({ nodeId, facts }: DoctorSubject): readonly NodeRow[] {
  if (nodeId === undefined) return [];
  const isOwn = (id: string) => id === nodeId || id.startsWith(`${nodeId}.`);
  return livingNodes(facts).filter(({ id }) => isOwn(id));
}

export function livingNodes(facts: StoredFacts | undefined): readonly NodeRow[] {
  return (facts?.view.nodes ?? []).filter(({ expired }) => !expired);
}

/** The names of the hosts that send mail: what the living nodes that deliver call themselves. */
export function sendingHosts({ config, facts }: DoctorSubject): readonly string[] {
  const names = livingNodes(facts)
    .filter(({ roles }) => roles.includes('outbound'))
    .flatMap(({ listeners = {} }) => Object.entries(listeners).filter(([name]) => !name.startsWith('public:')))
    .map(([, address]) => hostOfAddress(address));
  return names.length === 0 ? [config.hostname] : [...new Set(names)];
}

/** The host that other servers deliver to; undefined where no node takes mail in. */
export function mailHost({ mxAddress }: PublicEndpoints): string | undefined {
  return mxAddress === undefined ? undefined : hostOfAddress(mxAddress);
}

export function hostOfAddress(address: string): string {
  return address
    .slice(0, address.lastIndexOf(':'))
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
}

/** Whether an interface of this machine has the address. */
export function isOfThisMachine(address: string): boolean {
  return machineAddresses().includes(canonicalAddress(address) ?? address);
}

/** The addresses of this machine's interfaces. */
export function machineAddresses(): readonly string[] {
  const entries = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return entries.map(({ address }) => canonicalAddress(address) ?? address);
}

/** The answer of DNS, where an absent record is an answer too. */
export type DnsAnswer<T> =
  | { readonly kind: 'found'; readonly records: readonly T[] }
  | { readonly kind: 'absent' }
  /** `code`: that of Node, such as ESERVFAIL or ETIMEOUT. */
  | { readonly kind: 'silent'; readonly code: string };

/** Returns the answer of one look-up as a value. */
export async function answerOf<T>(look: Promise<readonly T[]>): Promise<DnsAnswer<T>> {
  try {
    const records = await look;
    return records.length === 0 ? { kind: 'absent' } : { kind: 'found', records };
  } catch (error) {
    if (!(error instanceof DnsFailure)) throw error;
    return error.temporary ? { kind: 'silent', code: error.code } : { kind: 'absent' };
  }
}

/** The addresses of a host of both families. A family without an answer counts only when the other has none either. */
export async function addressesOf(dns: Dns, host: string): Promise<DnsAnswer<string>> {
  const [four, six] = await Promise.all([
    answerOf<string>(dns.resolve(host, 'A')),
    answerOf<string>(dns.resolve(host, 'AAAA')),
  ]);
  const records = [four, six].flatMap((answer) => (answer.kind === 'found' ? answer.records : []));
  if (records.length > 0) return { kind: 'found', records };
  return four.kind === 'silent' ? four : six.kind === 'silent' ? six : { kind: 'absent' };
}
