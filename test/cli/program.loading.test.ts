// Tests which code a command loads: its own, and only the packages that it needs. Static imports count; what a command imports while it
// runs is for that run alone.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { assemble } from '../../src/cli/program.js';
import test from '../support/test.js';

const STORE = ['commander', 'postgres', 'superstruct'];

/** The packages of the commands that need more, or less, than those of the store. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  serve: ['pino', 'pino-pretty', 'postgres'],
  config: [],
  import: [...STORE, 'entities', 'iconv-lite', 'libmime'],
  export: [...STORE, 'entities', 'iconv-lite', 'libmime'],
  backup: [...STORE, 'age-encryption', 'fzstd'],
  restore: [...STORE, 'age-encryption', 'fzstd'],
  doctor: [...STORE, 'lru-cache'],
  setup: [...STORE, 'lru-cache'],
};

/** The files and packages that a file of JavaScript reaches by static imports. */
function reached(entry: string): { readonly files: ReadonlySet<string>; readonly packages: readonly string[] } {
  const files = new Set([entry]);
  const packages = new Set<string>();
  for (const file of files) {
    const imports = /(?:^|[;\n])(?:import|export)\b(?:[^'"();]*?from)?\s*(['"])([^'"]+)\1/g;
    for (const [, , target] of readFileSync(file, 'utf8').matchAll(imports)) {
      const path = join(dirname(file), target!);
      if (target!.startsWith('.')) {
        if (existsSync(path)) files.add(path);
      } else if (!target!.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(target!)![0]);
    }
  }
  return { files, packages: [...packages].sort() };
}

const named = (program: Command): readonly string[] => program.commands.map((command) => command.name());

const assembled = (...words: string[]): Promise<Command> => assemble(new Command('mansio'), words);

test('a command line that names a command gets this one; any other gets all, for its help or its refusal', async (t) => {
  const all = named(await assembled());
  t.true(all.length > 20);
  for (const name of all) t.deepEqual(named(await assembled(name, '--help')), [name]);
  t.deepEqual(named(await assembled('help', 'account')), all);
  t.deepEqual(named(await assembled('constructor')), all);
  t.deepEqual(named(await assembled('--json', 'account')), all);
  t.deepEqual(named(await assembled('--version')), []);
});

test('a command loads only the packages that it needs', (t) => {
  const source = readFileSync('src/cli/program.ts', 'utf8');
  const files = new Map(
    Array.from(source.matchAll(/\['(\w+)', async \(\) => \(await import\('\.\/([^']+)'\)\)/g), ([, name, file]) => [
      name!,
      file!,
    ]),
  );
  t.true(files.size > 20);
  t.true(files.has('doctor'));
  for (const [name, file] of files)
    t.deepEqual(reached(`dist/src/cli/${file}`).packages, [...(PACKAGES[name] ?? STORE)].sort(), name);
  t.deepEqual(reached('dist/src/cli/main.js').packages, ['commander']);
});

test('a node that is alone does not load the client of NATS', (t) => {
  const { packages } = reached('dist/src/node/node.js');
  t.true(packages.includes('rxjs'));
  t.false(packages.includes('nats'));
});

test('the program is small before it has read its command line', (t) => {
  const { files } = reached('dist/program/main.js');
  const bytes = [...files].reduce((sum, file) => sum + statSync(file).size, 0);
  // All commands together have more than 3 MB.
  t.true(bytes > 50_000 && bytes < 250_000, `${bytes} bytes in ${files.size} files`);
});
