// `mansio domain add | list | show | remove | alias`: the domains for which this server accepts mail, the keys that sign their mail, and the DNS
// records to publish. Running nodes apply changes at once, changes of keys within seconds. `domain-relay.ts` has `mansio domain relay`.
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { type DkimKey, dkimKey, readDkimKey } from '../mail-format/authentication/dkim-key.js';
import { readConfig } from '../node/config/config.js';
import { zoneLines } from '../node/domains/dns-records.js';
import { type DomainRecords, domainRecords, type RecordSettings } from '../node/domains/domain-records.js';
import { readPublicEndpoints } from '../node/domains/public-endpoints.js';
import { postgresRelays } from '../store/postgres/outbound/relays.js';
import type { RelaySetting } from '../store/relays.js';
import type { SigningKey, SigningKeyStore } from '../store/signing-keys.js';
import { domainName, selectorName } from './arguments.js';
import { registerDomainRelay, shownRelay, spfNote } from './domain-relay.js';
import { registerDomainLimit } from './limits/sending.js';
import { readNamed } from './named-files.js';
import { CommandError, commandGroup, confirm, printing, reporting, textOf } from './output.js';
import { type CommandStore, withStore } from './store.js';

interface KeyOptions {
  readonly dkimSelector?: string;
  readonly dkimKey?: string;
}

/**
 * `dkimKeys`: whether this command made or imported keys, or found existing ones; `madeSelectors`: the selectors of the keys that it made.
 */
type AddedDomain = DomainView & {
  readonly added: boolean;
  readonly dkimKeys: 'made' | 'present';
  readonly madeSelectors: readonly string[];
};

interface DomainView extends DomainRecords {
  readonly name: string;
  /** The smart host of its senders, without the password, or `direct`; null: as MANSIO_RELAY_URL says. */
  readonly relay: string | null;
  /** The domain of which it is another name; null for a domain of its own. */
  readonly aliasOf: string | null;
}

