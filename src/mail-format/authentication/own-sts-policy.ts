// The MTA-STS policy of a hosted domain (RFC 8461): what other servers read at `https://mta-sts.DOMAIN/.well-known/mta-sts.txt`, and the record
// that tells them when it has changed. `net/smtp-client/sts-policy` reads the policies of other domains.
import { createHash } from 'node:crypto';

export type StsMode = 'testing' | 'enforce';

export interface OwnStsPolicy {
  readonly text: string;
  /** Changes with the policy (RFC 8461 §3.1). */
  readonly id: string;
}

/** In seconds. A short time leaves a way back; `enforce` protects for as long as a sender has seen the policy. */
const MAX_AGE: Readonly<Record<StsMode, number>> = { testing: 86_400, enforce: 604_800 };
/** RFC 8461 §3.1 allows 32 letters and digits. */
const ID_LENGTH = 20;

/** `hosts`: the names of all MX hosts, in any order. */
export function ownStsPolicy(mode: StsMode, hosts: readonly string[]): OwnStsPolicy {
  const mx = [...new Set(hosts)].sort().map((host) => `mx: ${host}`);
  const lines = ['version: STSv1', `mode: ${mode}`, ...mx, `max_age: ${MAX_AGE[mode]}`];
  const text = `${lines.join('\r\n')}\r\n`;
  return { text, id: createHash('sha256').update(text).digest('hex').slice(0, ID_LENGTH) };
}
