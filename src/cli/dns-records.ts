// The DNS records of a hosted domain: where its mail goes (MX), who may send it (SPF, DKIM, DMARC), and where mail programs
// find the servers (SRV of RFC 6186 and RFC 8314, and the names that they ask over https).
import { isIP } from 'node:net';
import type { ConnectionInfo, ProtocolInfo } from '../gateways/http/routes/connection-info.js';
import { hostOf, portOf } from '../node/connection-info.js';

export interface DnsRecord {
  readonly name: string;
  readonly type: 'CNAME' | 'MX' | 'SRV' | 'TXT';
  /** The strings of a TXT record; of the others the fields, names with their final dot. */
  readonly value: readonly string[];
}

/** The records that a domain is to publish, and why others are missing. */
export interface DnsPlan {
  readonly records: readonly DnsRecord[];
  readonly notes: readonly string[];
}

/** Where others reach the cluster. */
export interface PublicEndpoints {
  readonly connectionInfo: ConnectionInfo;
  /** `host:port`; undefined when no node takes mail in. */
  readonly mxAddress: string | undefined;
  readonly apiUrl: string | undefined;
}

const MX_PORT = 25;
const HTTPS_PORT = 443;
/** RFC 6186 §3.4: the service is not there. */
const NOT_OFFERED = ['0', '0', '0', '.'];

/** `keys`: the records of its DKIM keys. */
export function dnsPlan(domain: string, keys: readonly DnsRecord[], endpoints: PublicEndpoints): DnsPlan {
  const notes = new Set<string>();
  const { smtp, imap, pop3 } = endpoints.connectionInfo;
  const service = (
    label: string,
    { serverName }: ProtocolInfo,
    port: number,
    priority: number,
  ): readonly DnsRecord[] => {
    const name = `_${label}._tcp.${domain}`;
    if (port === 0) return [{ name, type: 'SRV', value: NOT_OFFERED }];
    if (!isFullName(serverName)) {
      notes.add(`SRV: ${serverName} is not the full name of a host (MANSIO_HOSTNAME)`);
      return [];
    }
    return [{ name, type: 'SRV', value: [String(priority), '1', String(port), `${serverName}.`] }];
  };
  // The lower the priority, the sooner a program takes the service (RFC 6186 §3.4).
  if (keys.length === 0)
    notes.add(`DKIM: ${domain} has no key, so its mail leaves unsigned: mansio domain add ${domain} makes keys`);
  const records = [
    ...mailExchanger(domain, endpoints.mxAddress, notes),
    txt(domain, 'v=spf1 mx ~all'),
    ...keys,
    txt(`_dmarc.${domain}`, `v=DMARC1; p=none; rua=mailto:postmaster@${domain}`),
    ...service('submissions', smtp, smtp.securePort, 0),
    ...service('submission', smtp, smtp.port, 10),
    ...service('imaps', imap, imap.securePort, 0),
    ...service('imap', imap, imap.port, 10),
    ...service('pop3s', pop3, pop3.securePort, 20),
    ...service('pop3', pop3, pop3.port, 30),
    ...webRecords(domain, endpoints.apiUrl, notes),
  ];
  return { records, notes: [...notes] };
}

function txt(name: string, text: string): DnsRecord {
  return { name, type: 'TXT', value: [text] };
}

function mailExchanger(domain: string, address: string | undefined, notes: Set<string>): readonly DnsRecord[] {
  if (address === undefined) {
    notes.add('MX: no node takes mail in (role mx, MANSIO_MX_PORT)');
    return [];
  }
  const host = hostOf(address);
  if (!isFullName(host)) {
    notes.add(`MX: ${host} is not the full name of a host (MANSIO_HOSTNAME)`);
    return [];
  }
  const port = portOf(address);
  if (port !== MX_PORT) notes.add(`MX: other servers connect to port ${MX_PORT} of ${host}, not to ${port}`);
  return [{ name: domain, type: 'MX', value: ['10', `${host}.`] }];
}

/** Programs ask over https, with the certificate of the name that they ask. */
function webRecords(domain: string, apiUrl: string | undefined, notes: Set<string>): readonly DnsRecord[] {
  const url = apiUrl === undefined ? undefined : new URL(apiUrl);
  if (url?.protocol !== 'https:' || !isFullName(url.hostname)) {
    notes.add('autoconfig and autodiscover: MANSIO_PUBLIC_URL has to be an https URL with a host name');
    return [];
  }
  const target = `${url.hostname}.`;
  const port = url.port === '' ? String(HTTPS_PORT) : url.port;
  return [
    ...alias(`autoconfig.${domain}`, target),
    ...alias(`autodiscover.${domain}`, target),
    { name: `_autodiscover._tcp.${domain}`, type: 'SRV', value: ['0', '1', port, target] },
  ];
}

/** A name is no alias of itself. */
function alias(name: string, target: string): readonly DnsRecord[] {
  return `${name}.` === target ? [] : [{ name, type: 'CNAME', value: [target] }];
}

/** Records name a host, never an address, and are read everywhere. */
function isFullName(host: string): boolean {
  return host.includes('.') && isIP(host) === 0;
}

/** As a zone file has them, notes as comments. */
export function zoneLines({ records, notes }: DnsPlan): readonly string[] {
  return [
    ...records.map(({ name, type, value }) => {
      const data = type === 'TXT' ? value.map((text) => `"${text}"`) : value;
      return `${name}. IN ${type} ${data.join(' ')}`;
    }),
    ...notes.map((note) => `; ${note}`),
  ];
}