interface Settings extends RecordSettings {
  /** The smart hosts by domain, and that of MANSIO_RELAY_URL. */
  readonly relays: ReadonlyMap<string, RelaySetting>;
  /** The domains that have another name, keyed by that name. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly relayUrl: string | undefined;
}

type ListedDomain = DomainView & { readonly createdAt: Date };

const RSA_BITS = 2048;
const DEFAULT_SELECTOR = 'mansio';
/** RFC 8463 §6: each algorithm has a selector of its own. */
const ED25519_SUFFIX = '-ed25519';

const generate = promisify(generateKeyPair);

export function registerDomain(program: Command): void {
  const group = commandGroup(program, 'domain', 'hosted domains');

  const add = group
    .command('add')
    .description('host a domain, and make or take the keys its mail is signed with')
    .argument('<domain>')
    .option('--dkim-selector <selector>', 'where the key is published; without --dkim-key new keys are made for it')
    .option('--dkim-key <file>', 'a private key (PEM: RSA or Ed25519) to sign with, under --dkim-selector');
  reporting(add, (text: string, options: KeyOptions) => addDomain(domainName(text), options), addedInWords);

  const list = group
    .command('list')
    .description('list the hosted domains, one a line; with --json with their DNS records');
  reporting(list, listDomains, listInWords);

  const show = group
    .command('show')
    .description('show the DNS records that a hosted domain is to publish')
    .argument('<domain>');
  reporting(
    show,
    async (text: string) => {
      const name = domainName(text);
      const domain = (await listDomains()).find((one) => one.name === name);
      if (domain === undefined) throw new CommandError(`not a hosted domain: ${name}`);
      return domain;
    },
    (domain) => zoneLines(domain).join('\n'),
  );

  const remove = group
    .command('remove')
    .description('take no more mail in for a domain and forget its keys; accounts and their mail stay')
    .argument('<domain>')
    .option('--yes', 'do not ask whether its accounts are to get no more mail');
  printing(remove, async (text: string, { yes }: { yes?: boolean }) => {
    const name = domainName(text);
    await withStore(async ({ directory }) => {
      const hosted = (await directory.domains()).some((domain) => domain.name === name);
      const used = hosted ? await directory.addressesAt(name) : 0;
      if (used > 0) await confirm(yes, `addresses of accounts that get no more mail when ${name} is removed: ${used}`);
      if (!(await directory.removeDomain(name))) throw new CommandError(`not a hosted domain: ${name}`);
    });
    return { name, removed: true };
  });

  const alias = group
    .command('alias')
    .description('host a domain as another name of one: its addresses are the addresses of the other')
    .argument('<new>', 'the other name')
    .argument('<domain>', 'the hosted domain that it names');
  reporting(
    alias,
    async (text: string, of: string) => {
      const [name, target] = [domainName(text), domainName(of)];
      return withStore(async (store) => {
        await refuseUnhosted(store, target);
        const { added, made } = await hostDomain(store, name);
        await store.directory.aliasDomain(name, target);
        return viewAdded(store, name, added, made);
      });
    },
    addedInWords,
  );

  registerDomainRelay(group);
  registerDomainLimit(group);
}

/** Checked before the alias is hosted, so that a wrong name leaves nothing behind. */
async function refuseUnhosted({ directory }: CommandStore, name: string): Promise<void> {
  if (!(await directory.domains()).some((domain) => domain.name === name))
    throw new CommandError(`not a hosted domain: ${name}`);
}

async function addDomain(name: string, options: KeyOptions): Promise<AddedDomain> {
  const wanted = await wantedKeys(name, options);
  return withStore(async (store) => {
    const { added, made } = await hostDomain(store, name, wanted);
    return viewAdded(store, name, added, made);
  });
}

async function viewAdded(
  store: CommandStore,
  name: string,
  added: boolean,
  made: readonly SigningKey[],
): Promise<AddedDomain> {
  const plan = viewOf(name, await keysOf(store.signingKeys, name), await readSettings(store));
  const madeSelectors = made.map(({ selector }) => selector);
  return { name, added, dkimKeys: made.length > 0 ? 'made' : 'present', madeSelectors, ...plan };
}

/** Hosts the domain, with the wanted keys, or with new ones when it has none. Returns the keys that were added. */
export async function hostDomain(
  { directory, signingKeys }: CommandStore,
  name: string,
  wanted?: readonly SigningKey[],
): Promise<{ readonly added: boolean; readonly made: readonly SigningKey[] }> {
  const before = await keysOf(signingKeys, name);
  const missing = wanted === undefined ? [] : newKeys(wanted, before);
  // It is no error to add an existing domain, because scripts run again.
  const added = await directory.addDomain(name);
  const made = wanted === undefined && before.length === 0 ? await makeKeys(name, DEFAULT_SELECTOR) : missing;
  for (const key of made) {
    if (!(await signingKeys.add(key)))
      throw new CommandError(`${name} has got another key under ${key.selector} meanwhile, or is hosted no more`);
  }
  return { added, made };
}

/** undefined: any existing keys are enough. */
async function wantedKeys(name: string, { dkimSelector, dkimKey: file }: KeyOptions) {
  if (dkimSelector === undefined) {
    if (file !== undefined)
      throw new CommandError('--dkim-key needs --dkim-selector: where its public key is published');
    return undefined;
  }
  const selector = selectorName(dkimSelector);
  if (file === undefined) return makeKeys(name, selector);
  return [{ domain: name, selector, ...(await readKey('--dkim-key', file)) }];
}

/** `from`: the option or setting that names the file. */
async function readKey(from: string, file: string): Promise<DkimKey> {
  const pem = await readNamed(from, file);
  try {
    return readDkimKey(pem);
  } catch (error) {
    throw new CommandError(`${from} ${file}: ${(error as Error).message}`);
  }
}

async function makeKeys(domain: string, selector: string): Promise<readonly SigningKey[]> {
  const rsa = dkimKey((await generate('rsa', { modulusLength: RSA_BITS })).privateKey);
  const ed25519 = dkimKey((await generate('ed25519')).privateKey);
  return [
    { domain, selector, ...rsa },
    { domain, selector: selectorName(`${selector}${ED25519_SUFFIX}`), ...ed25519 },
  ];
}

/**
 * The wanted keys that do not exist yet. An existing key under the same selector must have the algorithm of a generated one, or be the
 * imported one. @throws CommandError otherwise
 */
function newKeys(wanted: readonly SigningKey[], before: readonly SigningKey[]): readonly SigningKey[] {
  const isImport = wanted.length === 1;
  return wanted.filter((key) => {
    const there = before.find(({ selector }) => selector === key.selector);
    if (there === undefined) return true;
    const isOther = isImport ? there.privateKey !== key.privateKey : there.algorithm !== key.algorithm;
    if (isOther) throw new CommandError(`${key.domain} has another key under ${key.selector}: choose another selector`);
    return false;
  });
}

async function keysOf(signingKeys: SigningKeyStore, domain: string): Promise<readonly SigningKey[]> {
  return (await signingKeys.all()).filter((key) => key.domain === domain);
}

async function listDomains(): Promise<readonly ListedDomain[]> {
  return withStore(async (store: CommandStore) => {
    const [domains, keys] = [await store.directory.domains(), await store.signingKeys.all()];
    const settings = await readSettings(store);
    return domains.map(({ name, createdAt }) => ({ name, createdAt, ...viewOf(name, keys, settings) }));
  });
}

async function readSettings({ sql, directory }: Pick<CommandStore, 'sql' | 'directory'>): Promise<Settings> {
  const config = readConfig();
  const { dkim } = config;
  const fallback = dkim && { selector: dkim.selector, ...(await readKey('MANSIO_DKIM_KEY', dkim.key)) };
  const relays = await postgresRelays(sql).all();
  const routed = await directory.routedDomains();
  const aliases = new Map(routed.flatMap(({ name, aliasOf }) => (aliasOf === null ? [] : [[name, aliasOf] as const])));
  const endpoints = await readPublicEndpoints(sql, config);
  return { endpoints, fallback, relays, aliases, relayUrl: config.relayUrl };
}

/** `keys`: those of all domains. */
function viewOf(name: string, keys: readonly SigningKey[], settings: Settings): Omit<DomainView, 'name'> {
  const relay = settings.relays.get(name);
  const spf = spfNote(relay, settings.relayUrl);
  const { notes, ...records } = domainRecords(name, keys, settings);
  const aliasOf = settings.aliases.get(name) ?? null;
  return { relay: shownRelay(relay), aliasOf, ...records, notes: spf === undefined ? notes : [...notes, spf] };
}

function addedInWords({ name, added, aliasOf, dkimKeys, madeSelectors, ...plan }: AddedDomain): string {
  const selectors = dkimKeys === 'made' ? madeSelectors : plan.dkim.map(({ selector }) => selector);
  const keys = `DKIM keys: ${dkimKeys === 'made' ? 'made' : 'already there'} (${selectors.join(', ')})`;
  return [
    textOf({ name, added, ...(aliasOf !== null && { aliasOf }) }),
    '',
    keys,
    '',
    'DNS records to publish:',
    ...zoneLines(plan),
  ].join('\n');
}

function listInWords(domains: readonly ListedDomain[]): string {
  const rows = domains.map(({ name, createdAt, dkim, aliasOf }) => ({
    name,
    createdAt,
    selectors: dkim.map(({ selector }) => selector),
    aliasOf,
  }));
  return textOf(rows);
}
