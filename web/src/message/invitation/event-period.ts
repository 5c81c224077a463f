// When an event is, in the locale and zone of the reader.
import { currentLocale } from '../../i18n/t.js';
import type { Invitation } from './invitation.js';

const DAY: Intl.DateTimeFormatOptions = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' };

/** `timeZone`: that of the browser without it. Empty for an event without a time. */
export function periodText({ start, end }: Pick<Invitation, 'start' | 'end'>, timeZone?: string): string {
  if (start === undefined) return '';
  const options: Intl.DateTimeFormatOptions = start.isDay
    ? DAY
    : { ...DAY, hour: '2-digit', minute: '2-digit', timeZoneName: 'short' };
  const format = new Intl.DateTimeFormat(currentLocale(), { ...options, ...(timeZone !== undefined && { timeZone }) });
  return end === undefined || end.at <= start.at ? format.format(start.at) : format.formatRange(start.at, end.at);
}
