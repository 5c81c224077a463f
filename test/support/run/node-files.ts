// Finds the test files that start nodes, and those that replace the clock of their process: their imports lead to the module that does it.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const IMPORTS = /(?:from|import)\s*\(?\s*'(\.[^']+\.js)'/g;
const TESTS = fileURLToPath(new URL('../../', import.meta.url));
const DEV = fileURLToPath(new URL('../../../dev/', import.meta.url));

/** `file` is a compiled test file: the compilation has removed imports of types. */
export const startsNode = leadsTo(`${DEV}node-process.js`);

export const replacesClock = leadsTo(`${TESTS}support/cluster/virtual-time.js`);

function leadsTo(target: string): (file: string) => boolean {
  const known = new Map<string, boolean>([[target, true]]);
  return function leads(file) {
    const path = resolve(file);
    const before = known.get(path);
    if (before !== undefined) return before;
    // An import cycle adds no new module.
    known.set(path, false);
    const imported = [...readFileSync(path, 'utf8').matchAll(IMPORTS)].map(([, name]) => join(dirname(path), name!));
    const answer = imported.some((name) => (name.startsWith(TESTS) || name.startsWith(DEV)) && leads(name));
    known.set(path, answer);
    return answer;
  };
}
