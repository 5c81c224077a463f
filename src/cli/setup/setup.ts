// `mansio setup`: what a machine needs to run Mansio as a service: user, settings, units, data directory, and in the store the first domain
// with its keys and the first account. A second run finds everything there and changes nothing.
import type { Command } from 'commander';
import { isPublicAddress } from '../../net/tcp/address-scope.js';
import { type Config, readConfig } from '../../node/config/config.js';
import { machineAddresses } from '../../node/doctor/subject.js';
import { zoneLines } from '../../node/domains/dns-records.js';
import { domainRecords } from '../../node/domains/domain-records.js';
import { publicEndpoints } from '../../node/domains/public-endpoints.js';
import type { SigningKey } from '../../store/signing-keys.js';
import { CommandError, inert, reporting } from '../output.js';
import { checkGivenDatabase } from '../store.js';
import { askAnswers, type SetupAnswers, type SetupOptions } from './answers.js';
import { makeDataDirectory } from './data-directory.js';
import { prepareStore, type StoreResult } from './first-account.js';
import { refuseClosedProgram } from './program-access.js';
import {
  ENV_FILE,
  effectiveSettings,
  type PlannedFile,
  planFiles,
  type WrittenFile,
  writeFiles,
} from './system-files.js';
import { makeUser, SYSTEM_USER } from './system-user.js';

const NOTHING_STORED: StoreResult = { added: [], apiKey: null, keys: [] };
const RECORDS_TITLE = 'DNS records to publish, and in reverse DNS the name of this machine for its address:';

interface SetupResult {
  /** Null with --no-account, like `account`. */
  readonly domain: string | null;
  readonly hostname: string;
  readonly account: string | null;
  readonly user: string;
  readonly files: readonly WrittenFile[];
  readonly added: readonly string[];
  readonly apiKey: string | null;
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
    .option('--no-account', 'leave the store empty, for mansio restore')
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
  const planned = planFiles(answers, config.dataDir.slice(prefix.length));
  if (isPrint) return resultOf(answers, config, planned.map(asPlanned), NOTHING_STORED);
  if (prefix === '' && process.getuid?.() !== 0)
    throw new CommandError('setup writes to /etc and makes a user: run it as root, or see what it writes with --print');
  if (prefix === '') refuseClosedProgram();
  await checkGivenDatabase(config);
  const owner = await makeUser(prefix);
  makeDataDirectory(config.dataDir, owner);
  const files = writeFiles(planned, prefix, owner);
  const stored = answers.first === undefined ? NOTHING_STORED : await prepareStore(config, answers.first);
  return resultOf(answers, config, files, stored);
}

function asPlanned({ path, mode, content }: PlannedFile): WrittenFile {
  return { path, mode, state: 'planned', content };
}

function resultOf(
  { hostname, first }: SetupAnswers,
  config: Config,
  files: readonly WrittenFile[],
  { added, apiKey, keys }: StoreResult,
): SetupResult {
  return {
    domain: first?.domain ?? null,
    hostname,
    account: first?.account ?? null,
    user: SYSTEM_USER,
    files,
    added,
    apiKey,
    records: first === undefined ? [] : [...addressRecords(hostname), ...recordsOf(first.domain, config, keys)],
    next: [
      ...(first === undefined ? [`mansio restore FILE --env-file ${ENV_FILE}`] : []),
      'systemctl daemon-reload && systemctl enable --now mansio',
      'systemctl enable --now mansio-backup.timer',
      `mansio doctor --env-file ${ENV_FILE}`,
    ],
  };
}

/** A machine behind a router does not know its public address. */
function addressRecords(hostname: string): readonly string[] {
  const addresses = machineAddresses().filter(isPublicAddress);
  if (addresses.length === 0)
    return [`; ${hostname}. needs an A or AAAA record with the public address of this machine`];
  return addresses.map((address) => `${hostname}. IN ${address.includes(':') ? 'AAAA' : 'A'} ${address}`);
}

function recordsOf(domain: string, config: Config, keys: readonly SigningKey[]): readonly string[] {
  const endpoints = publicEndpoints(config, []);
  const { records, notes } = domainRecords(domain, keys, { endpoints, fallback: undefined });
  const later = [`DKIM: mansio domain show ${domain} prints the keys after setup`];
  return zoneLines({ records, notes: keys.length > 0 ? notes : later });
}

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
    ...(records.length === 0 ? [] : ['', RECORDS_TITLE, ...records]),
    '',
    'Next:',
    ...next.map((line) => `  ${line}`),
  ].join('\n');
}
