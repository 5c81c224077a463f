// The files that `mansio setup` writes: settings, the units of deploy/, and the declaration of the system user. A file that exists is never
// changed: it belongs to the operator from then on.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { isPublicAddress } from '../../net/tcp/address-scope.js';
import { machineAddresses } from '../../node/doctor/subject.js';
import { writeWhole } from '../../store/local/whole-file.js';
import { CommandError } from '../output.js';
import type { SetupAnswers } from './answers.js';
import type { SystemUser } from './system-user.js';

export interface PlannedFile {
  /** Without the prefix. */
  readonly path: string;
  /** Octal. */
  readonly mode: string;
  readonly content: string;
  /** The group of Mansio may read it. */
  readonly isShared: boolean;
}

export interface WrittenFile {
  readonly path: string;
  readonly mode: string;
  readonly state: 'planned' | 'written' | 'kept';
  /** With `planned`. */
  readonly content?: string;
}

export const ENV_FILE = '/etc/mansio/mansio.env';
const DATA_DIRECTORY = '/var/lib/mansio';
const UNITS = '/etc/systemd/system';
/** As the files of deploy/ have it. */
const INSTALLED = '/usr/local/bin/mansio';
/** systemd finds Node.js there without help. */
const USUAL_NODE = /^\/usr\/(?:local\/)?bin\//;

const PORTS = {
  MANSIO_MX_PORT: '25',
  MANSIO_SUBMISSION_PORT: '587',
  MANSIO_SUBMISSIONS_PORT: '465',
  MANSIO_IMAP_PORT: '143',
  MANSIO_IMAPS_PORT: '993',
  MANSIO_POP3_PORT: '110',
  MANSIO_POP3S_PORT: '995',
  MANSIO_HTTPS_PORT: '443',
};

/** Lower than the defaults: on a server for people, credentials are stolen. */
const SUDDEN_CHANGES = { MANSIO_SUSPEND_STRANGERS: '500', MANSIO_SUSPEND_REFUSED: '100' };

