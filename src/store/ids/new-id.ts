// The ids of what this process creates: accounts, folders, transactions, deliveries, requests. One source makes ids that increase, so rows
// inserted in order of arrival stay in order. Ids are not secrets: a token is made only of random octets.
import { uuidV7 } from '../../mail-format/ids.js';
import { randomOctets } from './random-octets.js';

const OCTETS = 8;
const LAST_SEQUENCE = 4095;

export type NewId = () => string;

/** `now` returns ms since the epoch; ids increase even when the clock goes back. */
export function idSource(now: () => number = Date.now, random: (octets: number) => Uint8Array = randomOctets()): NewId {
  let last = 0;
  let sequence = 0;
  return () => {
    const ms = now();
    if (ms > last) {
      last = ms;
      sequence = 0;
    } else if (++sequence > LAST_SEQUENCE) {
      last++;
      sequence = 0;
    }
    return uuidV7(last, sequence, random(OCTETS));
  };
}

/** The id source of this process. */
export const newId: NewId = idSource();
