// Groups test files that start no node, so that several run in one process: starting a process and loading the tested code take longer than
// the tests of most files.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { leadsTo } from './node-files.js';

const TESTS = fileURLToPath(new URL('../../', import.meta.url));
const MARKER = fileURLToPath(new URL('./declaring-file.js', import.meta.url));

/** The files of a group: few enough that a crash affects few files, and that no group runs alone for long at the end. */
const TOGETHER = 20;

/** Code that affects the whole process; a file with such code, or with an import of it, has its own process. */
const CONCERNS_PROCESS: readonly RegExp[] = [
  // The file replaces the timers of the process.
  /mock\.timers|Object\.assign\(globalThis/,
  /process\.on\('warning'/,
  /process\.env\['?\w+'?\] =|Object\.assign\(process\.env/,
  // The file measures memory.
  /heapUsed|memoryUsage|getHeapStatistics/,
  // AVA gives one context to all tests of a process.
  /\bt\.context\b/,
  // AVA starts the tests that are declared before the first await of a module.
  /^(?:\S.*)?\bawait\b/m,
];

/**
 * Returns what AVA runs for `files`, which are compiled test files: those that stay alone, and groups of the others, written to `folder`.
 */
export function groupFiles(files: readonly string[], folder: string): string[] {
  const alone = files.filter((file) => isAlone(file));
  const shared = files.filter((file) => !isAlone(file)).sort();
  mkdirSync(folder, { recursive: true });
  const groups: string[] = [];
  for (let first = 0; first < shared.length; first += TOGETHER) {
    const entry = join(folder, `group-${groups.length + 1}.test.js`);
    writeFileSync(entry, entryOf(shared.slice(first, first + TOGETHER), folder));
    groups.push(entry);
  }
  return [...alone, ...groups];
}

const isAlone = leadsTo((_path, text) => CONCERNS_PROCESS.some((pattern) => pattern.test(text)));

function nameOf(file: string): string {
  return relative(TESTS, resolve(file))
    .replace(/\.test\.js$/, '')
    .split(sep)
    .join('/');
}

function entryOf(files: readonly string[], folder: string): string {
  return files
    .flatMap((file) => [
      `import '${moduleAt(MARKER, folder)}?file=${encodeURIComponent(nameOf(file).replaceAll('/', ' › '))}';`,
      `import '${moduleAt(resolve(file), folder)}';`,
    ])
    .join('\n');
}

function moduleAt(file: string, folder: string): string {
  return relative(folder, file).split(sep).join('/');
}
