// `npm run package`: one file, mansio-VERSION.tgz, for `npm i -g`. It holds the compiled program and the packages that it needs, in the
// versions of the lock file. Native programs (HTTP server, PostgreSQL) come with it as packages of their platform, ready to run, so
// nothing is compiled. npm obeys `overrides` of a root alone and ranges of everybody else: so the packages are bundled, and each
// names as its dependencies what stands beside it.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly files: readonly string[];
  readonly dependencies?: Versions;
  readonly [field: string]: unknown;
}

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What only compilers and readers of packages need. */
const NOT_FOR_RUNNING = /\.(?:map|d\.[cm]?ts)$/;
/** The same code once more, for bundlers: Node.js takes none of these. */
const FOR_BUNDLERS = /@opentelemetry\/[^/]+\/build\/esnext$|node_modules\/rxjs\/(?:src|dist\/(?:bundles|esm5))$/;
/** Fields of the manifest that belong to a clone. */
const OF_CLONE = ['scripts', 'devDependencies', 'overrides', 'allowScripts', 'scarfSettings', 'private'];

const json = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;
const write = (path: string, value: unknown) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

/** The path of the file, which is put into `destination`. */
function makePackage(destination: string): string {
  const stage = mkdtempSync(join(tmpdir(), 'mansio-package-'));
  try {
    const manifest = json<Manifest>(join(ROOT, 'package.json'));
    const { packages } = json<{ packages: Readonly<Record<string, Locked>> }>(join(ROOT, 'package-lock.json'));
    // Those with programs for a platform are fetched where they are installed.
    const native = new Set(
      Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith('uWebSockets.js')),
    );
    const bundled = Object.entries(packages).filter(
      ([path, { dev, optional, devOptional }]) =>
        path !== '' && !dev && !optional && !devOptional && !native.has(path.split('/')[1]!),
    );
    for (const file of manifest.files) copy(join(ROOT, file), join(stage, file));
    for (const [path] of bundled) copy(join(ROOT, path), join(stage, path));
    for (const [path] of bundled) nameWhatIsThere(join(stage, path, 'package.json'), path, packages);
    writeManifest(stage, manifest, packages, native);
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', resolve(destination)];
    const [made] = JSON.parse(execFileSync('npm', args, { cwd: stage, encoding: 'utf8' })) as { filename: string }[];
    return join(destination, made!.filename);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function writeManifest(
  stage: string,
  manifest: Manifest,
  packages: Readonly<Record<string, Locked>>,
  native: ReadonlySet<string>,
) {
  const kept = Object.fromEntries(Object.entries(manifest).filter(([field]) => !OF_CLONE.includes(field)));
  const names = Object.keys(manifest.dependencies ?? {});
  const exact = names.map((name) => [
    name,
    native.has(name) ? manifest.dependencies![name] : packages[`node_modules/${name}`]!.version,
  ]);
  write(join(stage, 'package.json'), {
    ...kept,
    dependencies: Object.fromEntries(exact),
    bundleDependencies: names.filter((name) => !native.has(name)),
  });
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  // Packages within a package are copied by themselves.
  const filter = (path: string) =>
    !NOT_FOR_RUNNING.test(path) &&
    !FOR_BUNDLERS.test(path) &&
    !relative(from, path).split('/').includes('node_modules');
  cpSync(from, to, { recursive: true, filter });
}

/** An override has no effect on a package that is installed as another's dependency: it becomes what the manifest says. */
function nameWhatIsThere(file: string, path: string, packages: Readonly<Record<string, Locked>>): void {
  const manifest = json<Manifest>(file);
  const dependencies = Object.keys(manifest.dependencies ?? {}).flatMap((name) => {
    const version = versionFrom(path, name, packages);
    return version === undefined ? [] : [[name, version]];
  });
  write(file, { ...manifest, dependencies: Object.fromEntries(dependencies) });
}

/** As Node.js finds it: in the package, else in the folders above. */
function versionFrom(path: string, name: string, packages: Readonly<Record<string, Locked>>): string | undefined {
  let folder = `${path}/`;
  for (;;) {
    const found = packages[`${folder}node_modules/${name}`];
    if (found !== undefined || folder === '') return found?.version;
    folder = folder.slice(0, folder.lastIndexOf('node_modules/'));
  }
}

process.stdout.write(`${makePackage(process.argv[2] ?? '.')}\n`);
