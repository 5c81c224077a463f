// Subjects of checks for tests: one living node with the usual ports, whose store answers from memory, and zones of a real DNS server.
import { generateKeyPairSync } from 'node:crypto';
import { startDnsServer, type Zone } from '../../../dev/servers/dns-server.js';
import { dkimKey } from '../../../src/mail-format/authentication/dkim-key.js';
import { pacedDns } from '../../../src/net/dns/paced-dns.js';
import { createResolver } from '../../../src/net/dns/resolver.js';
import { readConfig } from '../../../src/node/config/config.js';
import { DOCTOR_PACE } from '../../../src/node/doctor/open-subject.js';
import type { DoctorStore, DoctorSubject } from '../../../src/node/doctor/subject.js';
import type { DnsRecord } from '../../../src/node/domains/dns-records.js';
import { domainRecords } from '../../../src/node/domains/domain-records.js';
import { publicEndpoints } from '../../../src/node/domains/public-endpoints.js';
import type { NodeRow } from '../../../src/store/leases.js';
import type { DatabaseCondition } from '../../../src/store/postgres/driver/database-condition.js';
import type { SigningKey } from '../../../src/store/signing-keys.js';

export const DOMAIN = 'example.org';
export const HOST = 'mail.example.org';
/** The address of the host in its zones. */
export const ADDRESS = '203.0.113.5';

const PORTS = { mx: 25, submission: 587, submissions: 465, imap: 143, imaps: 993, pop3: 110, pop3s: 995 };

export const NODE: NodeRow = {
  id: 'one',
  version: '0.2.0',
  roles: ['mx', 'outbound', 'mailbox'],
  bus: 'in-process',
  state: 'serving',
  startedAt: 0,
  silentMs: 100,
  expired: false,
  listeners: Object.fromEntries(Object.entries(PORTS).map(([name, port]) => [name, `${HOST}:${port}`])),
};

export const CONDITION: DatabaseCondition = {
  facts: {
    versionNumber: 180_000,
    version: '18.0',
    readOnly: 'off',
    recovery: false,
    encoding: 'UTF8',
    role: 'mansio',
    fsync: 'on',
    fullPageWrites: 'on',
  },
  database: 'mansio',
  sizeOctets: 10_000_000,
  connections: { used: 20, most: 97 },
  transactionsLeft: 2_000_000_000,
  autovacuum: true,
  synchronousNames: '',
  hasPatroni: false,
  standbys: [],
  idleSlots: [],
};

const rsa = dkimKey(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey);
const ed25519 = dkimKey(generateKeyPairSync('ed25519').privateKey);

export function keysOf(domain: string): readonly SigningKey[] {
  return [
    { domain, selector: 'mansio', ...rsa },
    { domain, selector: 'mansio-ed25519', ...ed25519 },
  ];
}

/** The zones that a domain gets when its operator publishes what `mansio domain show` prints. */
export function zonesOf(records: readonly DnsRecord[]): Record<string, Zone> {
  const zones: Record<string, { -readonly [K in keyof Zone]: Zone[K] }> = {};
  const bare = (name: string) => name.replace(/\.$/, '');
  for (const { name, type, value } of records) {
    zones[name] ??= {};
    const zone = zones[name];
    const [first = '', second = '', third = '', fourth = ''] = value;
    if (type === 'TXT') zone.TXT = [...(zone.TXT ?? []), value.join('')];
    else if (type === 'MX') zone.MX = [[Number(first), bare(second)]];
    else if (type === 'CNAME') zone.CNAME = bare(first);
    else zone.SRV = [[Number(first), Number(second), Number(third), bare(fourth)]];
  }
  return zones;
}

/** The zones of the host itself. */
export const HOST_ZONES: Readonly<Record<string, Zone>> = {
  [HOST]: { A: [ADDRESS] },
  '5.113.0.203.in-addr.arpa': { PTR: [HOST] },
};

export interface SubjectWishes {
  readonly env?: Readonly<Record<string, string>>;
  readonly nodes?: readonly NodeRow[];
  readonly domains?: readonly string[];
  readonly store?: Partial<DoctorStore>;
  /** The time in ms for one try of the DNS server, which a busy machine needs: a test whose server is silent gives less. */
  readonly dnsMs?: number;
  readonly more?: Partial<DoctorSubject>;
}

/** `t` closes the DNS server. */
export async function subjectFor(t: { teardown(work: () => Promise<void>): void }, wishes: SubjectWishes = {}) {
  const { env = {}, nodes = [NODE], domains = [DOMAIN], store = {}, dnsMs = 30_000, more = {} } = wishes;
  const config = readConfig({ MANSIO_HOSTNAME: HOST, ...env });
  const keys = domains.flatMap(keysOf);
  const records = { endpoints: publicEndpoints(config, nodes), fallback: undefined };
  const planOf = (domain: string) => domainRecords(domain, keys, records);
  const zones = Object.assign({}, ...domains.map((domain) => zonesOf(planOf(domain).records)), HOST_ZONES);
  const server = await startDnsServer(zones);
  t.teardown(() => server.close());
  const subject: DoctorSubject = {
    config,
    version: '0.2.0',
    nodeId: 'one',
    pid: process.pid,
    store: {
      condition: async () => CONDITION,
      clock: async () => Date.now(),
      overdueMs: async () => 0,
      inboundOldestMs: async () => null,
      unclaimed: async () => [],
      certificates: async () => [],
      lastBackup: async () => undefined,
      awaitingRelease: async () => 0,
      ...store,
    },
    facts: { view: { nodes, leases: [] }, domains, keys, relays: new Map() },
    records,
    dns: pacedDns(createResolver({ servers: [server.address], timeoutMs: dnsMs, tries: 2 }), DOCTOR_PACE),
    blockLists: [],
    policyPort: 443,
    dialMs: 300,
    lookupsMs: 60_000,
    ...more,
  };
  return { subject, server, planOf };
}
