// Looks names up at a DNS server of the test, however long the process is stopped meanwhile. c-ares gives a server that has answered quickly
// three times only a quarter of a second, whatever limit it was given, and a limit of more than 5 s counts as 5 s: on a busy machine a look-up
// fails although its answer has arrived. Then a resolver asks that knows nothing of the server.
import { setMaxListeners } from 'node:events';
import type { DnsServer } from '../../../dev/servers/dns-server.js';
import { createResolver, type Dns, DnsFailure } from '../../../src/net/dns/resolver.js';

const LIMITS = { timeoutMs: 5_000, tries: 1 } as const;
/** A process that is stopped in each of so many look-ups has no chance. */
const LOOK_UPS = 20;

/** `timeoutMs`: for names that the server is silent about; they are asked for once. `signal` ends all. */
export function patientDns(
  { address, zones }: DnsServer,
  { timeoutMs = LIMITS.timeoutMs, signal }: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
): Dns {
  const limits = { ...LIMITS, servers: [address], timeoutMs, ...(signal && { signal }) };
  // Each resolver listens to it.
  if (signal !== undefined) setMaxListeners(0, signal);
  const first = createResolver(limits);
  return {
    async resolve(name, type) {
      for (let asked = 1; ; asked++) {
        try {
          return await (asked === 1 ? first : createResolver(limits)).resolve(name, type);
        } catch (error) {
          const isLate = error instanceof DnsFailure && error.code === 'ETIMEOUT';
          const isSilent = zones.get(name.toLowerCase())?.silent === true || signal?.aborted === true;
          if (!isLate || isSilent || asked === LOOK_UPS) throw error;
        }
      }
    },
  };
}
