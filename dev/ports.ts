// Free TCP ports for servers that must return to the same port. They are below the range that the system assigns itself (Linux 32768, macOS
// 49152): while a server is down, no outgoing connection takes its port. No other process gets the port either: a server on a loopback
// address that nothing else uses holds it as long as the process lives.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const FIRST = 20_000;
const LAST = 32_000;
const ADDRESS_OF_HOLDERS = '127.255.255.254';
const given = new Set<number>();

export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (given.has(port)) continue;
    given.add(port);
    if ((await hold(port)) && (await isFree(port))) return port;
  }
  throw new Error(`no free port between ${FIRST} and ${LAST}`);
}

/** Returns true also when the address does not exist: macOS has only 127.0.0.1. */
async function hold(port: number): Promise<boolean> {
  const holder = createServer().unref().listen(port, ADDRESS_OF_HOLDERS);
  try {
    await once(holder, 'listening');
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL';
  }
}

export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** Resolves when something accepts connections to the port of 127.0.0.1. */
export async function listening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await delay(20);
    } finally {
      socket.destroy();
    }
  }
}
