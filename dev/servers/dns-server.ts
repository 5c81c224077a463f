// A DNS server that answers with given records, on UDP and TCP of a free port: for tests and manual experiments.
import dns2 from 'dns2';
import { freePort } from '../ports.js';

export interface Zone {
  readonly A?: readonly string[];
  readonly AAAA?: readonly string[];
  readonly MX?: readonly (readonly [priority: number, exchange: string])[];
  readonly TXT?: readonly string[];
  readonly PTR?: readonly string[];
  readonly CNAME?: string;
  readonly SRV?: readonly (readonly [priority: number, weight: number, port: number, target: string])[];
  /** The server answers with this code instead of records. */
  readonly rcode?: 'SERVFAIL' | 'REFUSED';
  /** True when the server never answers. */
  readonly silent?: boolean;
  /** The time until the server answers, in ms. */
  readonly delayMs?: number;
}

export interface DnsServer {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** The zones by name in lower case; they may be changed at any time. Names that are missing do not exist. */
  readonly zones: Map<string, Zone>;
  /** The questions so far, as `type name`. */
  readonly asked: string[];
  close(): Promise<void>;
}

const { Packet } = dns2;
const RCODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 } as const;
const TTL = 1;

interface Writer {
  write(value: number, bits: number): void;
}

/** dns2 compresses the target, which RFC 2782 forbids, and resolvers refuse such an answer. */
function writeService(record: { priority: number; weight: number; port: number; target: string }, writer: Writer) {
  for (const number of [record.priority, record.weight, record.port]) writer.write(number, 16);
  for (const label of record.target.split('.').filter((each) => each !== '')) {
    writer.write(label.length, 8);
    for (const octet of Buffer.from(label, 'latin1')) writer.write(octet, 8);
  }
  writer.write(0, 8);
}

(Packet as unknown as { Resource: { SRV: { encode: typeof writeService } } }).Resource.SRV.encode = writeService;

export async function startDnsServer(zones: Readonly<Record<string, Zone>> = {}): Promise<DnsServer> {
  const known = new Map(Object.entries(zones));
  const asked: string[] = [];
  const delayed = new Set<NodeJS.Timeout>();
  const server = dns2.createServer({
    udp: true,
    tcp: true,
    handle: (request, send) => {
      const response = Packet.createResponseFromRequest(request);
      const question = request.questions[0] as unknown as { readonly name: string; readonly type: number };
      const type = Object.entries(Packet.TYPE).find(([, number]) => number === question.type)?.[0] ?? '?';
      const name = question.name.toLowerCase();
      asked.push(`${type} ${name}`);
      const zone = known.get(name);
      if (zone?.silent === true) return;
      if (zone === undefined) response.header.rcode = RCODES.NXDOMAIN;
      else if (zone.rcode !== undefined) response.header.rcode = RCODES[zone.rcode];
      else response.answers.push(...(answers(known, name, type) as typeof response.answers));
      if (zone?.delayMs === undefined) send(response);
      else delayed.add(setTimeout(() => send(response), zone.delayMs));
    },
  });
  const port = await freePort();
  await server.listen({ udp: { port, address: '127.0.0.1' }, tcp: { port, address: '127.0.0.1' } });
  return {
    address: `127.0.0.1:${port}`,
    zones: known,
    asked,
    close: async () => {
      for (const answer of delayed) clearTimeout(answer);
      await server.close();
    },
  };
}

function answers(
  zones: ReadonlyMap<string, Zone>,
  name: string,
  type: string,
  passed: ReadonlySet<string> = new Set(),
): unknown[] {
  const zone = zones.get(name);
  if (zone === undefined) return [];
  const base = { name, class: Packet.CLASS.IN, ttl: TTL };
  const all = <T>(kind: keyof typeof Packet.TYPE, values: readonly T[] | undefined, fields: (value: T) => object) =>
    (values ?? []).map((value) => ({ ...base, type: Packet.TYPE[kind], ...fields(value) }));
  if (zone.CNAME !== undefined) {
    const alias = all('CNAME', [zone.CNAME], (domain) => ({ domain }));
    // A server answers a loop of aliases with the aliases.
    if (type === 'CNAME' || passed.has(name)) return alias;
    return [...alias, ...answers(zones, zone.CNAME, type, new Set([...passed, name]))];
  }
  switch (type) {
    case 'A':
      return all('A', zone.A, (address) => ({ address }));
    case 'AAAA':
      return all('AAAA', zone.AAAA, (address) => ({ address }));
    case 'MX':
      return all('MX', zone.MX, ([priority, exchange]) => ({ priority, exchange }));
    case 'TXT':
      // A longer text is divided into several strings, as name servers do.
      return all('TXT', zone.TXT, (text) => ({ data: text.match(/.{1,255}/gs) ?? [''] }));
    case 'PTR':
      return all('PTR', zone.PTR, (domain) => ({ domain }));
    case 'SRV':
      return all('SRV', zone.SRV, ([priority, weight, port, target]) => ({ priority, weight, port, target }));
    default:
      return [];
  }
}
