// Fetches an MTA-STS policy (RFC 8461 §3.3): HTTPS with a valid certificate of the host, no redirects, limited time and size. The DNS
// resolver of the SMTP client resolves the names, and private addresses are refused as for mail hosts.
import { request } from 'node:https';
import type { Dns } from '../dns/resolver.js';
import { hostAddresses } from './mail-exchangers.js';

export interface StsFetchOptions {
  readonly dns: Dns;
  /** Returns true when a connection to the address is allowed. */
  readonly isAllowed: (address: string) => boolean;
  readonly port: number;
  /** PEM; when it is absent, the authorities of the system are used. */
  readonly ca?: string | undefined;
  readonly timeoutMs: number;
}

const LARGEST_OCTETS = 64 * 1024;
const MOST_ADDRESSES = 2;

/** Returns the text of the policy. @throws Error with the reason why there is none */
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
        // Redirects are not followed (RFC 8461 §3.3).
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
    // After the response has begun, errors of its body are reported by the body; an error after the body is ignored.
    asked.on('error', (error) => {
      if (!isAnswered) reject(error);
    });
    asked.end();
  });
}
