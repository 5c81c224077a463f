// The file whose tests are being declared, when several files share a process. A group imports this module before each of its files, with
// the file's name as the query, so that Node.js evaluates it again each time (`groups.ts`).
const KEY = Symbol.for('mansio.test.files');
const shared = globalThis as { [KEY]?: string[] };

const name = new URL(import.meta.url).searchParams.get('file');
if (name !== null) {
  shared[KEY] ??= [];
  shared[KEY].push(name);
}

/** Returns `store › search-merges`; undefined when a file has its own process. */
export function declaringFile(): string | undefined {
  return shared[KEY]?.at(-1);
}

/** Returns the number of files whose tests this process runs. */
export function declaredFiles(): number {
  return shared[KEY]?.length ?? 1;
}
