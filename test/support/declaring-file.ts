// The file whose tests are being declared, where several files share a process. A group imports this module before each of its files,
// with the file's name as the query, so that Node.js evaluates it again each time (`groups.ts`).
const KEY = Symbol.for('mansio.test.files');
const shared = globalThis as { [KEY]?: string[] };

const name = new URL(import.meta.url).searchParams.get('file');
if (name !== null) {
  shared[KEY] ??= [];
  shared[KEY].push(name);
}

/** `store › search-merges`; undefined where a file has the process to itself. */
export function declaringFile(): string | undefined {
  return shared[KEY]?.at(-1);
}

/** Files whose tests this process runs. */
export function declaredFiles(): number {
  return shared[KEY]?.length ?? 1;
}
