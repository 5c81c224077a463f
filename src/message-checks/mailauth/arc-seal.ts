// ARC seals (RFC 8617) of messages that Mansio sends on: what its own checks found, signed by the key of a hosted domain. The host that gets
// the message may believe them although SPF no longer passes. mailauth makes the three fields.
import { sealMessage } from 'mailauth/lib/arc/index.js';
import { type HeaderLine, headerIn, headerLines } from '../../mail-format/header/header-lines.js';
import type { SigningKey, SigningKeyStore } from '../../store/signing-keys.js';
import { findChain } from './arc.js';
import type { Lookups } from './lookups.js';

interface Seal {
  /** A hosted domain. */
  readonly domain: string;
  /** The value of the field Authentication-Results that this server wrote: its name and the results. */
  readonly results: string;
  /** What this server found about the chain of earlier seals. */
  readonly chain: 'none' | 'pass' | 'fail';
}

/** Returns the three fields with their line ends, to be written before the message; '' when it cannot be sealed. @throws StoreFault */
export type SealMessage = (message: Buffer, seal: Seal) => Promise<string>;

/** A chain may have 50 sets (RFC 8617 §4.2.1). */
const MOST_SETS = 50;
/** Keys are looked up when a chain is verified, not when it is continued. */
const NO_LOOKUPS = { prefetch() {} } as unknown as Lookups;

export function createSealer(keys: Pick<SigningKeyStore, 'keysOf'>): SealMessage {
  return async (message, { domain, results, chain }) => {
    const key = (await keys.keysOf(domain)).find(({ algorithm }) => algorithm === 'rsa');
    const earlier = setsIn(headerLines(headerIn(message)));
    if (key === undefined || earlier === undefined || earlier >= MOST_SETS) return '';
    const cv = earlier === 0 ? 'none' : chain;
    // A chain that this server has not verified is not continued: a seal would vouch for it.
    if (earlier > 0 && cv === 'none') return '';
    return sealed(message, key, { cv, results });
  };
}

/** The number of sets; undefined when they are not a chain, or the newest seal says that the chain is broken. */
function setsIn(lines: readonly HeaderLine[]): number | undefined {
  const found = findChain(lines, NO_LOOKUPS);
  if (found === 'none') return 0;
  return 'broken' in found ? undefined : found.chain.length;
}

async function sealed(
  message: Buffer,
  { domain, selector, privateKey }: SigningKey,
  { cv, results }: { readonly cv: string; readonly results: string },
): Promise<string> {
  const authResults = results.replace(/\s+/g, ' ').trim().replaceAll('; ', ';\r\n\t');
  const fields = await sealMessage(message, {
    signingDomain: domain,
    selector,
    privateKey,
    authResults,
    cv,
    // Without it, mailauth writes another time than it signs when a second begins meanwhile.
    signTime: new Date(),
  });
  return Buffer.from(fields).toString('latin1');
}
