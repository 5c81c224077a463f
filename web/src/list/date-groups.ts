// The groups of a list by date: today, yesterday, earlier this week, last week, then months.
import { daysBetween, monthName } from '../i18n/format.js';
import { t } from '../i18n/t.js';

export interface GroupHeader {
  /** The position of the first row of the group. */
  readonly index: number;
  readonly text: string;
}

const WEEK = 7;

export function dateGroup(then: Date, now: Date): string {
  const days = daysBetween(then, now);
  if (days <= 0) return t('list.today');
  if (days === 1) return t('list.yesterday');
  // Weeks begin on Monday.
  const sinceMonday = (now.getDay() + 6) % WEEK;
  if (days <= sinceMonday) return t('list.thisWeek');
  if (days <= sinceMonday + WEEK) return t('list.lastWeek');
  return monthName(then);
}

/** `items` is the part of the list that begins at `start`. What is before it may belong to the group of its first row. */
export function groupHeaders(
  { start, items }: { readonly start: number; readonly items: readonly { readonly receivedAt: string }[] },
  now: Date,
): readonly GroupHeader[] {
  const headers: GroupHeader[] = [];
  let before: string | undefined;
  for (const [i, { receivedAt }] of items.entries()) {
    const text = dateGroup(new Date(receivedAt), now);
    if (text !== before && (i > 0 || start === 0)) headers.push({ index: start + i, text });
    before = text;
  }
  return headers;
}
