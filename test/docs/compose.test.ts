// Tests the compose files and the Dockerfile without Docker: they parse, and their nodes get settings that exist, with values that a node
// accepts, on the ports that are published.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { readConfig } from '../../src/node/config/config.js';
import test from '../support/test.js';

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, object>>;
  readonly networks?: readonly string[] | Readonly<Record<string, object>>;
  readonly healthcheck?: object;
}

interface Composition {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly networks?: object;
}

const FILES = ['docker-compose.yml', 'deploy/compose.yml'];
/** What an operator enters; the other variables have defaults. */
const ENTERED: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'secret1',
  MAIL_HOSTNAME: 'mail.example.org',
  MAIL_DOMAINS: 'example.org,example.net',
  ACME_EMAIL: 'ann@example.org',
};

/** As Compose does: `${NAME}`, `${NAME:-default}` and `${NAME:?what is missing}`. */
function interpolated(text: string): string {
  return text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, mark?: string, rest = '') => {
    const value = ENTERED[name] ?? (mark === '-' ? rest : undefined);
    if (value === undefined) throw new Error(`${name} has no value and no default`);
    return value;
  });
}

/** Compose reads the file first, so an empty value stays a text. */
function resolved(value: unknown): unknown {
  if (typeof value === 'string') return interpolated(value);
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolved(member)]));
}

const compositions = FILES.map((file) => {
  const composition = resolved(parse(readFileSync(file, 'utf8'), { merge: true })) as Composition;
  return { file, composition, services: Object.entries(composition.services) };
});
const isNode = ({ image }: Service) => /^mansio(:|$)/.test(image);
const targetOf = (port: string) => Number(port.split(':').at(-1));

function configOf({ environment = {} }: Service) {
  // The image sets these (Dockerfile).
  const image = { MANSIO_BIND: '0.0.0.0', MANSIO_HTTP_BIND: '0.0.0.0', MANSIO_DATA_DIR: '/data' };
  const own = Object.entries(environment).map(([name, value]) => [name, String(value)]);
  return readConfig({ ...image, ...Object.fromEntries(own) });
}

test('nodes of the compose files have settings that exist, with values that are accepted', (t) => {
  for (const { file, services } of compositions) {
    const nodes = services.filter(([, service]) => isNode(service));
    t.true(nodes.length > 0, file);
    for (const [name, service] of nodes) {
      const config = configOf(service);
      t.deepEqual(config.unknown, [], `${file}: ${name}`);
      t.false(config.demo, `${file}: ${name}`);
      const known = Object.keys(service.environment!).filter(
        (key) => !/^(MANSIO_\w+|DATABASE_URL|NATS_URL)$/.test(key),
      );
      t.deepEqual(known, [], `${file}: ${name}`);
      t.is(new URL(config.databaseUrl!).hostname, 'postgres');
    }
  }
});

test('what the compose files refer to is there', (t) => {
  for (const { file, composition, services } of compositions) {
    const names = Object.keys(composition.services);
    for (const [name, { volumes = [], depends_on = {}, networks = {} }] of services) {
      const where = `${file}: ${name}`;
      for (const volume of volumes) {
        const source = volume.split(':')[0]!;
        if (source.startsWith('.')) t.true(existsSync(join(dirname(file), source)), `${where}: ${source}`);
        else t.true(source in composition.volumes, `${where}: ${source}`);
      }
      for (const other of Object.keys(depends_on)) {
        t.true(names.includes(other), `${where}: ${other}`);
        t.truthy(composition.services[other]!.healthcheck, `${where} waits for the health of ${other}`);
      }
      for (const network of Array.isArray(networks) ? networks : Object.keys(networks))
        t.true(network in composition.networks!, `${where}: ${network}`);
    }
    const { image, command } = composition.services['postgres']!;
    t.is(image, 'postgres:18', file);
    t.notRegex(command!.join(' '), /fsync|full_page_writes|synchronous_commit/, file);
  }
});

test('the ports that deploy/compose.yml publishes are those on which the node listens', (t) => {
  const { mansio } = compositions[1]!.composition.services;
  const config = configOf(mansio!);
  const { mxPort, submissionPort, submissionsPort, imapPort, imapsPort, pop3Port, pop3sPort, httpsPort, acmePort } =
    config;
  const listening = [
    config.sievePort,
    mxPort,
    submissionPort,
    submissionsPort,
    imapPort,
    imapsPort,
    pop3Port,
    pop3sPort,
    httpsPort,
    acmePort,
  ];
  t.deepEqual(mansio!.ports!.map(targetOf).toSorted(), listening.map(Number).toSorted());
  t.deepEqual(
    mansio!.ports!.filter((port) => new Set(port.split(':')).size > 1),
    [],
  );
  t.is(config.httpBind, '127.0.0.1', 'plain HTTP is not open');
});

test('the version of deploy/compose.yml is that of the program, and the image has settings that exist', (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  t.is(compositions[1]!.composition.services['mansio']!.image, `mansio:${version}`);
  const dockerfile = readFileSync('Dockerfile', 'utf8');
  const set = [...dockerfile.matchAll(/\b(MANSIO_\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!] as const);
  t.true(set.length > 2);
  t.deepEqual(readConfig(Object.fromEntries(set)).unknown, []);
  for (const [, path] of dockerfile.matchAll(/^COPY (?!--from)(\S+) /gm)) t.true(existsSync(path!), path);
});
