// Writes messages into a Maildir and its folders (Maildir++). A message is written in tmp and then renamed into cur, so that
// readers see only whole messages, and an interrupted export can be run again: it skips the messages that exist. The directory
// may belong to another user: links in it are neither followed nor written through.
import { type FileHandle, lstat, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KEYWORD_FILE, readKeywords } from './keyword-file.js';
import {
  directoryOf,
  exportedName,
  infoOf,
  isKeywordOfDirectory,
  keywordLines,
  MOST_KEYWORD_LETTERS,
  readExportedName,
} from './maildir-names.js';
import { VerifiedDirectory } from './verified-directory.js';

export interface WrittenMessage {
  readonly emailId: string;
  readonly uid: number;
  readonly size: number;
  /** ms since the epoch. */
  readonly receivedAt: number;
  readonly flags: readonly string[];
}

export class MaildirFolderWriter {
  readonly #directory: string;
  readonly #present: Set<string>;
  readonly #keywords: (string | undefined)[];

  private constructor(directory: string, present: Set<string>, keywords: (string | undefined)[]) {
    this.#directory = directory;
    this.#present = present;
    this.#keywords = keywords;
  }

  /** Opens the folder of this path below `root` and creates missing directories. */
  static async open(root: string, path: string): Promise<MaildirFolderWriter> {
    const name = directoryOf(path);
    const directory = join(root, name);
    await makeDirectories(root, name);
    if (name !== '') await mark(join(directory, 'maildirfolder'));
    const folder = await VerifiedDirectory.root(directory);
    const present = new Set<string>();
    for (const part of ['cur', 'new']) {
      for (const { name: file } of await (await folder.child(part)).entries()) {
        const read = readExportedName(file);
        if (read !== undefined) present.add(read.emailId);
      }
    }
    return new MaildirFolderWriter(directory, present, await readKeywords(folder));
  }

  holds(emailId: string): boolean {
    return this.#present.has(emailId);
  }

  /** Assigns letters to keywords before messages with them are written; returns the keywords for which no letter is left. */
  async declare(flags: ReadonlySet<string>): Promise<readonly string[]> {
    const known = new Set(this.#keywords.map((keyword) => keyword?.toLowerCase()));
    const fresh = [...flags].filter((flag) => isKeywordOfDirectory(flag) && !known.has(flag.toLowerCase()));
    if (fresh.length === 0) return [];
    const left: string[] = [];
    let isChanged = false;
    for (const flag of fresh) {
      const free = Array.from({ length: MOST_KEYWORD_LETTERS }, (_, i) => i).find(
        (i) => this.#keywords[i] === undefined,
      );
      if (free === undefined) left.push(flag);
      else {
        this.#keywords[free] = flag;
        isChanged = true;
      }
    }
    if (isChanged) {
      const file = join(this.#directory, KEYWORD_FILE);
      await writeFresh(`${file}.new`, (handle) => handle.writeFile(keywordLines(this.#keywords)));
      await rename(`${file}.new`, file);
    }
    return left;
  }

  async write(message: WrittenMessage, octets: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
    const { emailId, uid, receivedAt, size, flags } = message;
    const name = exportedName({ emailId, uid }, receivedAt, size);
    const file = join(this.#directory, 'tmp', name);
    try {
      await writeFresh(file, async (handle) => {
        await writeFile(handle, octets);
        await handle.utimes(receivedAt / 1000, receivedAt / 1000);
      });
      await rename(file, join(this.#directory, 'cur', `${name}${infoOf(flags, this.#keywords)}`));
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    }
    this.#present.add(emailId);
  }
}

/** Creates the directories of a folder. @throws Error when one of them is a link or not a directory */
async function makeDirectories(root: string, name: string): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const directory = join(root, name);
  for (const path of [
    ...(name === '' ? [] : [directory]),
    ...['cur', 'new', 'tmp'].map((part) => join(directory, part)),
  ]) {
    await mkdir(path, { mode: 0o700 }).catch(unlessThere);
    if (!(await lstat(path)).isDirectory())
      throw new Error(`${path} is a link or no directory: an export writes through none`);
  }
}

/** Creates an empty file unless the path exists. */
async function mark(path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch(unlessThere);
  await file?.close();
}

function unlessThere(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') throw error;
  return undefined;
}

/** Writes a new file over what an interrupted export left; a link there is removed, not followed. */
async function writeFresh(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  await rm(path, { force: true });
  const file = await open(path, 'wx', 0o600);
  try {
    await write(file);
  } finally {
    await file.close();
  }
}
