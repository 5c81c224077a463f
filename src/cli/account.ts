// `mansio account create | list | link | sessions | delete`; `sending.ts` has `show | limit | suspend | resume`. An account needs no hosted domain: people may log in with an address of another provider. Mansio
// has no passwords, only API keys and OpenID Connect.
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { issueLink, LINK_MS } from '../actors/account/sign-in-link.js';
import { isLoopbackName } from '../auth/origin.js';
import { type Config, readConfig } from '../node/config/config.js';
import { pageUrlOf } from '../node/listeners/connection-info.js';
import type { DirectoryStore } from '../store/directory.js';
import { postgresSessions } from '../store/postgres/accounts/sessions.js';
import type { Sql } from '../store/postgres/driver/client.js';
import { postgresLeases } from '../store/postgres/leases.js';
import { sessionEnd } from '../store/sessions.js';
import { displayName, existingAccount, newAddress, sessionId } from './arguments.js';
import { registerAccountSending, suspendedAccounts } from './limits/sending.js';
import { CommandError, commandGroup, confirm, printing } from './output.js';
import { withStore } from './store.js';

export function registerAccount(program: Command): void {
  const group = commandGroup(program, 'account', 'make, list, sign in and delete accounts');

  const create = group
    .command('create')
    .description('make an account; it gets the unclaimed mail of its address')
    .requiredOption('--email <address>', 'its primary address')
    .requiredOption('--name <name>', 'its display name')
    .option('--password-less', 'kept for scripts: no account has a password, clients log in with keys (mansio key)');
  printing(create, async (options: { email: string; name: string }) => {
    const [address, name] = [newAddress(options.email), displayName(options.name, '--name')];
    const [account, hosted] = await withStore(async ({ directory }) => {
      const made = await directory.createAccount(address, name);
      return [made, await hostedDomains(directory)];
    });
    const domain = address.slice(address.lastIndexOf('@') + 1);
    if (!hosted.includes(domain)) {
      create
        .configureOutput()
        .writeErr?.(`warning: ${domain} is not a hosted domain: no mail reaches ${address} (see mansio domain add)\n`);
    }
    return { id: account.id, email: account.email, displayName: account.displayName };
  });

  const list = group.command('list').description('list accounts');
  printing(list, async () => {
    const [accounts, suspended] = await withStore(async (store) => {
      const all = await store.directory.accounts();
      return [
        all,
        await suspendedAccounts(
          store,
          all.map(({ id }) => id),
        ),
      ];
    });
    return accounts.map(({ id, email, displayName, createdAt }) => ({
      ...{ id, email, displayName, createdAt },
      isSuspended: suspended.has(id),
    }));
  });

  const link = group
    .command('link')
    .description('make a link that signs a browser in to the page, once and within 15 minutes')
    .argument('<account>', 'the address of the account');
  printing(link, async (address: string) =>
    withStore(async ({ sql, directory }) => {
      const account = await existingAccount(directory, address);
      const base = await pageUrl(readConfig(), sql);
      const { token, expiresAt } = await issueLink(postgresSessions(sql), randomBytes, account.id, LINK_MS);
      return { url: `${base}/link/${token}`, expiresAt: expiresAt ?? null };
    }),
  );

  registerSessions(group);
  registerAccountSending(group);
  registerDelete(group);
}

function registerDelete(group: Command): void {
  const remove = group
    .command('delete')
    .description('delete an account with its mail, addresses and keys')
    .requiredOption('--email <address>', 'its primary address')
    .option('--yes', 'do not ask');
  printing(remove, async (options: { email: string; yes?: boolean }) => {
    await confirm(options.yes, 'the account and its mail will be deleted permanently');
    return withStore(async ({ directory }) => {
      const account = await existingAccount(directory, options.email);
      if (account.email !== newAddress(options.email)) {
        throw new CommandError(`${options.email} is a further address of ${account.email}: name the primary one`);
      }
      await directory.deleteAccount(account.id);
      const [alias] = await directory.aliasesNaming([account.email], 1);
      if (alias !== undefined)
        remove
          .configureOutput()
          .writeErr?.(`warning: ${alias.address} leads to ${account.email}, which nobody has now (see mansio alias)\n`);
      return { id: account.id, email: account.email, deleted: true };
    });
  });
}

interface SessionOptions {
  readonly end?: string;
  readonly all?: boolean;
}

/** The operator lists the browsers that are signed in and ends one or all, for a person whose device is lost. */
function registerSessions(group: Command): void {
  const sessions = group
    .command('sessions')
    .description('list the browsers that are signed in to an account, or sign them out, at once')
    .argument('<account>', 'the address of the account')
    .option('--end <id>', 'sign out the one with this id, which the list shows')
    .option('--all', 'sign out all');
  printing(sessions, async (address: string, { end, all = false }: SessionOptions) => {
    if (end !== undefined && all)
      throw new CommandError('--end names one session and --all names all: use one of them');
    const id = end === undefined ? undefined : sessionId(end);
    return withStore(async ({ sql, directory }) => {
      const account = await existingAccount(directory, address);
      const store = postgresSessions(sql);
      if (id !== undefined) {
        if (!(await store.end(account.id, id)))
          throw new CommandError(`${account.email} has no session with the id ${id}`);
        return { id, ended: true };
      }
      const live = (await store.list(account.id)).filter((session) => sessionEnd(session) > Date.now());
      if (!all)
        return live.map(({ id, createdAt, lastUsedAt, userAgent }) => ({ id, createdAt, lastUsedAt, userAgent }));
      const ended = await Promise.all(live.map((session) => store.end(account.id, session.id)));
      return { account: account.email, ended: ended.filter(Boolean).length };
    });
  });
}

/** The domains of the store, and those that the next start of the node adds. */
async function hostedDomains(directory: DirectoryStore): Promise<readonly string[]> {
  return [...(await directory.domains()).map(({ name }) => name), ...readConfig().hostedDomains];
}

/** The base URL of the page, at which a browser may sign in. */
async function pageUrl(config: Config, sql: Sql): Promise<string> {
  const { nodes } = await postgresLeases(sql).view();
  const url = pageUrlOf(config, nodes);
  if (url === undefined)
    throw new CommandError(
      'no node with HTTP is running and its port is not set: start the node, or set MANSIO_PUBLIC_URL',
    );
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || isLoopbackName(hostname)) return url;
  throw new CommandError(
    `the page is at ${url}, and browsers sign in over https only: see MANSIO_HTTPS_PORT and MANSIO_PUBLIC_URL`,
  );
}
