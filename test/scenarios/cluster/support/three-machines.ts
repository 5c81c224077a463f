// The three machines of docs/go-live.md, part 2, on this one: etcd, Patroni with PostgreSQL, NATS, HAProxy and a node each, with the files of
// deploy/three-machines, where only addresses, ports and folders are others. A machine loses its power, hangs, and comes back.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { ExecutionContext } from 'ava';
import { requireProgram } from '../../../../dev/executables.js';
import { type NodeProcess, startNodeProcess, UNLIMITED } from '../../../../dev/node-process.js';
import { freePorts, listening } from '../../../../dev/ports.js';
import { type Program, startProgram, whenReady } from '../../../../dev/program.js';
import { temporaryDirectory } from '../../../../dev/temporary-directory.js';
import { databaseUser } from '../../../../src/store/embedded/database-user.js';
import { processesAt } from '../../../../src/store/local/process-identity.js';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { giveCertificate } from '../../../support/database/prepared-cluster.js';
import { runProgram } from '../../../support/run-program.js';
import { eventually } from './eventually.js';
import type { Target } from './load.js';

const FILES = 'deploy/three-machines';
const POSTGRES = '/usr/lib/postgresql';
const NUMBERS = [1, 2, 3] as const;
/** The ports of the files, and those where clients reach HAProxy. */
const PORTS = [
  2379, 2380, 4222, 6222, 8008, 5432, 5000, 8080, 8443, 2080, 2525, 2587, 2465, 2143, 2993, 2110, 2995, 2190,
];
const FRONTS = [25, 587, 465, 143, 993, 110, 995, 4190, 443, 80];
/** Three PostgreSQL servers are made, on a machine that is busy with other tests. */
const READY_MS = 180_000;

export interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

/** The version whose programs Patroni needs; the embedded PostgreSQL lacks some of them. */
export function postgresVersion(): string | undefined {
  try {
    const versions = readdirSync(POSTGRES).sort((a, b) => Number(b) - Number(a));
    return versions.find((version) => existsSync(join(POSTGRES, version, 'bin/pg_rewind')));
  } catch {
    return undefined;
  }
}

export class Machine {
  readonly name: string;
  /** Where the files are that stand below / on a machine of its own. */
  readonly directory: string;
  readonly #portOf: PortOf;
  readonly #user = databaseUser('/nowhere');
  #programs: Program[] = [];
  #node: NodeProcess | undefined;
  #isPaused = false;

