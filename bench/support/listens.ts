// Waits until a started server accepts connections.
import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';

const READY_MS = 10_000;

/** Resolves to false when the process ended, or did not listen in time. */
export async function listens(port: number, child: ChildProcess): Promise<boolean> {
  const until = Date.now() + READY_MS;
  while (Date.now() < until && child.exitCode === null) {
    const socket = connect({ host: '127.0.0.1', port });
    const opened = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (opened) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
