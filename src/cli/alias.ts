// `mansio alias add | list | remove`: addresses that lead to other addresses. domain.ts has `mansio domain alias`, for a whole domain.
import type { Command } from 'commander';
import { canonicalAddress, foldedAddress, hasTag } from '../mail-format/address.js';
import { isCatchAll, MOST_TARGETS } from '../mail-format/alias-expansion.js';
import type { Alias } from '../store/addresses/aliases.js';
import { domainName } from './arguments.js';
import { CommandError, commandGroup, printing } from './output.js';
import { withStore } from './store.js';

interface AddOptions {
  readonly to: readonly string[];
  readonly sendAs?: boolean;
}

export function registerAlias(program: Command): void {
  const group = commandGroup(program, 'alias', 'addresses that lead to other addresses');

  const add = group
    .command('add')
    .description('lead an address to others, or with *@domain every address of a domain that no account has')
    .argument('<address>')
    .requiredOption('--to <address...>', 'where its mail goes, also elsewhere, at most 1000 addresses in all')
    .option('--send-as', 'let each account that it leads to send as the address; a single one may anyway');
  printing(add, async (text: string, { to, sendAs }: AddOptions) => {
    const address = aliasAddress(text);
    const targets = [...new Set(to.map(targetAddress))];
    if (targets.length > MOST_TARGETS)
      throw new CommandError(`an alias leads to at most ${MOST_TARGETS} addresses, not ${targets.length}`);
    return withStore(async ({ directory }) =>
      shapeOf(await directory.addAlias({ address, targets, sendAs: sendAs === true })),
    );
  });

  const list = group
    .command('list')
    .description('list the aliases')
    .option('--domain <domain>', 'of this domain alone');
  printing(list, async ({ domain }: { domain?: string }) => {
    const name = domain === undefined ? undefined : domainName(domain);
    return withStore(async ({ directory }) => {
      const aliases = await directory.aliases(name);
      const isKnown = async () => (await directory.routedDomains()).some((domain) => domain.name === name);
      if (name !== undefined && aliases.length === 0 && !(await isKnown()))
        throw new CommandError(`not a hosted domain: ${name} (see mansio domain list)`);
      return aliases.map(shapeOf);
    });
  });

  const remove = group
    .command('remove')
    .description('end an alias: its address is unknown then; mail that its targets have stays')
    .argument('<address>');
  printing(remove, async (text: string) => {
    const address = aliasAddress(text);
    const removed = await withStore(({ directory }) => directory.removeAlias(address));
    if (removed === undefined) throw new CommandError(`no such alias: ${address} (see mansio alias list)`);
    return shapeOf(removed);
  });
}

/** The address of an alias, in canonical form. */
function aliasAddress(text: string): string {
  const address = canonicalAddress(text);
  if (address === undefined) throw new CommandError(`not an e-mail address: ${text}`);
  if (hasTag(text)) throw new CommandError(`an alias has no +tag (mail for ${text} goes to ${address})`);
  return address;
}

/** A +tag stays for now: the store knows whether it means anything here. */
function targetAddress(text: string): string {
  const address = foldedAddress(text)?.normalize('NFC');
  if (address === undefined) throw new CommandError(`not an e-mail address: ${text}`);
  if (isCatchAll(address)) throw new CommandError(`${text} is no single address: an alias leads to single ones`);
  return address;
}

function shapeOf({ address, targets, sendAs }: Alias) {
  return { address, targets, sendAs };
}
