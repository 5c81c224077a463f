// The files of the page, which is built from web/. They are read once, at the start: what a node serves stays one version while an upgrade
// replaces the files on the disk. The build puts the compressed forms of a file beside it (`.br`, `.gz`). `page.ts` serves them.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** In order of preference. */
export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export interface PageFile {
  readonly content: Buffer;
  readonly type: string;
  /** The first digits of the SHA-256 of the content. */
  readonly tag: string;
  readonly encoded: ReadonlyMap<Encoding, Buffer>;
}

export interface PageFiles {
  /** The document that every path of the page opens. */
  readonly index: string;
  /** The other files, by their path in URLs. */
  readonly files: ReadonlyMap<string, PageFile>;
}

const INDEX = 'index.html';
/** Beside this code: the bundle of the program has the page there. */
const FOLDER = fileURLToPath(new URL('web/', import.meta.url));
const SUFFIXES: Readonly<Record<string, Encoding>> = { '.br': 'br', '.gz': 'gzip' };
const TEXTS: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.webmanifest': 'application/manifest+json',
};
const BINARIES: Readonly<Record<string, string>> = {
  '.ico': 'image/x-icon',
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** Undefined when the folder has no page, as in a program that was built without it. @throws the system's error */
export async function readPageFiles(folder = FOLDER): Promise<PageFiles | undefined> {
  const contents = new Map<string, Buffer>();
  for (const path of await pathsIn(folder)) {
    contents.set(`/${relative(folder, path).split(sep).join('/')}`, await readFile(path));
  }
  const index = contents.get(`/${INDEX}`)?.toString();
  if (index === undefined) return undefined;
  const files = new Map<string, PageFile>();
  for (const [path, content] of contents) {
    if (path !== `/${INDEX}` && !isEncoded(path, contents)) files.set(path, fileOf(path, content, contents));
  }
  return { index, files };
}

async function pathsIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Whether the file is the compressed form of another one. */
function isEncoded(path: string, contents: ReadonlyMap<string, Buffer>): boolean {
  const suffix = extname(path);
  return suffix in SUFFIXES && contents.has(path.slice(0, -suffix.length));
}

function fileOf(path: string, content: Buffer, contents: ReadonlyMap<string, Buffer>): PageFile {
  const encoded = new Map<Encoding, Buffer>();
  for (const [suffix, encoding] of Object.entries(SUFFIXES)) {
    const form = contents.get(`${path}${suffix}`);
    if (form !== undefined) encoded.set(encoding, form);
  }
  const tag = createHash('sha256').update(content).digest('base64url').slice(0, 22);
  return { content, type: typeOf(path), tag, encoded };
}

function typeOf(path: string): string {
  const suffix = extname(path);
  const text = TEXTS[suffix];
  return text === undefined ? (BINARIES[suffix] ?? 'application/octet-stream') : `${text}; charset=utf-8`;
}