  constructor(number: number, secrets: string, portOf: PortOf) {
    this.name = `node-${number}`;
    this.#portOf = portOf;
    this.directory = temporaryDirectory('mansio-machine-');
    execFileSync('sh', [`${FILES}/install.sh`, secretsOf(secrets, number), this.directory], { stdio: 'pipe' });
    for (const folder of ['etcd', 'run']) mkdirSync(join(this.directory, folder), { mode: 0o700 });
    for (const path of CONFIGURATIONS) this.#rewrite(path, this.#onLoopback(this.#read(path), number));
    execFileSync('chmod', ['600', join(this.directory, 'etc/ssl/private/mansio-node.key')]);
    if (this.#user !== undefined) execFileSync('chown', ['-R', `${this.#user.uid}:${this.#user.gid}`, this.directory]);
  }

  get node(): NodeProcess {
    if (this.#node === undefined) throw new Error(`${this.name} was not started`);
    return this.#node;
  }

  get isUp(): boolean {
    return this.#programs.length > 0 && !this.#isPaused;
  }

  get logs(): readonly string[] {
    return this.#programs.flatMap(({ logs }) => logs.slice(-40)).concat(this.#node?.logs.slice(-60) ?? []);
  }

  /** Leads to the primary, as for the node; without verification of the certificate. */
  get databaseUrl(): string {
    return this.#settings()['DATABASE_URL']!.replace('verify-full', 'require');
  }

  get config(): string {
    return join(this.directory, 'etc/patroni/config.yml');
  }

  get front(): Target {
    const at = (port: number) => `127.0.0.1:${this.#portOf(this.name, port)}`;
    return { name: this.name, http: `https://${at(443)}`, mx: at(25), imap: at(143), submission: at(587) };
  }

  get rest(): string {
    return `https://127.0.0.1:${this.#portOf(this.name, 8008)}`;
  }

  /** Starts every program. Resolves when the node serves. */
  async start(): Promise<void> {
    await this.startServers();
    await this.startNode();
  }

  async startServers(): Promise<void> {
    const path = process.env['PATH'] ?? '';
    const etcd = parseEnv(this.#read('etc/default/etcd')) as Record<string, string>;
    const run = (name: string, args: readonly string[], env = {}) => {
      const program = startProgram({ command: requireProgram(name), args, env: { PATH: path, ...env } });
      this.#programs.push(program);
      return program;
    };
    run('etcd', [], etcd);
    run('nats-server', ['-c', join(this.directory, 'etc/nats-server.conf')]);
    const haproxy = run('haproxy', ['-db', '-f', join(this.directory, 'etc/haproxy/haproxy.cfg')]);
    const environment = { LC_ALL: 'C.UTF-8', HOME: this.directory, PYTHONUNBUFFERED: '1' };
    if (this.#user === undefined) run('patroni', [this.config], environment);
    else {
      const { uid, gid } = this.#user;
      const as = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', requireProgram('patroni'), this.config];
      run('setpriv', as, environment);
    }
    await whenReady(`HAProxy of ${this.name}`, haproxy, listening(this.#portOf(this.name, 5000)));
  }

  /** The node starts when the database has a primary. */
  async startNode(): Promise<void> {
    const dataDir = join(this.directory, 'mansio');
    await giveCertificate(dataDir);
    const settings = { ...this.#settings(), ...UNLIMITED, MANSIO_DATA_DIR: dataDir };
    this.#node = await startNodeProcess(settings, (program) => this.#programs.push(program));
  }

  /** Every process gets SIGKILL. */
  async cutPower(): Promise<void> {
    const ending = this.#programs.map((program) => program.kill('SIGKILL'));
    this.#signalPostgres('SIGKILL');
    this.#programs = [];
    this.#isPaused = false;
    await Promise.all(ending);
    // Patroni may have started it again in that moment.
    this.#signalPostgres('SIGKILL');
  }

  /** Every process gets SIGSTOP. */
  pause(): void {
    this.#isPaused = true;
    this.#signalAll('SIGSTOP');
  }

  resume(): void {
    this.#isPaused = false;
    this.#signalAll('SIGCONT');
  }

  killPostgres(): void {
    this.#signalPostgres('SIGKILL');
  }

  #signalAll(signal: 'SIGSTOP' | 'SIGCONT'): void {
    for (const program of this.#programs) program.signal(signal);
    this.#signalPostgres(signal);
  }

  #signalPostgres(signal: NodeJS.Signals): void {
    for (const pid of processesAt(join(this.directory, 'postgres'))) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended by itself.
      }
    }
  }

  #settings(): Record<string, string> {
    const settings = parseEnv(this.#read('etc/mansio/mansio.env')) as Record<string, string>;
    const own = Object.entries(settings).filter(([name]) => !name.startsWith('MANSIO_ACME_'));
    return {
      ...Object.fromEntries(
        own.map(([name, value]) => [
          name,
          /^MANSIO_\w+_PORT$/.test(name) ? `${this.#portOf(this.name, Number(value))}` : value,
        ]),
      ),
      MANSIO_HOSTED_DOMAINS: 'example.test',
      MANSIO_ALLOW_PLAINTEXT_AUTH: 'true',
    };
  }

  #read(path: string): string {
    return readFileSync(join(this.directory, path), 'utf8');
  }

  #rewrite(path: string, text: string): void {
    writeFileSync(join(this.directory, path), text);
  }

  /** Every server is at 127.0.0.1, at a port of its own. */
  #onLoopback(text: string, number: number): string {
    const own = `node-${number}`;
    return text
      .replaceAll(
        /(node-\d)(:\d+) port (\d+)/g,
        (_, name, port, check) => `${name}${port} port ${this.#portOf(name, +check)}`,
      )
      .replaceAll(/bind :(\d+)/g, (_, port) => `bind 127.0.0.1:${this.#portOf(own, +port)}`)
      .replaceAll(/\b(127\.0\.0\.1|localhost):(\d{4})\b/g, (all, host, port) =>
        PORTS.includes(+port) ? `${host}:${this.#portOf(own, +port)}` : all,
      )
      .replaceAll(/\b(node-\d):(\d+)/g, (_, name, port) => `127.0.0.1:${this.#portOf(name, +port)}`)
      .replaceAll('/etc/ssl/', `${this.directory}/etc/ssl/`)
      .replaceAll('/var/lib/etcd/mansio', `${this.directory}/etcd`)
      .replaceAll('/var/run/postgresql', `${this.directory}/run`)
      .replaceAll('/var/lib/postgresql/.patroni-pgpass', `${this.directory}/pgpass`)
      .replaceAll(/\/var\/lib\/postgresql\/\d+\/mansio/g, `${this.directory}/postgres`)
      .replace('local all postgres peer', 'local all postgres trust')
      .replace('maxconn 20000', 'maxconn 500')
      .replace('log /dev/log local0', 'log stdout format raw local0')
      .replace(/^ {2}(user|group) haproxy\n/gm, '');
  }
}

const SECRETS = {
  POSTGRES_PASSWORD: 'one1',
  REPLICATION_PASSWORD: 'two2',
  DATABASE_PASSWORD: 'three3',
  NATS_PASSWORD: 'four4',
} as const;

type PortOf = (name: string, port: number) => number;

const CONFIGURATIONS = [
  'etc/default/etcd',
  'etc/patroni/config.yml',
  'etc/nats-server.conf',
  'etc/haproxy/haproxy.cfg',
  'etc/mansio/mansio.env',
];

/** A folder as `install.sh` wants it. */
function secretsOf(directory: string, number: number): string {
  const values: Record<string, string> = {
    NODE: `node-${number}`,
    ...Object.fromEntries(NUMBERS.map((each) => [`ADDRESS_${each}`, '127.0.0.1'])),
    NETWORK: '127.0.0.1/32',
    POSTGRES: postgresVersion() ?? '15',
    ...SECRETS,
  };
  const lines = readFileSync(`${FILES}/cluster.env`, 'utf8').split('\n');
  const filled = lines.map((line) => {
    const [name = ''] = line.split('=');
    return values[name] === undefined ? line : `${name}=${values[name]}`;
  });
  writeFileSync(join(directory, 'cluster.env'), filled.join('\n'));
  return directory;
}

export class ThreeMachines {
  readonly all: readonly Machine[];

