// Reads messages of a Maildir and its folders: directories with a dot before their names (Maildir++), or nested directories that
// each hold a Maildir. The date of a message is that of its file. Only regular files are read, because a link may lead anywhere.
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { placesOf } from './folder-places.js';
import { readKeywords } from './keyword-file.js';
import { withMailLineEnds } from './line-ends.js';
import { flagsOfName, levelsOfDirectory, readExportedName, uniqueName } from './maildir-names.js';
import { type MailSource, MOST_OCTETS, type SourceFailure, type SourceItem } from './source.js';
import { VerifiedDirectory } from './verified-directory.js';

/** At most this many levels of directories are read. */
const DEEPEST = 20;

/** A folder, or the reason why its directory cannot be read. */
type MaildirFolder = {
  /** Names from the top down. */
  readonly levels: readonly string[];
} & ({ readonly directory: VerifiedDirectory } | { readonly failure: SourceFailure });

export class NotMaildir extends Error {
  override readonly name = 'NotMaildir';
}

/** @throws NotMaildir */
export async function maildirSource(root: string): Promise<MailSource> {
  const folders = await foldersBelow(await VerifiedDirectory.root(root), []);
  if (folders.length === 0)
    throw new NotMaildir(`${root} is no Maildir: neither it nor a directory in it has "cur" or "new"`);
  const paths = placesOf(folders);
  const progress = { done: 0, total: 0 };
  for (const folder of folders) progress.total += (await filesOf(folder)).files.length;

  async function* items(): AsyncGenerator<SourceItem, void> {
    for (const [i, folder] of folders.entries()) {
      const { files, failures } = await filesOf(folder);
      yield* failures;
      const keywords = 'directory' in folder ? await readKeywords(folder.directory) : [];
      for (const message of inOrder(files)) {
        progress.done++;
        yield itemOf(message, paths[i]!, flagsOfName(message.file, keywords));
      }
    }
  }

  return { items, progress };
}

async function itemOf(message: MessageFile, folder: string, flags: readonly string[]): Promise<SourceItem> {
  const path = join(message.directory.path, message.file);
  try {
    const file = await message.directory.open(message.file);
    try {
      const status = await file.stat();
      const { size, mtimeMs } = status;
      if (!status.isFile()) return { kind: 'failure', where: path, problem: 'not a file' };
      if (size === 0) return { kind: 'failure', where: path, problem: 'empty' };
      if (size > MOST_OCTETS) return { kind: 'failure', where: path, problem: `larger than ${MOST_OCTETS} octets` };
      const stored = await file.readFile();
      const bytes = readExportedName(message.file) === undefined ? withMailLineEnds(stored) : stored;
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

/** A subdirectory that cannot be read, for example because its name is not UTF-8, becomes a folder with a failure. */
async function foldersBelow(directory: VerifiedDirectory, levels: readonly string[]): Promise<MaildirFolder[]> {
  const entries = await directory.entries();
  const below = entries.filter((entry) => entry.isDirectory() && !['cur', 'new', 'tmp'].includes(entry.name));
  const isMaildir = entries.some((entry) => entry.isDirectory() && (entry.name === 'cur' || entry.name === 'new'));
  const own = isMaildir ? [{ directory, levels: levels.length === 0 ? ['INBOX'] : levels }] : [];
  if (levels.length >= DEEPEST) return own;
  const found = await Promise.all(
    below
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(async (entry) => {
        const named = [...levels, ...levelsOf(entry)];
        try {
          return await foldersBelow(await directory.child(entry.name), named);
        } catch (error) {
          return [{ levels: named, failure: unread(join(directory.path, entry.name), error) }];
        }
      }),
  );
  return [...own, ...found.flat()];
}

function levelsOf({ name }: Dirent): readonly string[] {
  return name.startsWith('.') && name.length > 1 ? levelsOfDirectory(name) : [name];
}

interface MessageFile {
  /** `cur` or `new`. */
  readonly directory: VerifiedDirectory;
  readonly file: string;
}

async function filesOf(folder: MaildirFolder) {
  const files: MessageFile[] = [];
  if ('failure' in folder) return { files, failures: [folder.failure] };
  const failures: SourceFailure[] = [];
  for (const name of ['cur', 'new']) {
    try {
      const directory = await folder.directory.child(name);
      for (const entry of await directory.entries())
        if (!entry.name.startsWith('.')) files.push({ directory, file: entry.name });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        failures.push(unread(join(folder.directory.path, name), error));
    }
  }
  return { files, failures };
}

/** Sorts messages by arrival: names begin with the time of delivery, and names of an export have the UID. */
function inOrder(files: readonly MessageFile[]): MessageFile[] {
  const keyed = files.map((message) => ({
    message,
    rank: readExportedName(message.file)?.uid ?? (Number.parseInt(message.file, 10) || 0),
    name: uniqueName(message.file),
  }));
  return keyed.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1)).map(({ message }) => message);
}
