// The ids of what this process makes: accounts, folders, transactions, deliveries, requests. One source gives ids that rise, so
// rows inserted in order of arrival stay in order. Ids are no secrets: a token is made of random octets alone.
import { uuidV7 } from '../mail/ids.js';
import { randomOctets } from './random-octets.js';

const OCTETS = 8;
const LAST_SEQUENCE = 4095;

export type NewId = () => string;

/** `now`: ms since the epoch; ids rise even when the clock goes back. */
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

/** Of this process. */
export const newId: NewId = idSource();
