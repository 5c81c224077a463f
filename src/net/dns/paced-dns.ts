// Limits the look-ups that a resolver has at a time. A run that asks for hundreds of names at once would overflow the resolver's buffer, and
// what it dropped is never answered. A look-up without an answer gives its place up soon, so that silent names do not delay the others.
import { atMost } from '../../concurrency/time-bounds.js';
import type { Dns } from './resolver.js';

export interface Pace {
  /** Look-ups at a time. */
  readonly most: number;
  /** For how long a look-up counts, in ms. */
  readonly countsMs: number;
}

export function pacedDns(dns: Dns, { most, countsMs }: Pace): Dns {
  let counted = 0;
  const waiting: (() => void)[] = [];
  const give = () => {
    const next = waiting.shift();
    if (next === undefined) counted--;
    else next();
  };
  const take = async () => {
    if (counted < most) counted++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return {
    async resolve(name, type) {
      await take();
      const look = dns.resolve(name, type);
      void atMost(look, countsMs).then(give, give);
      return look;
    },
  };
}
