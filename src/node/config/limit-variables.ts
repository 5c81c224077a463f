// The settings of quotas and of limits of sending, which commands set for single accounts and domains.
import { integer } from './values.js';
import { variable } from './variable.js';

/** The columns are 32 bits wide. */
const MOST_RECIPIENTS = 2_000_000_000;

export const quotas = {
  quotaBytes: variable(
    'MANSIO_QUOTA_BYTES',
    0,
    integer(0, Number.MAX_SAFE_INTEGER),
    'Octets of mail that an account may have, unless `mansio quota set` gives it another limit; 0 is no limit ([quotas](interface/quotas.md)).',
  ),
  quotaMessages: variable(
    'MANSIO_QUOTA_MESSAGES',
    0,
    integer(0, Number.MAX_SAFE_INTEGER),
    'Messages that an account may have, likewise; 0 is no limit.',
  ),
};

export const sending = {
  limitHour: variable(
    'MANSIO_SEND_LIMIT_HOUR',
    1000,
    integer(0, MOST_RECIPIENTS),
    'Recipients to whom an account may send in an hour, unless `mansio account limit` gives it another limit; 0 is no limit ([limits](interface/sending-limits.md)).',
  ),
  limitDay: variable(
    'MANSIO_SEND_LIMIT_DAY',
    5000,
    integer(0, MOST_RECIPIENTS),
    'Recipients to whom an account may send in a day, likewise; 0 is no limit.',
  ),
  domainLimitHour: variable(
    'MANSIO_DOMAIN_SEND_LIMIT_HOUR',
    0,
    integer(0, MOST_RECIPIENTS),
    'Recipients to whom all accounts of a domain together may send in an hour, unless `mansio domain limit` gives it another limit; 0 is no limit.',
  ),
  domainLimitDay: variable(
    'MANSIO_DOMAIN_SEND_LIMIT_DAY',
    0,
    integer(0, MOST_RECIPIENTS),
    'The same for a day; 0 is no limit.',
  ),
  suspendStrangers: variable(
    'MANSIO_SUSPEND_STRANGERS',
    0,
    integer(0, MOST_RECIPIENTS),
    'An account that sends in an hour to more recipients to whom it has never written is suspended; 0: it is not. `mansio setup` sets 500.',
  ),
  suspendRefused: variable(
    'MANSIO_SUSPEND_REFUSED',
    500,
    integer(0, MOST_RECIPIENTS),
    'An account is suspended when other servers refuse more of its recipients in an hour, and more than a quarter of all; 0: it is not. `mansio setup` sets 100.',
  ),
};
