// What limits of recipients allow. Recipients are counted by minute; a window has one minute more than an hour or a day, so that no hour and
// no day, whenever it begins, has more recipients than the limit. A domain has sent what its accounts have.
import type { LimitPeriod, RecipientLimits, SendingMinute, SentRecipients } from '../../store/limits/sending.js';

const MINUTE_MS = 60_000;
const MINUTES: Readonly<Record<LimitPeriod, number>> = { hour: 60, day: 1440 };
const PERIODS = ['hour', 'day'] as const;

export interface LimitedSending {
  readonly limit: RecipientLimits;
  readonly sent: SentRecipients;
}

/** Whose limit a message exceeds, and which; `isAlone`: it would exceed the limit even if nothing else had been sent. */
export interface ExceededLimit {
  readonly of: 'account' | 'domain';
  readonly period: LimitPeriod;
  readonly limit: number;
  readonly isAlone: boolean;
}

/** `at`: ms since the epoch. */
export const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS);

/** The first minute that counts for a limit. */
export const firstMinuteOf = (period: LimitPeriod, now: number): number => minuteOf(now) - MINUTES[period];

/** The limit that a message to this many recipients exceeds; undefined when there is none. One that it exceeds alone comes first. */
export function exceededLimit(
  levels: { readonly account: LimitedSending; readonly domain?: LimitedSending | undefined },
  recipients: number,
): ExceededLimit | undefined {
  const exceeded = (['account', 'domain'] as const).flatMap((of) =>
    PERIODS.flatMap((period): readonly ExceededLimit[] => {
      const level = levels[of];
      const limit = level?.limit[period] ?? null;
      if (level === undefined || limit === null || level.sent[period] + recipients <= limit) return [];
      return [{ of, period, limit, isAlone: recipients > limit }];
    }),
  );
  return exceeded.find(({ isAlone }) => isAlone) ?? exceeded[0];
}

/** The recipients that count for the limits. */
export const sentIn = (minutes: Iterable<Pick<SendingMinute, 'minute' | 'recipients'>>, now: number): SentRecipients =>
  sumIn(minutes, now, ({ recipients }) => recipients);

/** The recipients of forwards, likewise. */
export const forwardedIn = (minutes: Iterable<SendingMinute>, now: number): SentRecipients =>
  sumIn(minutes, now, ({ forwarded }) => forwarded);

function sumIn<M extends { readonly minute: number }>(
  minutes: Iterable<M>,
  now: number,
  countOf: (counted: M) => number,
): SentRecipients {
  const first = { hour: firstMinuteOf('hour', now), day: firstMinuteOf('day', now) };
  const sent = { hour: 0, day: 0 };
  for (const counted of minutes)
    for (const period of PERIODS) if (counted.minute >= first[period]) sent[period] += countOf(counted);
  return sent;
}

/** In ms: after this time the limit allows this many recipients, if nothing else is sent. `minutes`: in order. */
export function waitFor(
  minutes: readonly SendingMinute[],
  { period, limit }: { readonly period: LimitPeriod; readonly limit: number },
  recipients: number,
  now: number,
): number {
  let sent = sentIn(minutes, now)[period];
  for (const { minute, recipients: count } of minutes) {
    if (sent + recipients <= limit) break;
    if (minute < firstMinuteOf(period, now)) continue;
    sent -= count;
    if (sent + recipients <= limit) return Math.max(0, (minute + MINUTES[period] + 1) * MINUTE_MS - now);
  }
  return 0;
}

/** 0 is no limit, null the default, which is no limit where it is 0. */
export function limitsOf(setting: RecipientLimits, defaults: RecipientLimits): RecipientLimits {
  return { hour: (setting.hour ?? defaults.hour) || null, day: (setting.day ?? defaults.day) || null };
}
