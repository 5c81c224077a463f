// Dates and sizes as the browser's locale and time zone have them. Pure: the time of the reader is an argument.
import { currentLocale } from './t.js';

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatted(date: Date, options: Intl.DateTimeFormatOptions): string {
  const key = `${currentLocale()} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(currentLocale(), options);
    formats.set(key, format);
  }
  return format.format(date);
}

/** How many midnights are between the two in the zone of the reader; negative for the future. */
export function daysBetween(then: Date, now: Date): number {
  const midnight = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((midnight(now) - midnight(then)) / DAY_MS);
}

/** For a row: the time today, the day of the week within a week, else the date. */
export function shortDate(then: Date, now: Date): string {
  const days = daysBetween(then, now);
  if (days === 0) return formatted(then, { timeStyle: 'short' });
  if (days > 0 && days < WEEK_DAYS) return formatted(then, { weekday: 'short' });
  if (then.getFullYear() === now.getFullYear()) return formatted(then, { day: 'numeric', month: 'short' });
  return formatted(then, { day: 'numeric', month: 'numeric', year: 'numeric' });
}

/** For whoever wants to know exactly. */
export function longDate(then: Date): string {
  return formatted(then, { dateStyle: 'full', timeStyle: 'short' });
}

export function clock(then: Date, { seconds = false }: { readonly seconds?: boolean } = {}): string {
  return formatted(then, { timeStyle: seconds ? 'medium' : 'short' });
}

export function monthName(then: Date): string {
  return formatted(then, { month: 'long', year: 'numeric' });
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** 412000 is `412 kB`. */
export function formatSize(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return new Intl.NumberFormat(currentLocale(), {
    style: 'unit',
    unit: UNITS[power]!,
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: value < 10 && power > 0 ? 1 : 0,
  }).format(value);
}
