// Declares the settings that say which mail is refused, deferred or put into Junk; variables.ts joins them with the others.
import {
  type BlockListSetting,
  blockLists,
  flag,
  hidden,
  httpUrl,
  identifier,
  oneOf,
  type Parser,
  withoutKeys,
} from './values.js';
import { variable } from './variable.js';

type JunkFilter = 'builtin' | 'rspamd' | 'off';

const NONE = { byDefault: 'none' } as const;

/** A flag in the words on and off; those of other flags are accepted too. */
const onOff: Parser<'on' | 'off'> = {
  accepts: 'on or off',
  parse: (text) => (flag.parse(text) ? 'on' : 'off'),
};

export const contentChecks = {
  dmarcReject: variable(
    'MANSIO_DMARC_REJECT',
    'tag',
    oneOf('tag', 'reject', 'none'),
    'Incoming mail that fails DMARC or has no clear author: `tag` places it in Junk, `reject` refuses it when the policy says so, `none` notes it in the header ([more](mail-authentication.md)).',
  ),
  reports: variable(
    'MANSIO_REPORTS',
    'off',
    onOff,
    '`on` counts the results of DMARC and of TLS with other servers, and sends a [report](mail-authentication.md#reports-to-others) a day to each domain that asks for it.',
  ),
  rspamdUrl: variable<string | undefined, undefined>(
    'MANSIO_RSPAMD_URL',
    undefined,
    httpUrl,
    'The worker of an [rspamd](junk.md#rspamd) that judges mail before it is accepted, `http://host:11333`.',
    NONE,
  ),
  rspamdControllerUrl: variable<string | undefined, undefined>(
    'MANSIO_RSPAMD_CONTROLLER_URL',
    undefined,
    httpUrl,
    'The controller of that rspamd: moves to and from Junk [teach it](junk.md#rspamd-learns).',
    { byDefault: 'port 11334 of a worker at port 11333, else `MANSIO_RSPAMD_URL`' },
  ),
  rspamdPassword: variable<string | undefined, undefined>(
    'MANSIO_RSPAMD_PASSWORD',
    undefined,
    identifier,
    'The password of the controller of rspamd, where it wants one.',
    { ...NONE, shown: hidden },
  ),
  junkFilter: variable<JunkFilter | undefined, undefined>(
    'MANSIO_JUNK_FILTER',
    undefined,
    oneOf('builtin', 'rspamd', 'off'),
    'Who learns from moves to and from Junk: `builtin` is the [filter of each account](junk.md#the-built-in-filter), which then judges its mail; `rspamd` is the controller of rspamd; `off` is nobody.',
    { byDefault: '`rspamd` where `MANSIO_RSPAMD_URL` is set, else `builtin`' },
  ),
  contentCheckFailure: variable(
    'MANSIO_CONTENT_CHECK_FAILURE',
    'accept',
    oneOf('accept', 'defer'),
    'Mail about which rspamd gives no answer in 8 seconds: `accept` takes it unchecked and counts it, `defer` answers `451 4.7.1`.',
  ),
  dnsbl: variable<readonly BlockListSetting[], readonly BlockListSetting[]>(
    'MANSIO_DNSBL',
    [],
    blockLists,
    'DNS block lists ([more](junk.md#dns-block-lists)), such as `zen.spamhaus.org,bl.example.org=junk`: clients that a list has are refused at RCPT with `554 5.7.1`, or their mail goes to Junk.',
    { ...NONE, shown: withoutKeys },
  ),
  greylist: variable(
    'MANSIO_GREYLIST',
    'off',
    oneOf('off', 'doubtful'),
    '`doubtful` answers `451 4.7.1` to [doubtful mail](junk.md#greylisting) from servers that are not known; a server that tries again after a minute is known for 35 days.',
  ),
};
