// `npm run package` makes one file, mansio-VERSION.tgz, for `npm i -g`. It holds the bundled program, which contains the code of the
// packages that it needs, in the versions of the lock file. Native programs (HTTP server, PostgreSQL) are installed as prebuilt packages of
// the platform, so nothing is compiled; these packages are its only dependencies.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Manifest {
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The packages of `mansio/client`: who uses it installs them, and a server needs them not. */
const OF_CLIENT = ['@microsoft/signalr', 'rxjs'];
/** Fields of the manifest that only a clone needs. */
const OF_CLONE = ['scripts', 'devDependencies', 'overrides', 'allowScripts', 'scarfSettings', 'private'];

/** Returns the path of the file, which is put into `destination`. */
async function makePackage(destination: string): Promise<string> {
  const { EXTERNAL } = (await import(`${ROOT}/bundle.mjs`)) as { readonly EXTERNAL: readonly string[] };
  const stage = mkdtempSync(join(tmpdir(), 'mansio-package-'));
  try {
    const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const file of manifest.files) cpSync(join(ROOT, file), join(stage, file), { recursive: true });
    const kept = Object.entries(manifest).filter(([field]) => !OF_CLONE.includes(field));
    const dependencies = Object.fromEntries(EXTERNAL.map((name) => [name, manifest.dependencies[name]]));
    const known = { ...manifest.devDependencies, ...manifest.dependencies };
    const peerDependencies = Object.fromEntries(OF_CLIENT.map((name) => [name, known[name]]));
    const peerDependenciesMeta = Object.fromEntries(OF_CLIENT.map((name) => [name, { optional: true }]));
    const packed = { ...Object.fromEntries(kept), dependencies, peerDependencies, peerDependenciesMeta };
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`);
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', resolve(destination)];
    const [made] = JSON.parse(execFileSync('npm', args, { cwd: stage, encoding: 'utf8' })) as { filename: string }[];
    return join(destination, made!.filename);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

process.stdout.write(`${await makePackage(process.argv[2] ?? '.')}\n`);
