// Writes messages into a Maildir and its folders (Maildir++). A message is written under tmp and then renamed into cur, so that a
// reader sees whole messages only and an export that is ended can be run again: what is there is not written anew.
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  directoryOf,
  exportedName,
  infoOf,
  isKeywordOfDirectory,
  keywordLines,
  keywordsOf,
  MOST_KEYWORD_LETTERS,
  readExportedName,
} from './maildir-names.js';

const KEYWORDS = 'dovecot-keywords';

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
  readonly #held: Set<string>;
  readonly #keywords: (string | undefined)[];

  private constructor(directory: string, held: Set<string>, keywords: (string | undefined)[]) {
    this.#directory = directory;
    this.#held = held;
    this.#keywords = keywords;
  }

  /** Opens the folder of this path below `root`, and makes its directories when they are missing. */
  static async open(root: string, path: string): Promise<MaildirFolderWriter> {
    const name = directoryOf(path);
    const directory = join(root, name);
    for (const part of ['cur', 'new', 'tmp']) await mkdir(join(directory, part), { recursive: true, mode: 0o700 });
    if (name !== '') await writeFile(join(directory, 'maildirfolder'), '');
    const held = new Set<string>();
    for (const part of ['cur', 'new']) {
      for (const file of await readdir(join(directory, part))) {
        const read = readExportedName(file);
        if (read !== undefined) held.add(read.emailId);
      }
    }
    const keywords = keywordsOf(await readFile(join(directory, KEYWORDS), 'utf8').catch(() => ''));
    return new MaildirFolderWriter(directory, held, keywords);
  }

  holds(emailId: string): boolean {
    return this.#held.has(emailId);
  }

  /** Gives keywords letters before messages that have them are written; returns those for which there is none left. */
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
      const file = join(this.#directory, KEYWORDS);
      await writeFile(`${file}.new`, keywordLines(this.#keywords));
      await rename(`${file}.new`, file);
    }
    return left;
  }

  async write(message: WrittenMessage, octets: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
    const { emailId, uid, receivedAt, size, flags } = message;
    const name = exportedName({ emailId, uid }, receivedAt, size);
    const file = join(this.#directory, 'tmp', name);
    try {
      if (octets instanceof Uint8Array) await writeFile(file, octets, { mode: 0o600 });
      else await pipeline(octets, createWriteStream(file, { mode: 0o600 }));
      const seconds = receivedAt / 1000;
      await utimes(file, seconds, seconds);
      await rename(file, join(this.#directory, 'cur', `${name}${infoOf(flags, this.#keywords)}`));
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    }
    this.#held.add(emailId);
  }
}
