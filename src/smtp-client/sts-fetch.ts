// Fetching an MTA-STS policy (RFC 8461 §3.3): HTTPS with a valid certificate of the host, no redirects, bounded in time and size.
// Names are resolved by the DNS resolver of the SMTP client, and private addresses are refused as for mail hosts.
import { request } from 'node:https';
import type { Dns } from '../dns/resolver.js';
import { hostAddresses } from './mail-exchangers.js';

export interface StsFetchOptions {
  readonly dns: Dns;
  /** Whether a connection may be made to an address. */
  readonly isAllowed: (address: string) => boolean;
  readonly port: number;
  /** PEM; the system's authorities when absent. */
  readonly ca?: string | undefined;
  readonly timeoutMs: number;
}

const LARGEST_OCTETS = 64 * 1024;
const MOST_ADDRESSES = 2;

/** The text of the policy. @throws Error that says why there is none */
export async function fetchStsPolicy(domain: string, options: StsFetchOptions): Promise<string> {
  const { dns, isAllowed, timeoutMs } = options;
  const name = `mta-sts.${domain}`;
  const found = await hostAddresses(dns, { host: name, priority: 0, isImplicit: false }, Math.random);
  if ('fault' in found) throw new Error(found.detail);
  const addresses = found.filter(isAllowed).slice(0, MOST_ADDRESSES);
  if (addresses.length === 0) throw new Error(`${name} is on private addresses`);
  const signal = AbortSignal.timeout(timeoutMs);
  let failure: unknown;
  for (const address of addresses) {
    try {
      return await get(name, address, options, signal);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function get(name: string, address: string, { port, ca }: StsFetchOptions, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const asked = request(
      {
        host: address,
        port,
        path: '/.well-known/mta-sts.txt',
        servername: name,
        headers: { host: port === 443 ? name : `${name}:${port}`, accept: 'text/plain' },
        agent: false,
        minVersion: 'TLSv1.2',
        ...(ca !== undefined && { ca }),
        signal,
      },
      (response) => {
        isAnswered = true;
        const { statusCode, headers } = response;
        const type = headers['content-type'] ?? '';
        const refuse = (why: string) => {
          response.destroy();
          reject(new Error(`policy of ${name}: ${why}`));
        };
        // RFC 8461 §3.3: redirects are not followed.
        if (statusCode !== 200) return refuse(`status ${statusCode}`);
        if (!/^text\/plain\s*(?:;|$)/i.test(type)) return refuse('it is not text/plain');
        const chunks: Buffer[] = [];
        let octets = 0;
        response.on('data', (chunk: Buffer) => {
          octets += chunk.length;
          if (octets > LARGEST_OCTETS) refuse(`it has more than ${LARGEST_OCTETS} octets`);
          else chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      },
    );
    // From the answer on, errors of its body are its own; what comes behind its body takes nothing from it.
    asked.on('error', (error) => {
      if (!isAnswered) reject(error);
    });
    asked.end();
  });
}
