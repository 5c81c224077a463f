// `date` and `currentdate` (RFC 5260 §4, §5): parts of a moment in a zone.
import { sentDate } from '../../header/sent-date.js';
import { Arguments, type Tags } from '../arguments.js';
import type { Compilation } from '../compilation.js';
import { isMatch, MATCH_TAGS, matchOf } from '../matching.js';
import type { Run } from '../run.js';
import { type Position, SieveError } from '../syntax.js';
import { fieldsOf } from './headers.js';
import { checkFieldNames, INDEX_TAGS, indexOf } from './index-tags.js';
import type { SieveTests } from './sieve-test.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** The modified Julian day of 1 January 1970. */
const JULIAN_EPOCH = 40_587;

const ZONE: Tags = { zone: { value: 'string', group: 'zone' } };
const ORIGINAL: Tags = { originalzone: { group: 'zone' } };

/** A moment; `zone` is in minutes east of UTC. */
interface Moment {
  readonly at: number;
  readonly zone: number;
}

const pad = (value: number, digits = 2): string => String(value).padStart(digits, '0');

/** The parts of RFC 5260 §4.2. `local` has the time of the zone as UTC. */
const PARTS: Readonly<Record<string, (local: Date, zone: number) => string>> = {
  year: (local) => pad(local.getUTCFullYear(), 4),
  month: (local) => pad(local.getUTCMonth() + 1),
  day: (local) => pad(local.getUTCDate()),
  date: dateOf,
  julian: (local) => String(Math.floor(local.getTime() / DAY_MS) + JULIAN_EPOCH),
  hour: (local) => pad(local.getUTCHours()),
  minute: (local) => pad(local.getUTCMinutes()),
  second: (local) => pad(local.getUTCSeconds()),
  time: timeOf,
  iso8601: (local, zone) => `${dateOf(local)}T${timeOf(local)}${zoneOf(zone, ':')}`,
  std11: (local, zone) => {
    const month = MONTHS[local.getUTCMonth()];
    const day = `${WEEKDAYS[local.getUTCDay()]}, ${pad(local.getUTCDate())} ${month} ${pad(local.getUTCFullYear(), 4)}`;
    return `${day} ${timeOf(local)} ${zoneOf(zone, '')}`;
  },
  zone: (_, zone) => zoneOf(zone, ''),
  weekday: (local) => String(local.getUTCDay()),
};

export const DATE_TESTS: SieveTests = {
  date: {
    needs: ['date'],
    compile(call, compilation) {
      const tags = { ...MATCH_TAGS, ...INDEX_TAGS, ...ZONE, ...ORIGINAL };
      const given = new Arguments(call, compilation, tags, ['string', 'string', 'strings']);
      checkFieldNames(given, 0, compilation);
      const part = partOf(given, 1, compilation);
      const [match, index, isOriginal] = [matchOf(given, compilation), indexOf(given), given.has('originalzone')];
      const [zone, name, keys] = [zoneTag(given, compilation), given.text(0), given.texts(2)];
      return (run) => {
        const values = fieldsOf(run, [name], index).flatMap(({ value }) => {
          const moment = momentOf(value);
          if (moment === undefined) return [];
          return shown(part(run), moment.at, isOriginal ? moment.zone : (zone?.(run) ?? run.environment.zone));
        });
        return isMatch(run, match, values, keys);
      };
    },
  },
  currentdate: {
    needs: ['date'],
    compile(call, compilation) {
      const given = new Arguments(call, compilation, { ...MATCH_TAGS, ...ZONE }, ['string', 'strings']);
      const [match, zone, keys] = [matchOf(given, compilation), zoneTag(given, compilation), given.texts(1)];
      const part = partOf(given, 0, compilation);
      return (run) => {
        const { now, zone: own } = run.environment;
        return isMatch(run, match, [shown(part(run), now, zone?.(run) ?? own)], keys);
      };
    },
  },
};

function shown(part: string, at: number, zone: number): string {
  return PARTS[part]!(new Date(at + zone * MINUTE_MS), zone);
}

/** @throws SieveError for a constant that is no part */
function partOf(given: Arguments, i: number, compilation: Compilation): (run: Run) => string {
  const text = compilation.text(given.nodes(i)[0]!);
  const read = (name: string, at: Position) => {
    const lower = name.toLowerCase();
    if (!Object.hasOwn(PARTS, lower)) throw new SieveError(at, `"${name.slice(0, 40)}" is no part of a date`);
    return lower;
  };
  if (typeof text !== 'string') return (run) => read(run.text(text), run.at);
  const part = read(text, given.nodes(i)[0]!.at);
  return () => part;
}

/** @throws SieveError for a constant that is no zone */
function zoneTag(given: Arguments, compilation: Compilation): ((run: Run) => number) | undefined {
  const node = given.nodeOf('zone');
  if (node === undefined) return undefined;
  const text = compilation.text(node);
  if (typeof text !== 'string') return (run) => minutesOf(run.text(text), run.at);
  const zone = minutesOf(text, node.at);
  return () => zone;
}

/** @throws SieveError */
function minutesOf(text: string, at: Position): number {
  const found = /^([+-])(\d{2})([0-5]\d)$/.exec(text);
  if (found === null) throw new SieveError(at, ':zone takes an offset such as "+0100"');
  const minutes = Number(found[2]) * 60 + Number(found[3]);
  return found[1] === '-' ? -minutes : minutes;
}

function dateOf(local: Date): string {
  return `${pad(local.getUTCFullYear(), 4)}-${pad(local.getUTCMonth() + 1)}-${pad(local.getUTCDate())}`;
}

function timeOf(local: Date): string {
  return `${pad(local.getUTCHours())}:${pad(local.getUTCMinutes())}:${pad(local.getUTCSeconds())}`;
}

function zoneOf(zone: number, between: string): string {
  const minutes = Math.abs(zone);
  return `${zone < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}${between}${pad(minutes % 60)}`;
}

/** The date in a field: behind the last semicolon, as in Received (RFC 5260 §4). */
function momentOf(value: string): Moment | undefined {
  const text = value.slice(value.lastIndexOf(';') + 1);
  const read = sentDate(text);
  if (read === undefined) return undefined;
  const found = /:\d{2}\s*([+-])(\d{2})(\d{2})(?!\d)/.exec(text);
  const minutes = found === null ? 0 : Number(found[2]) * 60 + Number(found[3]);
  return { at: read.at, zone: found?.[1] === '-' ? -minutes : minutes };
}
