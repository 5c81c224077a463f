// The date of a message as its sender wrote it (RFC 5322 §3.3, §4.3): the moment in UTC, by which messages are sorted (RFC 5256 §2.2), and
// the calendar day that the field names, which searches compare (RFC 9051 §6.4.4).
import { sentAt } from '../mime-index/envelope.js';

export interface SentDate {
  /** ms since the epoch. */
  readonly at: number;
  /** The days from the epoch to the day that the field names, whatever its zone. */
  readonly day: number;
}

export const DAY_MS = 86_400_000;
const LONGEST = 256;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DATE = new RegExp(`(?:^|[^\\d])(\\d{1,2})[\\s-]+(${MONTHS.join('|')})[a-z]*[\\s,-]+(\\d{2,4})(?!\\d)`, 'i');
const TIME = /^\s*,?\s*(\d{1,2})\s*:\s*(\d{2})(?:\s*:\s*(\d{2}))?(?!\d)/;
const OFFSET = /^\s*([+-])(\d{2}):?(\d{2})(?!\d)/;
const NAME = /^\s*([a-z]{3})(?![a-z])/i;
/** In minutes east of UTC; all other names are UTC (RFC 5322 §4.3). */
const ZONES: Readonly<Record<string, number>> = {
  EST: -300,
  EDT: -240,
  CST: -360,
  CDT: -300,
  MST: -420,
  MDT: -360,
  PST: -480,
  PDT: -420,
};

/** Returns undefined when the field names no day. */
export function sentDate(field: string): SentDate | undefined {
  const text = field.slice(0, LONGEST).replace(/\([^()]*\)/g, ' ');
  const date = DATE.exec(text);
  if (date === null) return otherForm(text);
  const month = MONTHS.indexOf(date[2]!.toLowerCase());
  const midnight = new Date(Date.UTC(fullYear(date[3]!), month, Number(date[1])));
  if (midnight.getUTCDate() !== Number(date[1])) return undefined;
  const day = midnight.getTime() / DAY_MS;
  const rest = text.slice(date.index + date[0].length);
  const time = TIME.exec(rest);
  const [hours, minutes, seconds] = [1, 2, 3].map((i) => Number(time?.[i] ?? 0)) as [number, number, number];
  const isTime = time !== null && hours < 24 && minutes < 60 && seconds <= 60;
  if (!isTime) return { at: midnight.getTime(), day };
  const ms = ((hours * 60 + minutes - minutesEast(rest.slice(time[0].length))) * 60 + seconds) * 1000;
  return { at: midnight.getTime() + ms, day };
}

/** Reads forms that RFC 5322 does not have, such as that of ISO 8601. */
function otherForm(text: string): SentDate | undefined {
  const at = sentAt(text);
  return at === null ? undefined : { at, day: Math.floor(at / DAY_MS) };
}

function fullYear(digits: string): number {
  const year = Number(digits);
  if (digits.length === 2) return year < 50 ? 2000 + year : 1900 + year;
  return digits.length === 3 ? 1900 + year : year;
}

function minutesEast(zone: string): number {
  const offset = OFFSET.exec(zone);
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return offset[1] === '-' ? -minutes : minutes;
  }
  return ZONES[NAME.exec(zone)?.[1]?.toUpperCase() ?? ''] ?? 0;
}
