// Tests the bundled program: it runs with only the packages that stay outside, its errors have the names and positions of the source,
// and it carries the licences of its contents.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort } from '../dev/ports.js';
import { startProgram, whenReady } from '../dev/program.js';
import { temporaryDirectory } from '../dev/temporary-directory.js';
import { indexMessage } from '../src/mail-format/mime-index/indexer.js';
import { bodyParts, readParts } from '../src/message-content/decode/body-parts.js';
import { DecodeThread } from '../src/message-content/decode/thread.js';
import { nodeDatabase } from './support/database/embedded-database.js';
import { bareEnvironment, PROGRAM } from './support/node.js';
import { startCollector } from './support/peers/otlp-collector.js';
import { runProgram } from './support/run-program.js';
import test from './support/test.js';

const BUNDLE = 'dist/program';
const MANIFEST = JSON.parse(readFileSync('package.json', 'utf8'));
const OUTSIDE = ['uWebSockets.js', 'uWebSockets.js-20.51'];
const PORTS = ['HTTP', 'MX', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'POP3', 'POP3S', 'SIEVE'];

/** Creates an installation and returns the path of its program. */
function installation(): string {
  const folder = temporaryDirectory('mansio-bundle-');
  for (const part of ['package.json', 'bin', BUNDLE]) cpSync(part, join(folder, part), { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  for (const name of OUTSIDE) symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
  return join(folder, 'bin/mansio');
}

test('a node runs without packages of JavaScript: certificate, metrics, traces, documents, commands, decoding', async (t) => {
  const program = installation();
  const { url, drop } = await nodeDatabase();
  t.teardown(drop);
  const collector = await startCollector();
  t.teardown(() => collector.close());
  const env = {
    ...bareEnvironment(),
    ...Object.fromEntries(PORTS.map((name) => [`MANSIO_${name}_PORT`, '0'])),
    MANSIO_DATA_DIR: temporaryDirectory('mansio-bundle-data-'),
    MANSIO_METRICS_PORT: String(await freePort()),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    DATABASE_URL: url,
  };
  let said = (_: string) => {};
  const ready = new Promise<string>((resolved) => {
    said = resolved;
  });
  const onLine = (line: string) => line.startsWith('{"event":"ready"') && said(line);
  const node = startProgram({ command: process.execPath, args: ['--', program, 'serve'], env, onLine });
  t.teardown(() => node.kill('SIGKILL'));
  const { listeners } = JSON.parse(await whenReady('the copied node', node, ready));
  for (const path of ['/healthz', '/api/openapi.json', '/api/docs/swagger-ui.css'])
    t.is((await fetch(`http://${listeners.http}${path}`)).status, 200, path);
  t.regex(await (await fetch(`http://${listeners.metrics}/metrics`)).text(), /^mansio_/m);
  const account = await runProgram(
    program,
    ['account', 'create', '--email', 'zoe@example.test', '--name', 'Zoe'],
    '',
    env,
  );
  t.is(account.code, 0, account.output);
  const password = join(env.MANSIO_DATA_DIR, 'password');
  writeFileSync(password, 'secret\n');
  const from = ['--imap', 'imap://zoe@127.0.0.1:1', '--password-file', password];
  const imported = await runProgram(program, ['import', '--account', 'zoe@example.test', ...from], '', env);
  t.regex(imported.output, /ECONNREFUSED/);
  t.deepEqual(await node.kill('SIGTERM'), { code: 0, signal: null });
  t.true(collector.spans.length > 0);

  const module = pathToFileURL(join(program, `../../${BUNDLE}/worker.js`));
  const thread = new DecodeThread({ heapMb: 128, startMs: 120_000, module });
  t.teardown(() => thread.close());
  const raw = Buffer.concat([
    Buffer.from('Content-Type: text/html; charset=shift_jis\r\n\r\n<p>'),
    Buffer.from([0x93, 0xfa, 0x96, 0x7b]),
  ]);
  const index = { ...indexMessage(raw), textSections: ['1'] };
  const parts = await readParts(index, bodyParts(index), 1000, async () => [raw.subarray(raw.indexOf('<'))], undefined);
  const job = { parts, limit: 1000, withMailparser: true };
  t.like(await thread.run(job, { ms: 60_000, movesOctets: false }), { text: '日本', html: '<p>日本' });
});

/** Returns the code of the files of the bundle that have something of a source, by the path of the source. */
function modules(): ReadonlyMap<string, string> {
  const modules = new Map<string, string>();
  for (const file of readdirSync(BUNDLE).filter((name) => name.endsWith('.js'))) {
    const code = readFileSync(join(BUNDLE, file), 'utf8');
    const { sources } = JSON.parse(readFileSync(join(BUNDLE, `${file}.map`), 'utf8')) as { readonly sources: string[] };
    for (const path of sources) {
      const source = relative('.', resolve(BUNDLE, path));
      modules.set(source, `${modules.get(source) ?? ''}${code}`);
    }
  }
  return modules;
}

test('errors have the names of the source, which the log shows', (t) => {
  const declared = [...modules()].flatMap(([source, code]) => {
    // Packages may name sources of theirs that they do not have.
    if (!source.startsWith('src/') || !existsSync(source)) return [];
    const classes = /^\s*(?:export )?(?:abstract )?class (\w+)(?:<[^{]*?>)? extends (\w+)/gm;
    const names = [...readFileSync(source, 'utf8').matchAll(classes)].map(([, name, base]) => ({ name, base }));
    return names.map(({ name, base }) => ({ source, code, name: name!, base: base! }));
  });
  const errors = new Set(['Error']);
  for (let size = 0; size !== errors.size; ) {
    size = errors.size;
    for (const { name, base } of declared) if (errors.has(base)) errors.add(name);
  }
  const ofErrors = declared.filter(({ name }) => errors.has(name));
  t.true(ofErrors.length > 40, String(ofErrors.length));
  const renamed = ofErrors.filter(
    ({ name, code }) => !new RegExp(`\\b(?:${name}=class|class ${name}) extends`).test(code),
  );
  t.deepEqual(
    renamed.map(({ source, name }) => `${source}: ${name}`),
    [],
  );
});

test('a stack names the file and the line of the source', async (t) => {
  const sabotage = `process.stdout.write = () => { throw new Error('sabotage') }`;
  const preload = `--import=data:text/javascript,${encodeURIComponent(sabotage)}`;
  const { code, output } = await runProgram(PROGRAM, ['config'], '', { ...bareEnvironment(), NODE_OPTIONS: preload });
  t.is(code, 1);
  const [, file, line] =
    /^mansio: Error: sabotage\n.*\n? {4}at [^\n]*\((\/[^\n]*\/src\/cli\/[a-z-]+\.ts):(\d+):\d+\)/m.exec(output) ?? [];
  t.truthy(file, output);
  t.regex(readFileSync(file!, 'utf8').split('\n')[Number(line) - 1]!, /stdout\.write\(/);
});

test('the licences of all packages in the bundle are beside it', (t) => {
  const text = readFileSync(join(BUNDLE, 'THIRD-PARTY-LICENSES'), 'utf8');
  const [, ...entries] = text.split(/\n\n-{80}\n\n|^The program [^\n]*\n\n/);
  const named = new Map(entries.map((entry) => [entry.slice(0, entry.indexOf(' ')), entry]));
  const folders = [...modules().keys()].flatMap(
    (source) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(source)?.[0] ?? [],
  );
  // Maps of packages may name folders that nobody has.
  const packages = [...new Set(folders)].filter((folder) => existsSync(join(folder, 'package.json')));
  t.true(packages.length > 80);
  for (const folder of packages) {
    const { name, license, homepage, repository } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const entry = named.get(name) ?? '';
    t.true(entry.includes(license), folder);
    // A package without a licence text names its source.
    const source = homepage ?? repository?.url ?? repository;
    t.true(entry.length > 500 || (source !== undefined && entry.includes(source)), entry);
  }
  // Every dependency of package.json is in the bundle, or stays outside.
  for (const name of Object.keys(MANIFEST.dependencies)) t.not(named.has(name), OUTSIDE.includes(name), name);
});
