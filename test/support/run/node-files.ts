// Finds the test files that start nodes or clusters, and those that affect their whole process: the file, or a module of test or dev that it
// imports, does so.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const IMPORTS = /(?:from|import)\s*\(?\s*'(\.[^']+\.js)'/g;
const TESTS = fileURLToPath(new URL('../../', import.meta.url));
const DEV = fileURLToPath(new URL('../../../dev/', import.meta.url));
const CLUSTERS = [
  `${DEV}local-cluster.js`,
  `${TESTS}scenarios/cluster/support/processes.js`,
  `${TESTS}scenarios/cluster/support/three-machines.js`,
];

/** `file` is a compiled test file: the compilation has removed imports of types. */
export const startsNode = leadsTo((path) => path === `${DEV}node-process.js`);

/** True when the file starts several nodes at once. */
export const startsCluster = leadsTo((path) => CLUSTERS.includes(path));

export function leadsTo(isFound: (path: string, text: string) => boolean): (file: string) => boolean {
  const known = new Map<string, boolean>();
  return function leads(file: string): boolean {
    const path = resolve(file);
    const before = known.get(path);
    if (before !== undefined) return before;
    // An import cycle adds no new module.
    known.set(path, false);
    const text = readFileSync(path, 'utf8');
    const imported = [...text.matchAll(IMPORTS)].map(([, name]) => join(dirname(path), name!));
    const answer =
      isFound(path, text) || imported.some((name) => (name.startsWith(TESTS) || name.startsWith(DEV)) && leads(name));
    known.set(path, answer);
    return answer;
  };
}
