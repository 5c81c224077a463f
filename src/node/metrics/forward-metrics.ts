// The meter of mail that is sent on, on prom-client.
import type { ForwardMeter } from '../../actors/mailbox/background/automatic-mail.js';
import type { Families } from './families.js';

export function forwardMeter(families: Families): ForwardMeter {
  const kept = families.counter(
    'forwards_kept_total',
    'Messages that an account keeps instead of sending them on; why: too much is due, or its limit of an hour or a day is reached.',
    ['why'],
  );
  for (const why of ['due', 'hour', 'day']) kept.inc({ why }, 0);
  return { kept: (why, count) => kept.inc({ why }, count) };
}
