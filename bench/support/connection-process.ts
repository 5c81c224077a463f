// Finds the process that has the server's end of a TCP connection (Linux): processes of one parent share a port, so the port does not tell.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns the process among `pids` that serves a client on its `port`; the client's end has `localPort`. @throws Error when none does */
export function processServing(port: number, localPort: number, pids: readonly number[]): number {
  const inode = inodeOf(port, localPort);
  const found = pids.find((pid) => socketsOf(pid).has(`socket:[${inode}]`));
  if (found === undefined) throw new Error(`no process has the connection from port ${localPort}`);
  return found;
}

/** Returns the processes that have the parent, with their numbers in Node's cluster. */
export function workersOf(parent: number): ReadonlyMap<number, number> {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'latin1').match(/\d+/g) ?? [];
  const numbers = new Map<number, number>();
  for (const pid of children) {
    const number = /(?:^|\0)NODE_UNIQUE_ID=(\d+)/.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1];
    if (number !== undefined) numbers.set(Number(pid), Number(number));
  }
  return numbers;
}

/** The columns of /proc/net/tcp are described in proc(5). */
function inodeOf(localPort: number, remotePort: number): string {
  const [local, remote] = [localPort, remotePort].map((port) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`);
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(table, 'latin1').split('\n')) {
      const fields = line.trim().split(/ +/);
      const isIt = fields[1]?.endsWith(local!) === true && fields[2]?.endsWith(remote!) === true;
      if (isIt && fields[3] === '01') return fields[9]!;
    }
  }
  throw new Error(`there is no connection from port ${remotePort}`);
}

function socketsOf(pid: number): Set<string> {
  const sockets = new Set<string>();
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    try {
      sockets.add(readlinkSync(`/proc/${pid}/fd/${name}`));
    } catch {
      // The process has closed it meanwhile.
    }
  }
  return sockets;
}
