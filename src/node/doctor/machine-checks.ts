// The checks of this machine: `clock` against the database, `disk` of the data directory, `files` that the process may open.
import type { StatsFs } from 'node:fs';
import { readdir, readFile, statfs } from 'node:fs/promises';
import type { NodeCheck } from './check.js';
import { type CheckResult, fail, ok, sizeOf, spanOf, warn } from './finding.js';

/** Leases use the database's clock alone; times in mail and signatures use this one. */
const CLOCK_WARN_MS = 2_000;
const CLOCK_FAIL_MS = 60_000;

/** Two segments of PostgreSQL's log, as in health: with less room, commits fail soon. */
const DISK_FAIL_OCTETS = 32 * 1024 * 1024;
const DISK_WARN_OCTETS = 1_000_000_000;
const DISK_WARN_SHARE = 0.05;

/** A node with all its pools and a thousand clients. */
const FEW_FILES = 4096;
const FILES_FAIL_SHARE = 0.8;

export const clockCheck: NodeCheck = {
  name: 'clock',
  async run({ store }) {
    // The first question may open a connection: only the second one measures.
    await store.clock();
    const before = Date.now();
    const there = await store.clock();
    const middle = (before + Date.now()) / 2;
    const apart = Math.abs(there - middle);
    const detail = `this machine and the database are ${spanOf(apart)} apart`;
    if (apart >= CLOCK_FAIL_MS) return [fail('clock', detail, 'timedatectl set-ntp true')];
    if (apart >= CLOCK_WARN_MS) return [warn('clock', detail, 'timedatectl set-ntp true')];
    return [ok('clock', 'this machine and the database have one time')];
  },
};

export const diskCheck: NodeCheck = {
  name: 'disk',
  run: async ({ config: { dataDir } }) => [judgeSpace(dataDir, await statfs(dataDir))],
};

type Space = Pick<StatsFs, 'bavail' | 'blocks' | 'bsize' | 'files' | 'ffree'>;

/** Exported for tests of the bounds. */
export function judgeSpace(dataDir: string, { bavail, blocks, bsize, files, ffree }: Space): CheckResult {
  const free = bavail * bsize;
  const detail = `${sizeOf(free)} of ${sizeOf(blocks * bsize)} free`;
  const fix = `du -xh --max-depth=2 ${dataDir} | sort -h | tail`;
  if (free < DISK_FAIL_OCTETS) return fail(dataDir, detail, fix);
  // Some file systems count no inodes.
  if (files > 0 && ffree / files < 0.01) return warn(dataDir, `${detail}, but hardly an inode`, fix);
  if (free < DISK_WARN_OCTETS || bavail / blocks < DISK_WARN_SHARE) return warn(dataDir, detail, fix);
  return ok(dataDir, detail);
}

export const filesCheck: NodeCheck = {
  name: 'files',
  async run({ pid }) {
    if (pid === undefined) return [warn('node', 'no node runs here: not checked', 'systemctl start mansio')];
    return [judgeFiles(pid, await fileLimit(pid), await openFiles(pid))];
  },
};

/** Exported for tests of the bounds. `limit`, `open`: undefined where the system does not tell. */
export function judgeFiles(pid: number, limit: number | undefined, open: number | undefined): CheckResult {
  const subject = `process ${pid}`;
  if (limit === undefined) return ok(subject, 'the system does not show the limit');
  const detail = `${open === undefined ? 'it' : `${open} open, it`} may open ${limit} files`;
  const fix = 'LimitNOFILE=65536 in the unit of systemd (systemctl edit mansio)';
  if (open !== undefined && open > limit * FILES_FAIL_SHARE) return fail(subject, detail, fix);
  if (limit < FEW_FILES) return warn(subject, `${detail}: each connection takes one`, fix);
  return ok(subject, detail);
}

/** Undefined where the system has no /proc. */
async function fileLimit(pid: number): Promise<number | undefined> {
  try {
    const line = /^Max open files\s+(\S+)/m.exec(await readFile(`/proc/${pid}/limits`, 'utf8'));
    if (line === null) return undefined;
    return line[1] === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(line[1]);
  } catch {
    return undefined;
  }
}

/** Undefined where another user's process hides it. */
async function openFiles(pid: number): Promise<number | undefined> {
  try {
    return (await readdir(`/proc/${pid}/fd`)).length;
  } catch {
    return undefined;
  }
}
