// What a vacation as it is written in the page lacks, and the values that its fields offer and show.
import type { Vacation } from '../../../../src/client/index.js';
import { fieldValue } from '../../compose/send-times.js';

/** The characters of the text and of the subject that the server takes. */
export const LONGEST_TEXT = 16_384;
export const LONGEST_SUBJECT = 900;
const DAYS = [1, 2, 3, 7, 14, 30];

/** Why the server would refuse it; undefined: it can be saved. */
export function problemOf({
  isEnabled,
  textBody,
  htmlBody,
  startsAt,
  endsAt,
}: Vacation): 'empty' | 'endsFirst' | undefined {
  if (isEnabled && !textBody?.trim() && !htmlBody?.trim()) return 'empty';
  const isBackwards = startsAt !== null && endsAt !== null && Date.parse(endsAt) <= Date.parse(startsAt);
  return isBackwards ? 'endsFirst' : undefined;
}

/** The text stands for both bodies from then on: an HTML body that a program has written would say what it said before. */
export const withText = (text: string): Pick<Vacation, 'textBody' | 'htmlBody'> => ({
  textBody: text === '' ? null : text,
  htmlBody: null,
});

/** `present`: the interval of now is offered too, when a program has set another one. */
export function intervals(present: number): readonly number[] {
  return [...new Set([...DAYS, present])].sort((a, b) => a - b);
}

/** Reads a `datetime-local` field; it is empty without a time. */
export function readTime(value: string): string | null {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

export const shownTime = (time: string | null): string => (time === null ? '' : fieldValue(new Date(time)));
