// `mansio account limit | suspend | resume | show` and `mansio domain limit`: to how many recipients accounts may send, and whether they may.
// Running nodes apply a change at once.
import type { Command } from 'commander';
import { firstMinuteOf, limitsOf, sentIn } from '../../actors/sending/recipient-limits.js';
import { readConfig } from '../../node/config/config.js';
import type {
  AccountSending,
  RecipientLimitSetting,
  RecipientLimits,
  SentRecipients,
} from '../../store/limits/sending.js';
import { postgresSending } from '../../store/postgres/accounts/sending.js';
import { domainName, existingAccount } from '../arguments.js';
import { CommandError, printing } from '../output.js';
import { type CommandStore, withStore } from '../store.js';

interface LimitOptions {
  readonly hour?: string;
  readonly day?: string;
}

const LONGEST_REASON = 300;
const MOST_RECIPIENTS = 2_000_000_000;

export function registerAccountSending(group: Command): void {
  const show = group
    .command('show')
    .description('show what an account has sent, may send, and whether sending is suspended')
    .argument('<account>', 'the address of the account');
  printing(show, async (address: string) => withStore((store) => accountView(store, address)));

  const limit = withLimits(group.command('limit'), 'MANSIO_SEND_LIMIT')
    .description('set to how many recipients an account may send')
    .argument('<account>', 'the address of the account');
  printing(limit, async (address: string, options: LimitOptions) => {
    const setting = settingOf(options);
    return withStore(async (store) => {
      const { id } = await existingAccount(store.directory, address);
      if (!(await postgresSending(store.sql).setAccount(id, setting)))
        throw new CommandError(`no such account: ${address}`);
      return accountView(store, address);
    });
  });

  const suspend = group
    .command('suspend')
    .description('let an account send nothing; its mail still arrives and is read, and what it has queued waits')
    .argument('<account>', 'the address of the account')
    .option('--why <text>', 'the reason, which the user is told; without it, an earlier reason stays');
  printing(suspend, async (address: string, { why }: { why?: string }) => {
    const reason = why === undefined ? null : reasonOf(why);
    return withStore(async (store) => {
      const { id } = await existingAccount(store.directory, address);
      if (!(await postgresSending(store.sql).suspend(id, { by: 'operator', reason })))
        throw new CommandError(`no such account: ${address}`);
      return accountView(store, address);
    });
  });

  const resume = group
    .command('resume')
    .description('let a suspended account send again')
    .argument('<account>', 'the address of the account');
  printing(resume, async (address: string) =>
    withStore(async (store) => {
      const { id, email } = await existingAccount(store.directory, address);
      if (!(await postgresSending(store.sql).resume(id))) throw new CommandError(`${email} is not suspended`);
      return accountView(store, address);
    }),
  );
}

export function registerDomainLimit(group: Command): void {
  const limit = withLimits(group.command('limit'), 'MANSIO_DOMAIN_SEND_LIMIT')
    .description('set to how many recipients all accounts of a domain together may send')
    .argument('<domain>');
  printing(limit, async (text: string, options: LimitOptions) => {
    const name = domainName(text);
    const setting = settingOf(options);
    return withStore(async ({ sql }) => {
      const sending = postgresSending(sql);
      if (!(await sending.setDomain(name, setting))) throw new CommandError(`not a hosted domain: ${name}`);
      const [domain] = await sending.domains([name]);
      const now = Date.now();
      const since = { hour: firstMinuteOf('hour', now), day: firstMinuteOf('day', now) };
      const { domainLimitHour: hour, domainLimitDay: day } = readConfig();
      const limits = limitsOf(domain?.setting ?? { hour: null, day: null }, { hour, day });
      return { name, ...recipients(limits, await sending.sentByDomain(name, since)) };
    });
  });
}

/** The ids of those accounts that are suspended. */
export async function suspendedAccounts(
  { sql }: Pick<CommandStore, 'sql'>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const accounts = await postgresSending(sql).accounts(ids);
  return new Set(accounts.flatMap(({ accountId, suspension }) => (suspension === null ? [] : [accountId])));
}

async function accountView({ sql, directory }: Pick<CommandStore, 'sql' | 'directory'>, address: string) {
  const { id, email, displayName } = await existingAccount(directory, address);
  const sending = postgresSending(sql);
  const [account] = await sending.accounts([id]);
  if (account === undefined) throw new CommandError(`no such account: ${address}`);
  const now = Date.now();
  const sent = sentIn(await sending.minutes(id, firstMinuteOf('day', now)), now);
  const { limitHour: hour, limitDay: day } = readConfig();
  const limits = limitsOf(account.setting, { hour, day });
  return { id, email, displayName, ...recipients(limits, sent), ...suspensionOf(account) };
}

const suspensionOf = ({ suspension }: AccountSending) => ({
  suspendedAt: suspension === null ? null : new Date(suspension.since),
  suspendedBy: suspension?.by ?? null,
  reason: suspension?.reason ?? null,
});

const recipients = (limits: RecipientLimits, sent: SentRecipients) => ({
  sentInHour: sent.hour,
  limitHour: limits.hour,
  sentInDay: sent.day,
  limitDay: limits.day,
});

const withLimits = (command: Command, setting: string): Command =>
  command
    .option('--hour <number>', `recipients in an hour; none or 0: no limit; default: as ${setting}_HOUR says`)
    .option('--day <number>', `recipients in a day; none or 0: no limit; default: as ${setting}_DAY says`);

function settingOf({ hour, day }: LimitOptions): RecipientLimitSetting {
  if (hour === undefined && day === undefined) throw new CommandError('name a limit: --hour or --day');
  return {
    ...(hour !== undefined && { hour: limitNamed('--hour', hour) }),
    ...(day !== undefined && { day: limitNamed('--day', day) }),
  };
}

/** null: the default; 0: no limit. */
function limitNamed(option: string, text: string): number | null {
  if (text === 'none') return 0;
  if (text === 'default') return null;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > MOST_RECIPIENTS)
    throw new CommandError(`${option} takes a whole number, none or default: ${text}`);
  return number;
}

function reasonOf(text: string): string {
  const reason = text.trim();
  if (reason.length > LONGEST_REASON) throw new CommandError(`--why is longer than ${LONGEST_REASON} characters`);
  if (/\p{Cc}/u.test(reason)) throw new CommandError('--why contains control characters');
  return reason;
}
