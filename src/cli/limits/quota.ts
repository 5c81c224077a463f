// `mansio quota list | set`: what accounts and domains may use, and what they use. Running nodes apply a change at once.
import type { Command } from 'commander';
import { readConfig } from '../../node/config/config.js';
import type { AccountQuota, DomainQuota, LimitSetting, Limits, Usage } from '../../store/limits/quotas.js';
import { postgresQuotas } from '../../store/postgres/accounts/quotas.js';
import { domainName, existingAccount } from '../arguments.js';
import { CommandError, commandGroup, reporting, textOf } from '../output.js';
import { withStore } from '../store.js';

interface Resource {
  readonly used: number;
  /** null: no limit. */
  readonly limit: number | null;
}

interface QuotaView {
  /** The address of an account, or the name of a domain. */
  readonly name: string;
  readonly kind: 'account' | 'domain';
  readonly bytes: Resource;
  readonly messages: Resource;
}

export function registerQuota(program: Command): void {
  const group = commandGroup(program, 'quota', 'what accounts and domains may use');

  const list = group.command('list').description('list what accounts and domains use and may use');
  reporting(list, listQuotas, (quotas) => textOf(quotas.map(viewInWords)));

  const set = group
    .command('set')
    .description('set what an account or all accounts of a domain together may use')
    .argument('<account or domain>')
    .option('--bytes <number>', 'octets of mail; none or 0: no limit; default: as MANSIO_QUOTA_BYTES says')
    .option('--messages <number>', 'messages; none or 0: no limit; default: as MANSIO_QUOTA_MESSAGES says');
  reporting(
    set,
    async (text: string, { bytes, messages }: { bytes?: string; messages?: string }) => {
      const setting: LimitSetting = {
        ...(bytes !== undefined && { bytes: limitNamed('--bytes', bytes) }),
        ...(messages !== undefined && { messages: limitNamed('--messages', messages) }),
      };
      if (Object.keys(setting).length === 0) throw new CommandError('name a limit: --bytes or --messages');
      return setQuota(text, setting);
    },
    (quota) => textOf([viewInWords(quota)]),
  );
}

async function setQuota(text: string, setting: LimitSetting): Promise<QuotaView> {
  return withStore(async ({ sql, directory }) => {
    const quotas = postgresQuotas(sql);
    return text.includes('@') ? setAccount() : setDomain();

    async function setAccount(): Promise<QuotaView> {
      const { id, email } = await existingAccount(directory, text);
      if (!(await quotas.setAccount(id, setting))) throw new CommandError(`no such account: ${email}`);
      const [quota] = await quotas.accounts([id]);
      if (quota === undefined) throw new CommandError(`no such account: ${email}`);
      return viewOfAccount(quota);
    }

    async function setDomain(): Promise<QuotaView> {
      const name = domainName(text);
      if (!(await quotas.setDomain(name, setting))) throw new CommandError(`not a hosted domain: ${name}`);
      const { domains } = await quotas.all();
      return viewOfDomain(domains.find((one) => one.name === name)!);
    }
  });
}

async function listQuotas(): Promise<readonly QuotaView[]> {
  return withStore(async ({ sql }) => {
    const { accounts, domains } = await postgresQuotas(sql).all();
    return [...domains.map(viewOfDomain), ...accounts.map(viewOfAccount)];
  });
}

function viewOfAccount({ email: name, used, setting }: AccountQuota): QuotaView {
  const { quotaBytes, quotaMessages } = readConfig();
  const limit = { bytes: setting.bytes ?? quotaBytes, messages: setting.messages ?? quotaMessages };
  return { name, kind: 'account', ...resourcesOf(used, limit) };
}

const viewOfDomain = ({ name, used, setting }: DomainQuota): QuotaView => ({
  name,
  kind: 'domain',
  ...resourcesOf(used, setting),
});

/** A limit of 0 is none. */
const resourcesOf = (used: Usage, limit: Limits) => ({
  bytes: { used: used.bytes, limit: limit.bytes || null },
  messages: { used: used.messages, limit: limit.messages || null },
});

/** null: the default. */
function limitNamed(option: string, text: string): number | null {
  if (text === 'none') return 0;
  if (text === 'default') return null;
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number))
    throw new CommandError(`${option} takes a whole number, none or default: ${text}`);
  return number;
}

const viewInWords = ({ name, bytes, messages }: QuotaView) => ({
  name,
  bytes: inWords(bytes),
  messages: inWords(messages),
});

const inWords = ({ used, limit }: Resource): string => `${used} of ${limit ?? 'any'}`;
