// The content check of the DNS block lists whose action is `junk`. Lists that refuse are asked at RCPT (`block-lists.ts`).
import type { CheckedEnvelope, ContentCheck } from '../content-check.js';
import { isOnlyForPostmaster } from '../postmaster.js';
import type { BlockLists } from './block-lists.js';

/** A list that gives no answer in 3 s is passed over; the rest of the time is for the wait behind other clients. */
const DEADLINE_MS = 10_000;

export function blockListCheck(lists: Pick<BlockLists, 'listing'>): ContentCheck {
  return {
    name: 'dnsbl',
    deadlineMs: DEADLINE_MS,
    onFault: 'skip',
    async check(_message, { recipients }: CheckedEnvelope, { remoteAddress }) {
      if (isOnlyForPostmaster(recipients)) return { verdict: 'accept' };
      const found = await lists.listing(remoteAddress);
      return { verdict: found.some(({ action }) => action === 'junk') ? 'junk' : 'accept' };
    },
  };
}
