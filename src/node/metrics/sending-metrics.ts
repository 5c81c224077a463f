// The meter of limits of recipients on prom-client.
import type { SendingMeter } from '../../actors/sending/meter.js';
import type { Families } from './families.js';

export function sendingMeter(families: Families): SendingMeter {
  const refused = families.counter(
    'sending_refused_total',
    'Messages that a limit of recipients has refused; limit: of an account or a domain, for an hour or a day.',
    ['limit'],
  );
  const suspended = families.counter(
    'sending_suspended_total',
    'Accounts that a sudden change in what they send has suspended.',
    [],
  );
  for (const of of ['account', 'domain'])
    for (const period of ['hour', 'day']) refused.inc({ limit: `${of}_${period}` }, 0);
  suspended.inc(0);
  return {
    refused: ({ of, period }) => refused.inc({ limit: `${of}_${period}` }),
    suspended: () => suspended.inc(),
  };
}
