// The file of a backup: written beside its name and renamed when it is whole, so that the name never has half a backup; only its owner can
// read it.
import { constants, rmSync } from 'node:fs';
import { type FileHandle, open, realpath, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Returns the octets that were written. A device or a pipe is written directly. */
export async function writeBackupFile(path: string, octets: AsyncIterable<Uint8Array>): Promise<number> {
  const present = await stat(path).catch(absent);
  if (present?.isDirectory() === true) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
  if (present?.isFile() === false) return writeDirectly(path, octets);
  // The name may be a link, which stays.
  const target = present === undefined ? path : await realpath(path);
  const part = `${target}.part`;
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const remove = () => rmSync(part, { force: true });
  // What a killed backup has left, or another user has put there, is not written to.
  remove();
  const handle = await open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  process.once('exit', remove);
  try {
    let written: number;
    try {
      written = await writeAll(handle, octets);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(part, target);
    await syncDirectory(dirname(target));
    return written;
  } catch (error) {
    remove();
    throw error;
  } finally {
    process.off('exit', remove);
  }
}

async function writeDirectly(path: string, octets: AsyncIterable<Uint8Array>): Promise<number> {
  const handle = await open(path, 'w');
  try {
    return await writeAll(handle, octets);
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, octets: AsyncIterable<Uint8Array>): Promise<number> {
  let written = 0;
  for await (const chunk of octets) {
    for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at)).bytesWritten;
    written += chunk.length;
  }
  return written;
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
