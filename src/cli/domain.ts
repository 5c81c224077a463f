// `mansio domain add | list | remove`: the domains that mail is taken in for. Running nodes follow at once.
import type { Command } from 'commander';
import { domainName } from './arguments.js';
import { CommandError, commandGroup, printing } from './output.js';
import { withStore } from './store.js';

export function registerDomain(program: Command): void {
  const group = commandGroup(program, 'domain', 'hosted domains');

  const add = group.command('add').description('host a domain').argument('<domain>');
  printing(add, async (text: string) => {
    const name = domainName(text);
    // Adding what is there already is no error: scripts repeat themselves.
    return { name, added: await withStore(({ directory }) => directory.addDomain(name)) };
  });

  const list = group.command('list').description('list the hosted domains');
  printing(list, async () => {
    const domains = await withStore(({ directory }) => directory.domains());
    return domains.map(({ name, createdAt }) => ({ name, createdAt }));
  });

  const remove = group
    .command('remove')
    .description('take no more mail in for a domain; accounts and their mail stay')
    .argument('<domain>');
  printing(remove, async (text: string) => {
    const name = domainName(text);
    if (!(await withStore(({ directory }) => directory.removeDomain(name)))) {
      throw new CommandError(`not a hosted domain: ${name}`);
    }
    return { name, removed: true };
  });
}
