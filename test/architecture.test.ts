// Tests which folder may import which (docs/architecture.md, "Layout"): compares all imports of src with one table.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { SAVED_SEQUENCES, SAVED_TABLES, UNSAVED_TABLES } from '../src/store/postgres/backup/saved-tables.js';
import { ONLY_IMPORTER, RULES } from './import-rules.js';
import test from './support/test.js';

const SRC = 'src';
const MOST_FOLDERS = 14;
const MOST_FILES = 30;

/** Tests of the repository as a whole, which belong to no file. */
const WHOLE = ['architecture', 'dependencies'];

/** The driver accepts sockets of these files; its own are not watched. */
const SOCKETS_OF_THE_STORE = /^store\/postgres\/driver\/(watched|secured)-socket\.ts$/;

/** The configuration reads the environment; the other file sets what a library reads there. */
const ENVIRONMENT = ['node/config/config.ts', 'gateways/http/server/uws-environment.ts'];

/** Imports that open no socket, of modules that can. */
const HARMLESS = /^(\{ (BlockList|isIP|BlockList, isIP) \}|type \{ TLSSocket \})$/;

interface Import {
  readonly file: string;
  /** The text of the import before `from`; '' for an import of the whole module. */
  readonly names: string;
  readonly target: string;
  readonly isOwn: boolean;
}

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function read(file: string): string {
  return readFileSync(join(SRC, file), 'utf8');
}

