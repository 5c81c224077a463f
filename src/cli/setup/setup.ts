// `mansio setup`: what a machine needs to run Mansio as a service: user, settings, units, data directory, and in the store the first domain
// with its keys and the first account. A second run finds everything there and changes nothing.
import type { Command } from 'commander';
import { type Config, readConfig } from '../../node/config/config.js';
import { zoneLines } from '../../node/domains/dns-records.js';
import { domainRecords } from '../../node/domains/domain-records.js';
import { publicEndpoints } from '../../node/domains/public-endpoints.js';
import { CommandError, inert, reporting } from '../output.js';
import { checkGivenDatabase } from '../store.js';
import { askAnswers, type SetupAnswers, type SetupOptions } from './answers.js';
import { prepareStore, type StoreResult } from './first-account.js';
import { effectiveSettings, type PlannedFile, planFiles, type WrittenFile, writeFiles } from './system-files.js';
import { makeUser, SYSTEM_USER } from './system-user.js';

interface SetupResult extends StoreResult {
  readonly domain: string;
  readonly hostname: string;
  readonly account: string;
  readonly user: string;
  readonly files: readonly WrittenFile[];
  /** The lines of a zone file. */
  readonly records: readonly string[];
  readonly next: readonly string[];
}

export function registerSetup(program: Command): void {
  const command = program
    .command('setup')
    .description('make user, settings, units, the first domain and account; a second run changes nothing')
    .option('--domain <domain>', 'the domain whose mail is hosted')
    .option('--hostname <name>', 'the full name of this machine, such as mail.example.org')
    .option('--account <address>', 'the first account; postmaster and abuse of the domain are delivered to it')
    .option('--acme-email <address>', 'get certificates by ACME (Let’s Encrypt), with this contact')
    .option('--database-url <url>', 'your own PostgreSQL; without it, that of DATABASE_URL, else the embedded one')
    .option('--prefix <dir>', 'put everything below this directory (images, tests)')
    .option('--print', 'show what would be written, and write nothing')
    .option('--yes', 'ask nothing');
  reporting(command, (options: SetupOptions) => run(options), inWords);
}

async function run(options: SetupOptions): Promise<SetupResult> {
  const answers = await askAnswers(options);
  const { prefix, isPrint } = answers;
  // The settings are read as a node reads them, so that a wrong one is named before anything is written.
  const config = readConfig(effectiveSettings(answers));
  const planned = planFiles(answers);
  if (isPrint) return resultOf(answers, config, planned.map(asPlanned), { apiKey: null, added: [], keys: [] });
  if (prefix === '' && process.getuid?.() !== 0)
    throw new CommandError('setup writes to /etc and makes a user: run it as root, or see what it writes with --print');
  await checkGivenDatabase(config);
  const owner = await makeUser(prefix);
  const files = writeFiles(planned, prefix, owner);
  const stored = await prepareStore(config, answers, owner);
  return resultOf(answers, config, files, stored);
}

function asPlanned({ path, mode, content }: PlannedFile): WrittenFile {
  return { path, mode, state: 'planned', content };
}

function resultOf(
  { domain, hostname, account }: SetupAnswers,
  config: Config,
  files: readonly WrittenFile[],
  stored: StoreResult & StoredKeys,
): SetupResult {
  const endpoints = publicEndpoints(config, []);
  const plan = domainRecords(domain, stored.keys, { endpoints, fallback: undefined });
  const notes =
    stored.keys.length > 0 ? plan.notes : [`DKIM: mansio domain show ${domain} prints the keys after setup`];
  return {
    domain,
    hostname,
    account,
    user: SYSTEM_USER,
    files,
    added: stored.added,
    apiKey: stored.apiKey,
    records: zoneLines({ records: plan.records, notes: stored.keys.length > 0 ? plan.notes : notes }),
    next: [
      'systemctl daemon-reload && systemctl enable --now mansio',
      'systemctl enable --now mansio-backup.timer',
      'mansio doctor --env-file /etc/mansio/mansio.env',
    ],
  };
}

type StoredKeys = Awaited<ReturnType<typeof prepareStore>>;

function inWords({ files, added, apiKey, account, records, next, user }: SetupResult): string {
  const isPrint = files.some(({ state }) => state === 'planned');
  const contents = files.flatMap(({ path, mode, state, content }) =>
    isPrint && content !== undefined
      ? [`--- ${path} (mode ${mode})`, content.trimEnd(), '']
      : [`${state.padEnd(7)} ${path}`],
  );
  const key =
    apiKey === null
      ? []
      : ['', `Key of ${account}, shown this once: the password of mail programs, and the token of REST`, `  ${apiKey}`];
  return [
    ...(isPrint ? [`Would make the user ${user}, and write:`, ''] : []),
    ...contents,
    ...added.map((what) => `added   ${inert(what)}`),
    ...key,
    '',
    'DNS records to publish, and in reverse DNS the name of this machine for its address:',
    ...records,
    '',
    'Next:',
    ...next.map((line) => `  ${line}`),
  ].join('\n');
}