  constructor(all: readonly Machine[]) {
    this.all = all;
  }

  get up(): readonly Machine[] {
    return this.all.filter(({ isUp }) => isUp);
  }

  /** What Patroni says, at a machine that is up. */
  async members(): Promise<readonly Member[]> {
    const response = await fetch(`${this.up[0]!.rest}/cluster`, { signal: AbortSignal.timeout(5_000) });
    return ((await response.json()) as { members: Member[] }).members;
  }

  primary(): Promise<Machine> {
    return this.#inRole('leader');
  }

  /** The standby that commits wait for. */
  synchronousStandby(): Promise<Machine> {
    return this.#inRole('sync_standby');
  }

  async #inRole(role: 'leader' | 'sync_standby'): Promise<Machine> {
    const found = await eventually(`a member in the role ${role}`, async () =>
      (await this.members()).find((member) => member.role === role && /^(running|streaming)$/.test(member.state)),
    );
    return this.all.find(({ name }) => name === found?.name)!;
  }

  /** Resolves when one member is the primary, one its synchronous standby, and all run. */
  async settled(): Promise<void> {
    let seen: readonly Member[] = [];
    const isSettled = async () => {
      seen = await this.members();
      const count = (role: string) => seen.filter((member) => member.role === role).length;
      const all = seen.length === this.all.length && seen.every(({ state }) => /^(running|streaming)$/.test(state));
      return all && count('leader') === 1 && count('sync_standby') === 1;
    };
    await eventually('the members of Patroni', isSettled, READY_MS).catch((error: Error) => {
      throw new Error(`${error.message} ${JSON.stringify(seen)}`);
    });
  }

  /** Another member becomes the primary, as planned. */
  async switchover(): Promise<void> {
    const args = ['-c', this.up[0]!.config, 'switchover', '--force'];
    const { code, output } = await runProgram(requireProgram('patronictl'), args);
    if (code !== 0) throw new Error(`patronictl: ${output}`);
  }
}

/** The ports of all machines, by the names and ports of the files. */
async function portsOfMachines(): Promise<PortOf> {
  const wanted = NUMBERS.flatMap((number) => [...PORTS, ...FRONTS].map((port) => `node-${number}:${port}`));
  const free = await freePorts(wanted.length);
  const ports = new Map(wanted.map((key, i) => [key, free[i]!]));
  return (name, port) => {
    const found = ports.get(`${name}:${port}`);
    if (found === undefined) throw new Error(`the files name port ${port} of ${name}, which the test does not know`);
    return found;
  };
}

/** Makes the certificates and the files of the machines, and starts nothing. */
export async function installThreeMachines(): Promise<readonly Machine[]> {
  const secrets = temporaryDirectory('mansio-secrets-');
  const options = { cwd: secrets, stdio: 'pipe' } as const;
  execFileSync('sh', [join(process.cwd(), FILES, 'certificates.sh'), ...NUMBERS.map(() => '127.0.0.1')], options);
  const portOf = await portsOfMachines();
  return NUMBERS.map((number) => new Machine(number, secrets, portOf));
}

/** Starts the machines, with a role and a database for the nodes, and the nodes. */
export async function startThreeMachines(t: ExecutionContext): Promise<ThreeMachines> {
  const machines = await installThreeMachines();
  t.teardown(async () => {
    if (!t.passed) for (const { name, logs } of machines) t.log(`${name}:\n${logs.join('\n')}`);
    await Promise.all(machines.map((machine) => machine.cutPower()));
  });
  const three = new ThreeMachines(machines);
  await Promise.all(machines.map((machine) => machine.startServers()));
  await three.settled();
  const superuser = machines[0]!.databaseUrl.replace(/mansio:[^@]*@/, `postgres:${SECRETS.POSTGRES_PASSWORD}@`);
  const sql = connect({ url: superuser.replace('/mansio?', '/postgres?') }, { max: 1, applicationName: 'test' });
  try {
    await sql.unsafe(`create role mansio login password '${SECRETS.DATABASE_PASSWORD}'`);
    await sql.unsafe('create database mansio owner mansio');
  } finally {
    await sql.end();
  }
  // The first node makes the schema; the others would only wait for it.
  const [first, ...others] = machines;
  await first!.startNode();
  await Promise.all(others.map((machine) => machine.startNode()));
  return three;
}
