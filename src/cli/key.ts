// `mansio key create | list | revoke`: API keys, the credential of every client. Only the operator can create a key of scope `internal`
// that sends notifications for any account.
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { newApiKey } from '../actors/directory/api-key.js';
import { SCOPES } from '../store/directory.js';
import { displayName, existingAccount, keyId, keyScopes } from './arguments.js';
import { CommandError, commandGroup, printing } from './output.js';
import { withStore } from './store.js';

export function registerKey(program: Command): void {
  const group = commandGroup(program, 'key', 'make, list and revoke API keys');

  const create = group
    .command('create')
    .description('make an API key; it is shown this once')
    .requiredOption('--account <address>', 'the account it belongs to')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption('--scope <scope...>', `what it may do: ${SCOPES.join(', ')}; internal only alone`);
  printing(create, async (options: { account: string; name: string; scope: string[] }) => {
    const [name, scopes] = [displayName(options.name, '--name'), keyScopes(options.scope)];
    return withStore(async ({ directory }) => {
      const account = await existingAccount(directory, options.account);
      const { apiKey, prefix, hash } = newApiKey(randomBytes);
      const serviceWide = scopes.includes('internal');
      const key = await directory.createKey({ accountId: account.id, name, scopes, serviceWide, prefix, hash });
      return { id: key.id, name: key.name, scopes: key.scopes, apiKey };
    });
  });

  const list = group
    .command('list')
    .description('list the active keys of an account')
    .requiredOption('--account <address>', 'the account');
  printing(list, async (options: { account: string }) => {
    const keys = await withStore(async ({ directory }) => {
      const account = await existingAccount(directory, options.account);
      return directory.keys(account.id);
    });
    return keys.map(({ id, name, scopes, createdAt, lastUsedAt }) => ({ id, name, scopes, createdAt, lastUsedAt }));
  });

  const revoke = group
    .command('revoke')
    .description('revoke a key, at once and for good')
    .requiredOption('--id <id>', 'the id that list shows');
  printing(revoke, async (options: { id: string }) => {
    const id = keyId(options.id);
    const revoked = await withStore(({ directory }) => directory.revokeKey(id));
    if (!revoked) throw new CommandError(`no active key has the id ${id}`);
    return { id, revoked };
  });
}
