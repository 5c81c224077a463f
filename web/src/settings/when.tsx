// A time of the past, in words for whoever reads it today.
import { daysBetween, longDate, shortDate } from '../i18n/format.js';
import { t } from '../i18n/t.js';

interface WhenProps {
  readonly at: string;
  readonly now: Date;
  readonly text: (date: string) => string;
}

export function When({ at, now, text }: WhenProps) {
  const then = new Date(at);
  const date = shortDate(then, now);
  const isToday = daysBetween(then, now) === 0;
  return (
    <time dateTime={at} title={longDate(then)}>
      {text(isToday ? t('settings.todayAt', { time: date }) : date)}
    </time>
  );
}

export const lastUse = (date: string): string => t('settings.lastUsed', { date });
