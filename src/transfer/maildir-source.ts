// Messages of a Maildir and its folders: directories with a dot before their names (Maildir++), or directories within each other
// that each hold a Maildir. The date of a message is that of its file. Only files proper are read: a link may lead anywhere.
import { constants, type Dirent } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { placesOf } from './folder-places.js';
import { withMailLineEnds } from './line-ends.js';
import { flagsOfName, keywordsOf, levelsOfDirectory, readExportedName, uniqueName } from './maildir-names.js';
import { type MailSource, MOST_OCTETS, type SourceFailure, type SourceItem } from './source.js';

/** Levels of directories. */
const DEEPEST = 20;
const KEYWORD_FILE_OCTETS = 64 * 1024;
/** Links are not followed, and a pipe without a writer is not waited for. */
const FILE_PROPER = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface MaildirFolder {
  readonly directory: string;
  /** Names from the top down. */
  readonly levels: readonly string[];
  /** Why the directory cannot be read. */
  readonly failure?: SourceFailure;
}

export class NotMaildir extends Error {
  override readonly name = 'NotMaildir';
}

/** @throws NotMaildir */
export async function maildirSource(root: string): Promise<MailSource> {
  const folders = await foldersBelow(root, []);
  if (folders.length === 0)
    throw new NotMaildir(`${root} is no Maildir: neither it nor a directory in it has "cur" or "new"`);
  const paths = placesOf(folders);
  const progress = { done: 0, total: 0 };
  for (const folder of folders) progress.total += (await filesOf(folder)).files.length;

  async function* items(): AsyncGenerator<SourceItem, void> {
    for (const [i, folder] of folders.entries()) {
      const { directory } = folder;
      const { files, failures } = await filesOf(folder);
      yield* failures;
      const keywords = keywordsOf(await keywordFile(directory));
      for (const { subdirectory, file } of inOrder(files)) {
        progress.done++;
        yield itemOf(join(directory, subdirectory, file), paths[i]!, flagsOfName(file, keywords));
      }
    }
  }

  return { items, progress };
}

async function itemOf(path: string, folder: string, flags: readonly string[]): Promise<SourceItem> {
  try {
    const file = await open(path, FILE_PROPER);
    try {
      const status = await file.stat();
      const { size, mtimeMs } = status;
      if (!status.isFile()) return { kind: 'failure', where: path, problem: 'not a file' };
      if (size === 0) return { kind: 'failure', where: path, problem: 'empty' };
      if (size > MOST_OCTETS) return { kind: 'failure', where: path, problem: `larger than ${MOST_OCTETS} octets` };
      const stored = await file.readFile();
      const bytes = readExportedName(basename(path)) === undefined ? withMailLineEnds(stored) : stored;
      return { kind: 'message', where: path, folder, bytes, receivedAt: Math.round(mtimeMs), flags };
    } finally {
      await file.close();
    }
  } catch (error) {
    return unread(path, error);
  }
}

function unread(path: string, error: unknown): SourceFailure {
  return { kind: 'failure', where: path, problem: (error as Error).message };
}

/** '' when there is none; what is no file, or too large to be one of keywords, counts as none. */
async function keywordFile(directory: string): Promise<string> {
  try {
    const file = await open(join(directory, 'dovecot-keywords'), FILE_PROPER);
    try {
      const status = await file.stat();
      return status.isFile() && status.size <= KEYWORD_FILE_OCTETS ? await file.readFile('utf8') : '';
    } finally {
      await file.close();
    }
  } catch {
    return '';
  }
}

/** A directory below that cannot be read, such as one whose name is no UTF-8, is a folder with a failure. */
async function foldersBelow(directory: string, levels: readonly string[]): Promise<MaildirFolder[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const below = entries.filter((entry) => entry.isDirectory() && !['cur', 'new', 'tmp'].includes(entry.name));
  const isMaildir = entries.some((entry) => entry.isDirectory() && (entry.name === 'cur' || entry.name === 'new'));
  const own = isMaildir ? [{ directory, levels: levels.length === 0 ? ['INBOX'] : levels }] : [];
  if (levels.length >= DEEPEST) return own;
  const found = await Promise.all(
    below
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((entry) => {
        const path = join(directory, entry.name);
        const named = [...levels, ...levelsOf(entry)];
        return foldersBelow(path, named).catch((error) => [
          { directory: path, levels: named, failure: unread(path, error) },
        ]);
      }),
  );
  return [...own, ...found.flat()];
}

function levelsOf({ name }: Dirent): readonly string[] {
  return name.startsWith('.') && name.length > 1 ? levelsOfDirectory(name) : [name];
}

interface MessageFile {
  readonly subdirectory: 'cur' | 'new';
  readonly file: string;
}

async function filesOf({ directory, failure }: MaildirFolder) {
  const files: MessageFile[] = [];
  if (failure !== undefined) return { files, failures: [failure] };
  const failures: SourceFailure[] = [];
  for (const subdirectory of ['cur', 'new'] as const) {
    const path = join(directory, subdirectory);
    try {
      const names = (await lstat(path)).isDirectory() ? await readdir(path) : [];
      for (const file of names) if (!file.startsWith('.')) files.push({ subdirectory, file });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') failures.push(unread(path, error));
    }
  }
  return { files, failures };
}

/** In the order in which they came: names begin with the time of delivery, those of an export have the UID. */
function inOrder(files: readonly MessageFile[]): MessageFile[] {
  const keyed = files.map((message) => ({
    message,
    rank: readExportedName(message.file)?.uid ?? (Number.parseInt(message.file, 10) || 0),
    name: uniqueName(message.file),
  }));
  return keyed.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1)).map(({ message }) => message);
}
