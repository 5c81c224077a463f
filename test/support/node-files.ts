// Which test files start nodes: those whose imports lead to the module that does.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const STARTS = fileURLToPath(new URL('../../dev/node-process.js', import.meta.url));
const TESTS = fileURLToPath(new URL('../', import.meta.url));
const DEV = dirname(STARTS);
const IMPORTS = /(?:from|import)\s*\(?\s*'(\.[^']+\.js)'/g;

const known = new Map<string, boolean>();

/** `file`: a compiled test file. Imports of types have gone with the compilation. */
export function startsNode(file: string): boolean {
  const path = resolve(file);
  if (path === STARTS) return true;
  const before = known.get(path);
  if (before !== undefined) return before;
  // A circle leads nowhere new.
  known.set(path, false);
  const imported = [...readFileSync(path, 'utf8').matchAll(IMPORTS)].map(([, name]) => join(dirname(path), name!));
  const starts = imported.some((name) => (name.startsWith(TESTS) || name.startsWith(DEV)) && startsNode(name));
  known.set(path, starts);
  return starts;
}
