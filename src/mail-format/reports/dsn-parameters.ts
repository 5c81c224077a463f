// The DSN parameters of MAIL and RCPT (RFC 3461 §4): RET and ENVID, NOTIFY and ORCPT. Submissions are parsed, and commands to other hosts
// are written.
import { type DsnRequest, NOTIFY_CONDITIONS, type Notify, type RecipientDsnRequest } from './dsn-request.js';

type Parameters = Readonly<Record<string, string | true>> | false;

/** The names of the DSN parameters of MAIL and of RCPT. */
export const MAIL_DSN: ReadonlySet<string> = new Set(['RET', 'ENVID']);
export const RCPT_DSN: ReadonlySet<string> = new Set(['NOTIFY', 'ORCPT']);

/** The characters that values may have as they are sent (RFC 3461 §4.2, §4.4). */
const LONGEST_ENVID = 100;
const LONGEST_ORCPT = 500;
/** RFC 3461 §4: `+` and two upper case digits stand for an octet. */
const XTEXT = /^(?:[!-*,-<>-~]|\+[0-9A-F]{2})*$/;
const PRINTABLE = /^[ -~]+$/;
const ORCPT = /^([A-Za-z0-9!#$%&'*/?^_`{|}~-]+);(.+)$/;

/** Returns undefined when no parameter is given, null when a value is malformed. */
export function dsnOfMail(args: Parameters): DsnRequest | undefined | null {
  if (args === false || (args['RET'] === undefined && args['ENVID'] === undefined)) return undefined;
  const ret = text(args['RET'])?.toUpperCase();
  if (args['RET'] !== undefined && ret !== 'FULL' && ret !== 'HDRS') return null;
  const envid = text(args['ENVID']);
  const decoded = envid === undefined ? undefined : fromXtext(envid, LONGEST_ENVID);
  if (args['ENVID'] !== undefined && decoded === undefined) return null;
  return { ret: ret === 'FULL' || ret === 'HDRS' ? ret : null, envid: decoded ?? null };
}

/** Returns undefined and null as `dsnOfMail` does. */
export function dsnOfRcpt(args: Parameters): RecipientDsnRequest | undefined | null {
  if (args === false || (args['NOTIFY'] === undefined && args['ORCPT'] === undefined)) return undefined;
  const notify = notifyOf(args['NOTIFY']);
  if (notify === undefined) return null;
  if (args['ORCPT'] === undefined) return { notify, orcpt: null };
  const [, type, address = ''] = ORCPT.exec(text(args['ORCPT']) ?? '') ?? [];
  const decoded = fromXtext(address, LONGEST_ORCPT);
  return type === undefined || decoded === undefined ? null : { notify, orcpt: `${type};${decoded}` };
}

/** Returns the parameters of RCPT for a host that supports DSN, with a blank before each. */
export function rcptParameters({ notify, orcpt }: RecipientDsnRequest): string {
  const asked = notify === null ? '' : ` NOTIFY=${notify.length === 0 ? 'NEVER' : notify.join()}`;
  if (orcpt === null) return asked;
  const at = orcpt.indexOf(';') + 1;
  return `${asked} ORCPT=${orcpt.slice(0, at)}${toXtext(orcpt.slice(at))}`;
}

/** Returns the parameters of MAIL, with a blank before each. */
export function mailParameters({ ret, envid }: DsnRequest): string {
  return `${ret === null ? '' : ` RET=${ret}`}${envid === null ? '' : ` ENVID=${toXtext(envid)}`}`;
}

function notifyOf(value: string | true | undefined): Notify | undefined {
  if (value === undefined) return null;
  const named = text(value)?.toUpperCase().split(',') ?? [];
  if (named.length === 1 && named[0] === 'NEVER') return [];
  const isKnown = named.length > 0 && named.every((name) => (NOTIFY_CONDITIONS as readonly string[]).includes(name));
  return isKnown ? NOTIFY_CONDITIONS.filter((condition) => named.includes(condition)) : undefined;
}

function text(value: string | true | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns undefined when the value is not xtext, or encodes anything but printable ASCII. */
function fromXtext(value: string, longest: number): string | undefined {
  if (value.length > longest || !XTEXT.test(value)) return undefined;
  const decoded = value.replace(/\+([0-9A-F]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return PRINTABLE.test(decoded) ? decoded : undefined;
}

function toXtext(value: string): string {
  return value.replace(/[^!-*,-<>-~]/g, (c) => `+${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}
