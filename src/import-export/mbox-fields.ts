// What a mailbox file says about its messages besides their bytes: the date in the `From ` line, and flags in the header fields
// that mail programs keep there (Status and X-Status of mbox readers, X-Keywords of Dovecot, X-Mozilla-Status of Thunderbird).

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** The date of asctime(3); the zone may stand before or after the year, and the seconds may be missing. */
const DATE =
  /\s(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s+([A-Z][a-z]{2})\s+(\d{1,2})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s+([A-Z]{1,5}|[+-]\d{4}))?\s+(\d{4})(?:\s+([A-Z]{1,5}|[+-]\d{4}))?\s*$/;
const ZONES: Readonly<Record<string, number>> = {
  EST: -300,
  EDT: -240,
  CST: -360,
  CDT: -300,
  MST: -420,
  MDT: -360,
  PST: -480,
  PDT: -420,
  CET: 60,
  CEST: 120,
};

/** ms since the epoch of the line `From sender date`; undefined when it has no date. A date without a zone is in UTC. */
export function fromLineDate(line: string): number | undefined {
  const found = DATE.exec(line);
  if (found === null) return undefined;
  const [, month = '', day, hour, minute, second = '0', before, year, after] = found;
  const index = MONTHS.indexOf(month.toLowerCase());
  if (index < 0) return undefined;
  const at = Date.UTC(Number(year), index, Number(day), Number(hour), Number(minute), Number(second));
  return at - offsetOf(before ?? after ?? '') * 60_000;
}

/** Minutes east of UTC. */
function offsetOf(zone: string): number {
  const numeric = /^([+-])(\d\d)(\d\d)$/.exec(zone);
  if (numeric === null) return ZONES[zone] ?? 0;
  const [, sign, hours, minutes] = numeric;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** At most this many octets of a header are searched. */
const HEADER_OCTETS = 256 * 1024;
const FIELD =
  /^(Status|X-Status|X-Keywords|X-Mozilla-Status|X-Mozilla-Keys):[ \t]*([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)/gim;
const LETTERS: Readonly<Record<string, string>> = {
  R: '\\Seen',
  A: '\\Answered',
  F: '\\Flagged',
  D: '\\Deleted',
  T: '\\Draft',
};
const MOZILLA: readonly (readonly [bit: number, name: string])[] = [
  [0x0001, '\\Seen'],
  [0x0002, '\\Answered'],
  [0x0004, '\\Flagged'],
  [0x0008, '\\Deleted'],
  [0x1000, '$Forwarded'],
];

/** Names of the flags and keywords that the header of a message contains. */
export function headerFlags(message: Uint8Array): string[] {
  const start = Buffer.from(message.buffer, message.byteOffset, Math.min(message.length, HEADER_OCTETS));
  const end = /\r?\n\r?\n/.exec(start.toString('latin1'))?.index ?? start.length;
  const flags = new Set<string>();
  for (const [, name = '', value = ''] of start.toString('latin1', 0, end).matchAll(FIELD)) {
    for (const flag of flagsOf(name.toLowerCase(), value)) flags.add(flag);
  }
  return [...flags];
}

function flagsOf(field: string, value: string): readonly string[] {
  if (field === 'x-mozilla-status') {
    const bits = Number.parseInt(value, 16) || 0;
    return MOZILLA.filter(([bit]) => (bits & bit) !== 0).map(([, name]) => name);
  }
  if (field.endsWith('status')) return Array.from(value).flatMap((letter) => LETTERS[letter] ?? []);
  return value.split(/[\s,]+/).filter((word) => word !== '');
}
