// The times that Send later offers, and the reading of its date field. All are of the reader's own clock.

export interface SendTime {
  readonly name: 'evening' | 'tomorrowMorning' | 'tomorrowAfternoon' | 'monday';
  readonly at: Date;
}

const MORNING = 8;
const AFTERNOON = 13;
const EVENING = 18;
const MONDAY = 1;

/** This evening, if that is at least an hour ahead; tomorrow morning and afternoon; Monday morning, if that is not tomorrow. */
export function sendTimes(now: Date): readonly SendTime[] {
  const evening = atHour(now, 0, EVENING);
  const untilMonday = (MONDAY + 7 - now.getDay()) % 7 || 7;
  return [
    ...(evening.getTime() - now.getTime() >= 3_600_000 ? [{ name: 'evening' as const, at: evening }] : []),
    { name: 'tomorrowMorning', at: atHour(now, 1, MORNING) },
    { name: 'tomorrowAfternoon', at: atHour(now, 1, AFTERNOON) },
    ...(untilMonday > 1 ? [{ name: 'monday' as const, at: atHour(now, untilMonday, MORNING) }] : []),
  ];
}

/** The server holds an email for at most 366 days. */
const LONGEST_DAYS = 365;

export type ReadTime = { readonly at: Date } | { readonly problem: 'missing' | 'past' | 'far' };

/** Reads the value of a `datetime-local` field. */
export function readSendTime(value: string, now: Date): ReadTime {
  const at = new Date(value);
  if (value === '' || Number.isNaN(at.getTime())) return { problem: 'missing' };
  if (at <= now) return { problem: 'past' };
  return at.getTime() - now.getTime() > LONGEST_DAYS * 86_400_000 ? { problem: 'far' } : { at };
}

/** The value that a `datetime-local` field shows for a time. */
export function fieldValue(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

function atHour(now: Date, days: number, hour: number): Date {
  const at = new Date(now);
  at.setDate(at.getDate() + days);
  at.setHours(hour, 0, 0, 0);
  return at;
}
