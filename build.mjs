// Compiles src, dev, test and bench to dist/, whose modules tests import, and bundles the program, which they start (bundle.mjs). Compiles
// the client for browsers to dist/client, with its types.
// Puts the SQL migrations and the files of Swagger UI beside the code that reads them, so that its package, which reports
// installations to a third party, is no dependency of what runs. The new dist takes the place of the old at once, so a node or a test
// run that loads something late still finds it. When nothing has changed since the last build, it stays; otherwise the compiler
// compiles what has changed (`compiled` is its record of the rest), the page is built when web or the client in src has changed, and the
// program is bundled when src has changed. The driver of PostgreSQL is patched.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import nodeVersion from './bin/node-version.js';

const hasCompiler = existsSync('node_modules/.bin/tsc');
// After `npm ci --omit=dev` what was built before is what runs.
const unready =
  hasCompiler || existsSync('dist/program/main.js')
    ? undefined
    : 'there is no dist/ and no compiler to make it: run "npm ci" with development packages, or install the package that "npm run package" makes';
const outdated =
  hasCompiler && !existsSync('node_modules/esbuild')
    ? 'packages that the build needs are missing: run "npm ci"'
    : undefined;
const problem = nodeVersion.nodeVersionProblem(process.versions.node) ?? unready ?? outdated;
if (problem !== undefined) {
  process.stderr.write(`mansio: ${problem}\n`);
  process.exit(1);
}
if (!hasCompiler) process.exit();

const SETTINGS = ['build.mjs', 'bundle.mjs', 'package.json', 'package-lock.json', 'tsconfig.json'];
const made = fingerprint(['bench', 'dev', 'src', 'test', 'web']);
if (existsSync('dist/made-from') && readFileSync('dist/made-from', 'utf8') === made) process.exit();

const migrations = 'src/store/postgres/migrations';
const fresh = 'dist.new';
const record = `${fresh}/compiled`;
rmSync(fresh, { recursive: true, force: true });
// What a killed build has left of a dist has its record, and not all that the record names.
if (existsSync('dist/made-from') && existsSync('dist/compiled')) {
  cpSync('dist', fresh, { recursive: true, preserveTimestamps: true });
  removeOutdated();
}
cpSync(migrations, `${fresh}/${migrations}`, { recursive: true });
for (const file of [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'favicon-32x32.png',
  'swagger-ui-bundle.js.LICENSE.txt',
  'LICENSE',
  'NOTICE',
]) {
  cpSync(`node_modules/swagger-ui-dist/${file}`, `${fresh}/src/gateways/http/routes/swagger-ui/${file}`);
}
patchDriver();
compile('-p', '.', '--outDir', fresh, '--incremental', '--tsBuildInfoFile', record);
await whenChanged('client', ['src/client'], () => {
  rmSync(`${fresh}/client`, { recursive: true, force: true });
  if (!existsSync('src/client')) return;
  compile('-p', 'src/client', '--outDir', `${fresh}/client`);
  // Bundlers of pages leave out what a page does not use.
  writeFileSync(`${fresh}/client/package.json`, '{ "type": "module", "sideEffects": false }\n');
});
await whenChanged('page', ['src/client', 'web'], async () => {
  compile('-p', 'web');
  compile('-p', 'web/worker');
  const { buildWeb } = await import('./web/build.mjs');
  await buildWeb(fresh);
});
await whenChanged('program', ['src'], async () => {
  rmSync(`${fresh}/program`, { recursive: true, force: true });
  const { bundle } = await import('./bundle.mjs');
  await bundle(fresh);
});
// The code that serves the page is in the program.
rmSync(`${fresh}/program/web`, { recursive: true, force: true });
cpSync(`${fresh}/web/page`, `${fresh}/program/web`, { recursive: true });
writeFileSync(`${fresh}/made-from`, made);
// First: what is left of the old one when this process is killed has not been made from anything.
rmSync('dist/made-from', { force: true });
rmSync('dist', { recursive: true, force: true });
renameSync(fresh, 'dist');

function compile(...args) {
  const { status } = spawnSync('node_modules/.bin/tsc', args, { stdio: 'inherit' });
  if (status === 0) return;
  rmSync(fresh, { recursive: true, force: true });
  process.exit(status ?? 1);
}

/** Makes a part of dist when the files in these folders are not those that it was made from. */
async function whenChanged(part, folders, make) {
  const partRecord = `${fresh}/${part}-made-from`;
  const partMade = fingerprint(folders);
  if (existsSync(partRecord) && readFileSync(partRecord, 'utf8') === partMade) return;
  await make();
  writeFileSync(partRecord, partMade);
}

/** Of every file that is read; the lock file stands for the packages. */
function fingerprint(folders) {
  const hash = createHash('sha256');
  const files = [...SETTINGS];
  for (const folder of folders.filter((name) => existsSync(name))) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) files.push(join(entry.parentPath, entry.name));
    }
  }
  for (const file of files.sort()) {
    const content = readFileSync(file);
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/** Removes what was compiled from files that are gone, and migrations, which are copied again. */
function removeOutdated() {
  rmSync(`${fresh}/${migrations}`, { recursive: true, force: true });
  for (const entry of readdirSync(fresh, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const source = /^(.*)\.(?:js|d\.ts|js\.map)$/.exec(path.slice(fresh.length + 1))?.[1];
    const isCopied = ['/swagger-ui/', `${fresh}/client/`, '/program/', '/web/page/', '/node_modules/'].some((folder) =>
      path.includes(folder),
    );
    if (entry.isFile() && source !== undefined && !isCopied && !existsSync(`${source}.ts`)) rmSync(path);
  }
}

/**
 * Gives dist a driver of PostgreSQL that survives errors and connections which close (docs/decisions/0083). What it was about to write must
 * not stay in front of the greeting of the next connection; nobody else catches the error of its query of types; a COPY that the server
 * refuses after the last octets must end; and a transaction needs its connection for itself however full the socket is.
 */
function patchDriver() {
  const driver = `${fresh}/node_modules/postgres`;
  rmSync(driver, { recursive: true, force: true });
  cpSync('node_modules/postgres', driver, { recursive: true });
  const file = `${driver}/src/connection.js`;
  let text = readFileSync(file, 'utf8');
  for (const [old, mended] of [
    [
      'socket.removeAllListeners()\n    socket = null\n',
      'socket.removeAllListeners()\n    socket = chunk = nextWriteTimer = null\n',
    ],
    ['`], [], execute)\n    types.forEach', '`], [], execute).catch(() => [])\n    types.forEach'],
    [
      'stream && (stream.destroy(err), stream = null)\n',
      'stream && (stream.destroy(err), stream = null)\n    final && (final(err), final = null)\n',
    ],
    ['return write(toBuffer(q))\n', 'const isReady = write(toBuffer(q))\n'],
    [
      '&& (!q.options.onexecute || q.options.onexecute(connection))\n',
      '\n      return q.options.onexecute ? void q.options.onexecute(connection) : isReady\n',
    ],
  ]) {
    const parts = text.split(old);
    if (parts.length !== 2) throw new Error(`${file} is not the version that is patched here`);
    text = parts.join(mended);
  }
  writeFileSync(file, text);
}
