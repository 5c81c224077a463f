// Messages of a Maildir and its folders: directories with a dot before their names (Maildir++), or directories within each other
// that each hold a Maildir. The date of a message is that of its file. Only files proper are read: a link may lead anywhere.
import { constants, type Dirent } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { placesOf } from './folder-places.js';
import { withMailLineEnds } from './line-ends.js';
import { flagsOfName, keywordsOf, levelsOfDirectory, readExportedName, uniqueName } from './maildir-names.js';
import { type MailSource, MOST_OCTETS, type SourceItem } from './source.js';

/** Levels of directories. */
const DEEPEST = 20;
const KEYWORD_FILE_OCTETS = 64 * 1024;
/** Links are not followed, and a pipe without a writer is not waited for. */
const FILE_PROPER = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface MaildirFolder {
  readonly directory: string;
  /** Names from the top down. */
  readonly levels: readonly string[];
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
  for (const { directory } of folders) progress.total += (await filesOf(directory)).length;

  async function* items(): AsyncGenerator<SourceItem, void> {
    for (const [i, { directory }] of folders.entries()) {
      const keywords = keywordsOf(await keywordFile(directory));
      for (const { subdirectory, file } of inOrder(await filesOf(directory))) {
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
    return { kind: 'failure', where: path, problem: (error as Error).message };
  }
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

async function foldersBelow(directory: string, levels: readonly string[]): Promise<MaildirFolder[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const below = entries.filter((entry) => entry.isDirectory() && !['cur', 'new', 'tmp'].includes(entry.name));
  const isMaildir = entries.some((entry) => entry.isDirectory() && (entry.name === 'cur' || entry.name === 'new'));
  const own = isMaildir ? [{ directory, levels: levels.length === 0 ? ['INBOX'] : levels }] : [];
  if (levels.length >= DEEPEST) return own;
  const found = await Promise.all(
    below
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((entry) => foldersBelow(join(directory, entry.name), [...levels, ...levelsOf(entry)])),
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

async function filesOf(directory: string): Promise<MessageFile[]> {
  const found: MessageFile[] = [];
  for (const subdirectory of ['cur', 'new'] as const) {
    const path = join(directory, subdirectory);
    const isDirectory = await lstat(path).then(
      (status) => status.isDirectory(),
      () => false,
    );
    const names = isDirectory ? await readdir(path) : [];
    for (const file of names) if (!file.startsWith('.')) found.push({ subdirectory, file });
  }
  return found;
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