function imports(): Import[] {
  const found: Import[] = [];
  for (const file of files(SRC)) {
    const text = read(file);
    for (const match of text.matchAll(
      /(?:^|\n)\s*(?:import|export)\b(?:([^;'"]*?)from)?\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/g,
    )) {
      const names = match[1]?.trim() ?? '';
      const target = match[2] ?? match[3] ?? '';
      const isOwn = target.startsWith('.');
      const resolved = isOwn ? normalize(join(dirname(file), target)).replace(/\.js$/, '.ts') : target;
      found.push({ file, names, target: resolved, isOwn });
    }
  }
  return found;
}

/** Returns 'smtp-server' for 'smtp-server/lib/x.js'. */
function packageOf(target: string): string {
  const parts = target.split('/');
  return parts.slice(0, target.startsWith('@') ? 2 : 1).join('/');
}

function isAllowed({ file, target, isOwn }: Import): boolean {
  if (!isOwn && (target.startsWith('node:') || target in ONLY_IMPORTER || packageOf(target) in ONLY_IMPORTER))
    return true;
  const rule = RULES.find(([folder]) => file.startsWith(folder));
  if (rule === undefined) return true;
  const own = /^gateways\/[^/]+\//.exec(file)?.[0];
  if (own !== undefined && target.startsWith(own)) return true;
  if (file.startsWith('gateways/') && /^actors\/(\w+\/)+protocol\.ts$/.test(target)) return true;
  return rule[1].some((prefix) => target === prefix || target.startsWith(prefix));
}

test('imports follow the layout', (t) => {
  const broken = imports().filter((found) => !isAllowed(found));
  t.deepEqual(
    broken.map(({ file, target }) => `${file} must not import ${target}`),
    [],
  );
});

test('the client runs in browsers: it imports nothing of the server and no module of Node.js, and no part of the server imports it', (t) => {
  const isOfClient = (file: string) => file.startsWith('client/');
  const broken = imports().filter(
    ({ file, target, isOwn }) =>
      (isOfClient(file) && (target.startsWith('node:') || (isOwn && !isOfClient(target)))) ||
      (!isOfClient(file) && isOwn && isOfClient(target)),
  );
  t.deepEqual(broken, []);
  t.true(imports().some(({ file }) => isOfClient(file)));
});

/** Returns every folder below `root` with the number of its files. */
function folders(root: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) counts.set(entry.parentPath, (counts.get(entry.parentPath) ?? 0) + 1);
  }
  return counts;
}

test('src has few folders, no folder has many files, and src has no file of its own', (t) => {
  const names = readdirSync(SRC, { withFileTypes: true });
  t.true(names.length <= MOST_FOLDERS, `${names.length} folders`);
  t.deepEqual(
    names.filter((entry) => !entry.isDirectory()).map(({ name }) => name),
    [],
  );
  for (const root of [SRC, 'test', 'dev', 'bench', 'web']) {
    const large = [...folders(root)].filter(([, count]) => count > MOST_FILES);
    t.deepEqual(large, []);
  }
});

/**
 * A test of src/a/b.ts is test/a/b.test.ts; further ones are test/a/b.ASPECT.test.ts. Other roots have their tests in test/dev and so on;
 * web/src has them in test/web.
 */
test('the tests mirror src; whole nodes are tested in test/scenarios', (t) => {
  const stray = files('test').filter((name) => {
    const tested = /^(.+?)(?:\.[\w-]+)?\.test\.ts$/.exec(name.split(sep).join('/'))?.[1];
    if (tested === undefined || WHOLE.includes(tested) || /^(scenarios|docs)\//.test(tested)) return false;
    const ofPage = tested.replace(/^web\//, 'web/src/');
    const places = [`${SRC}/${tested}`, `test/${tested}`, ofPage, tested];
    return !places.some((place) => ['ts', 'tsx', 'js', 'mjs'].some((ending) => existsSync(`${place}.${ending}`)));
  });
  t.deepEqual(stray, []);
});

/** Packages that are part of the page. */
const PAGE_PACKAGES =
  /^(?:preact(?:\/[\w-]+)?|@preact\/signals|rxjs|dompurify|ical\.js|squire-rte|@simplewebauthn\/browser|lean-qr|\.\/[\w-]+\.svg\?raw)$/;

test('the page imports its own files, the client and few packages; only the client talks to the network', (t) => {
  const broken: string[] = [];
  for (const name of readdirSync('web/src', { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(name)) continue;
    const text = readFileSync(join('web/src', name), 'utf8');
    const imported = /^(?:import|export)\s[^'";=]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'/gm;
    for (const [, from, whole, lazy] of text.matchAll(imported)) {
      const target = from ?? whole ?? lazy ?? '';
      const path = normalize(join('web/src', dirname(name), target));
      const isOwn = target.startsWith('.') && /^(?:web\/src|src\/client)\//.test(path);
      if (!isOwn && !PAGE_PACKAGES.test(target)) broken.push(`web/src/${name} must not import ${target}`);
    }
    const asks = /\b(?:fetch\(|new (?:XMLHttpRequest|WebSocket|EventSource)\b|navigator\.sendBeacon)/;
    // The client of the page fetches with that file, which tells how much of a file has been sent.
    if (asks.test(text) && name !== 'compose/upload-progress.ts') broken.push(`web/src/${name} talks to the network`);
    if (/\bcreateClient\(/.test(text) && !/^(?:app\/|main\.tsx$)/.test(name))
      broken.push(`web/src/${name} makes a client`);
  }
  t.deepEqual(broken, []);
});

test('what runs the tests and benchmarks imports none of them', (t) => {
  const found = ['dev', 'bench'].flatMap((folder) =>
    files(folder)
      .filter((name) => /(?:from|import\() ?'(?:\.\.\/)+test\//.test(readFileSync(join(folder, name), 'utf8')))
      .map((name) => `${folder}/${name}`),
  );
  t.deepEqual(found, []);
});

/** Returns groups of files that import each other: the strongly connected components of the graph (Tarjan 1972). */
function cycles(): string[][] {
  const targets = new Map<string, Set<string>>(files(SRC).map((file) => [file, new Set()]));
  for (const { file, target, isOwn } of imports()) if (isOwn && targets.has(target)) targets.get(file)?.add(target);
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): number => {
    const index = order.size;
    order.set(file, index);
    lowest.set(file, index);
    stack.push(file);
    for (const target of targets.get(file) ?? []) {
      // A file that has left the stack belongs to another group.
      const reached = !order.has(target) ? visit(target) : stack.includes(target) ? order.get(target)! : index;
      lowest.set(file, Math.min(lowest.get(file)!, reached));
    }
    if (lowest.get(file) === index) {
      const group = stack.splice(stack.indexOf(file));
      if (group.length > 1 || targets.get(file)?.has(file)) found.push(group.toSorted());
    }
    return lowest.get(file)!;
  };
  for (const file of targets.keys()) if (!order.has(file)) visit(file);
  return found;
}

test('no files import each other in circles, types included', (t) => {
  t.deepEqual(cycles(), []);
});

test('no two exported types of the server have one name', (t) => {
  const places = new Map<string, string[]>();
  const exported = /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:interface|class|type|enum)\s+(\w+)/gm;
  // The client has the names of the interface, which the server has too.
  for (const file of files(SRC).filter((name) => !name.startsWith('client/'))) {
    for (const [, name = ''] of read(file).matchAll(exported)) places.set(name, [...(places.get(name) ?? []), file]);
  }
  t.true(places.size > 300);
  t.deepEqual(
    [...places].filter(([, found]) => found.length > 1).map(([name, found]) => `${name}: ${found.join(', ')}`),
    [],
  );
});

test('what the server calls a fault has the base of faults', (t) => {
  const own = /class \w*(?:Fault|Unavailable) extends Error\b/g;
  const ofServer = files(SRC).filter((file) => !file.startsWith('client/'));
  const found = ofServer.flatMap((file) => (read(file).match(own) ?? []).map((line) => `${file}: ${line}`));
  t.deepEqual(found, []);
});

test('what is named as only imported in one place is imported nowhere else', (t) => {
  const broken = imports().filter(({ file, names, target, isOwn }) => {
    const importer = isOwn ? undefined : (ONLY_IMPORTER[target] ?? ONLY_IMPORTER[packageOf(target)]);
    if (SOCKETS_OF_THE_STORE.test(file) && /^node:(net|tls)$/.test(target)) return false;
    const isImporter = [importer ?? []].flat().some((place) => file.startsWith(place));
    return importer !== undefined && !isImporter && !HARMLESS.test(names);
  });
  t.deepEqual(
    broken.map(({ file, target }) => `${file} must not import ${target}`),
    [],
  );
});

test('metrics and traces are loaded when they are turned on, by the composition root', (t) => {
  const found = imports().filter(({ target }) => /^node\/(metrics\/metrics|tracing\/tracing)\.ts$/.test(target));
  const loaders = found.filter(
    ({ file, names }) => !names.startsWith('type ') && !names.includes('{ type ') && !file.startsWith('node/metrics/'),
  );
  t.deepEqual([...new Set(loaders.map(({ file }) => file))], ['node/observability.ts']);
});

test('SQL is written in store/postgres alone', (t) => {
  t.deepEqual(
    files(SRC).filter((file) => !file.startsWith('store/postgres/') && /\bsql(<|`|\.unsafe\()/.test(read(file))),
    [],
  );
});

test('backups know every table and sequence that the migrations make', (t) => {
  const folder = join(SRC, 'store/postgres/migrations');
  const text = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  const made = (kind: string) =>
    [...text.matchAll(new RegExp(`^create ${kind} (\\w+)`, 'gm'))].map((match) => match[1]!);
  const known = [...SAVED_TABLES.map(({ name }) => name), ...UNSAVED_TABLES];
  t.deepEqual(made('table').toSorted(), known.toSorted(), 'src/store/postgres/backup/saved-tables.ts names each once');
  t.deepEqual(made('sequence').toSorted(), SAVED_SEQUENCES.toSorted());
});

test('migrations have numbers of their own', (t) => {
  const numbers = readdirSync(join(SRC, 'store/postgres/migrations')).map((name) => name.slice(0, 4));
  t.deepEqual(numbers.sort(), [...new Set(numbers)].sort());
});

test('process.env is read in the configuration alone, and mail has no clock and no input or output', (t) => {
  const broken: string[] = [];
  for (const file of files(SRC)) {
    const text = read(file);
    const code = text.replace(/^\/\/.*$/gm, '');
    if (/process\.env|from 'node:process'/.test(code) && !ENVIRONMENT.includes(file))
      broken.push(`${file}: environment`);
    if (!/^(mail|machines)\//.test(file)) continue;
    if (/Date\.now\(|new Date\(\)|Math\.random\(/.test(text)) broken.push(`${file} has a clock or a die`);
    if (/from 'node:(fs|net|tls|http|dns|child_process|worker_threads)/.test(text)) broken.push(`${file} does I/O`);
  }
  t.deepEqual(broken, []);
});

test('ids are made in one place; the mailbox orders those of its emails itself', (t) => {
  const makers = files(SRC).filter((file) => /\brandomUUID\b|\buuidV7\(/.test(read(file)));
  t.deepEqual(makers.toSorted(), ['actors/mailbox/state/batch-ids.ts', 'mail-format/ids.ts', 'store/ids/new-id.ts']);
});

test('tests have their temporary directories from the one place that removes them', (t) => {
  const makers = files('test').filter((name) => /\bmkdtemp(Sync)?\(/.test(readFileSync(join('test', name), 'utf8')));
  t.deepEqual(makers, []);
  t.true(existsSync('dev/temporary-directory.ts'));
});

test('tests are declared with the test function that lets files share a process', (t) => {
  const others = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .filter((name) => /^import (?!type ).* from 'ava';$/m.test(readFileSync(join('test', name), 'utf8')));
  t.deepEqual(others, []);
});

test('comments are sentences: none begins with Of or By', (t) => {
  const broken: string[] = [];
  for (const folder of ['src', 'test', 'dev', 'bench', 'web']) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.tsx?$/.test(name),
    )) {
      const lines = readFileSync(join(folder, name), 'utf8').split('\n');
      const isWhole = (i: number) => !/^\s*(\/\/|\*) /.test(lines[i - 1] ?? '');
      for (const [i, line] of lines.entries()) {
        if (/(^|\s)(\/\*\*|\/\/) (Of|By) /.test(line) && isWhole(i)) broken.push(`${folder}/${name}:${i + 1}`);
      }
    }
  }
  t.deepEqual(broken, []);
});

test('names of files say what is in them', (t) => {
  const vague = /(^|[/-])(utils?|helpers?|common|misc|manager|service)(-|\.|\/)/;
  t.deepEqual(
    files(SRC).filter((file) => vague.test(file) || /[A-Z_]/.test(file.replace(/^.*\//, ''))),
    [],
  );
});

test('the files that docs/architecture.md names are there, and each row of "Where is it decided?" names one and says one thing of it', (t) => {
  const page = readFileSync('docs/architecture.md', 'utf8');
  const file = /(?:(?:web\/)?src|web\/worker|docs|test)\/[\w./-]+\.(?:ts|md)/g;
  t.deepEqual(
    (page.match(file) ?? []).filter((named) => !existsSync(named)),
    [],
  );
  const [, decided = ''] = page.split('## Where is it decided?');
  const rows = decided.split('## Invariants')[0]!.match(/^\| .*\? \|.*$/gm) ?? [];
  t.true(rows.length > 30);
  t.deepEqual(
    rows.filter((row) => !/^\| [^|]+ \| `(?:(?:web\/)?src|web\/worker)\/[\w./-]+\.ts` \| [^|]+ \|$/.test(row)),
    [],
  );
});

test('docs/architecture.md has one paragraph for each folder of src', (t) => {
  const [, layout = ''] = readFileSync('docs/architecture.md', 'utf8').split('\n## Layout\n');
  const paragraphs = layout.split('\n## ')[0]!.match(/^\*\*`src\/[\w-]+`\*\*/gm) ?? [];
  const folders = readdirSync(SRC, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  t.deepEqual(paragraphs.toSorted(), folders.map(({ name }) => `**\`src/${name}\`**`).toSorted());
});
