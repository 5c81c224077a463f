// Files and directories that an operator names on the command line: each fault is one sentence that contains the option.
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { CommandError } from './output.js';

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'this user may not open it',
  EPERM: 'this user may not open it',
  EEXIST: 'there is a file of that name',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
};

/** Describes a fault of the file; returns any other error unchanged. */
export function fileFault(option: string, path: string, error: unknown): unknown {
  const fault = FAULTS[(error as NodeJS.ErrnoException | undefined)?.code ?? ''];
  return fault === undefined ? error : new CommandError(`${option} ${path}: ${fault}`);
}

/** @throws CommandError */
export async function readNamed(option: string, path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error) => {
    throw fileFault(option, path, error);
  });
}

/** @throws CommandError when the path is not a readable file, or directory */
export async function demandNamed(option: string, path: string, kind: 'file' | 'directory'): Promise<void> {
  try {
    const status = await stat(path);
    if (kind === 'file' ? !status.isFile() : !status.isDirectory())
      throw new CommandError(`${option} ${path}: it is not a ${kind}`);
    await access(path, kind === 'file' ? constants.R_OK : constants.R_OK | constants.X_OK);
  } catch (error) {
    throw fileFault(option, path, error);
  }
}