/** The settings of the node; with a prefix, of the files below it. */
function settingsOf({ hostname, acmeEmail, databaseUrl }: SetupAnswers, prefix = ''): Readonly<Record<string, string>> {
  const hasSixthVersion = machineAddresses().some((address) => address.includes(':') && isPublicAddress(address));
  return {
    MANSIO_HOSTNAME: hostname,
    MANSIO_PUBLIC_URL: `https://${hostname}`,
    MANSIO_DATA_DIR: `${prefix}${DATA_DIRECTORY}`,
    MANSIO_BIND: hasSixthVersion ? '::' : '0.0.0.0',
    ...PORTS,
    ...SUDDEN_CHANGES,
    ...(acmeEmail !== undefined && { MANSIO_ACME_DIRECTORY: 'letsencrypt', MANSIO_ACME_EMAIL: acmeEmail }),
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
}

/** `dataDir`: of the node, without the prefix. */
export function planFiles(answers: SetupAnswers, dataDir: string): readonly PlannedFile[] {
  const settings = Object.entries(settingsOf(answers)).map(settingLine);
  const head =
    '# Settings of Mansio, one NAME=value a line. "mansio config --env-file /etc/mansio/mansio.env" shows all of them.\n';
  const units = readdirSync(deployDirectory()).filter((name) => /^mansio.*\.(?:service|timer)$/.test(name));
  return [
    { path: ENV_FILE, mode: '0640', content: head + settings.join(''), isShared: true },
    {
      path: '/etc/sysusers.d/mansio.conf',
      mode: '0644',
      content: `u mansio - "Mansio mail server" ${DATA_DIRECTORY}\n`,
      isShared: false,
    },
    ...units.sort().map((name) => ({
      path: `${UNITS}/${name}`,
      mode: '0644',
      content: unitFor(readFileSync(join(deployDirectory(), name), 'utf8'), {
        program: process.argv[1] ?? INSTALLED,
        node: process.execPath,
        dataDir,
      }),
      isShared: false,
    })),
  ];
}

/** The folder of the package, in a clone and in an installation. */
function deployDirectory(): string {
  return join(dirname(createRequire(import.meta.url).resolve('#package.json')), 'deploy');
}

export interface Places {
  /** The path with which the program was started. */
  readonly program: string;
  readonly node: string;
  readonly dataDir: string;
}

/** Adapts a unit to where the program, Node.js and the data directory are. */
export function unitFor(text: string, { program, node, dataDir }: Places): string {
  const command = USUAL_NODE.test(node) ? program : `${node} ${program}`;
  const started = text.replaceAll(INSTALLED, command).replaceAll("-c 'mansio ", `-c '${command} `);
  // Everything else is read-only for the service.
  const writable = `[Service]\nReadWritePaths="-${dataDir.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`;
  const isUsual = `${dataDir}/`.startsWith(`${DATA_DIRECTORY}/`);
  const adapted = isUsual ? started : started.replace(/^\[Service\]$/m, () => writable);
  // A program or data in a home directory must be visible.
  return /(?:^| )\/(?:home|root)\//.test(`${command} ${dataDir}`)
    ? adapted.replace(/^ProtectHome=yes$/m, 'ProtectHome=read-only')
    : adapted;
}

/**
 * A value in quotes that systemd (systemd.exec(5), EnvironmentFile), `parseEnv` of Node.js and a shell read alike.
 * @throws CommandError when there are none
 */
export function quoted(value: string): string {
  if (/^[\w.:/@,+-]*$/.test(value)) return value;
  if (/\p{Cc}/u.test(value)) throw new CommandError('a control character does not go into a file of settings');
  if (!value.includes("'")) return `'${value}'`;
  const other = /["\\$`]/.exec(value)?.[0];
  if (other === undefined) return `"${value}"`;
  throw new CommandError(`' and ${other} do not go together into a file of settings: write %27 for ' in a URL`);
}

function settingLine([name, value]: readonly [string, string]): string {
  try {
    return `${name}=${quoted(value)}\n`;
  } catch (error) {
    throw new CommandError(`${name}: ${(error as Error).message}`);
  }
}

/** `owner`: the user of Mansio, where it exists on this machine. */
export function writeFiles(
  planned: readonly PlannedFile[],
  prefix: string,
  owner: SystemUser | undefined,
): readonly WrittenFile[] {
  return planned.map(({ path, mode, content, isShared }) => {
    const target = `${prefix}${path}`;
    if (existsSync(target)) return { path: target, mode, state: 'kept' };
    const directory = dirname(target);
    // Whatever the umask is, the user of Mansio may enter.
    if (mkdirSync(directory, { recursive: true }) !== undefined) chmodSync(directory, 0o755);
    writeWhole(target, content, {
      mode: Number.parseInt(mode, 8),
      owner: isShared && owner !== undefined ? { uid: 0, gid: owner.gid } : undefined,
      temporary: `${target}.new`,
    });
    return { path: target, mode, state: 'written' };
  });
}

/**
 * The settings that the node will have: those of the file that is there, else those of the answers. The data directory is below the prefix.
 * @throws CommandError when the file there has other settings than were asked for, or the run would not do what it says
 */
export function effectiveSettings(answers: SetupAnswers): Readonly<Record<string, string | undefined>> {
  const { prefix } = answers;
  const path = `${prefix}${ENV_FILE}`;
  if (!existsSync(path)) return settingsOf(answers, prefix);
  const there = parseEnv(readFileSync(path, 'utf8'));
  const wanted = settingsOf(answers);
  for (const name of ['MANSIO_HOSTNAME', 'DATABASE_URL', 'MANSIO_ACME_EMAIL'])
    if (wanted[name] !== undefined && there[name] !== wanted[name])
      throw new CommandError(
        `${path} has ${name === 'DATABASE_URL' ? 'another DATABASE_URL' : `${name}=${there[name] ?? ''}`}: setup changes no file, so change it there`,
      );
  // The unit starts the node in DATA_DIRECTORY, where a relative path begins.
  const dataDir = resolve(DATA_DIRECTORY, there['MANSIO_DATA_DIR'] || 'data');
  return { ...there, MANSIO_DATA_DIR: `${prefix}${dataDir}` };
}
