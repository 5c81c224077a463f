// Child process of the hub benchmark: many raw WebSocket clients of one hub, with as little of their own as will do, so
// that what is measured is the node. Told what to do over IPC; the key is never in an argument list.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

export interface OpenOrder {
  readonly kind: 'open';
  /** Hub address, http. */
  readonly url: string;
  readonly key: string;
  readonly connections: number;
}
export interface RoundOrder {
  readonly kind: 'round';
  /** Hub event to count, and how many of it each connection gets in the round. */
  readonly event: string;
  readonly events: number;
}
export type Order = OpenOrder | RoundOrder;

export type Report =
  | { readonly kind: 'opened'; readonly seconds: number }
  | { readonly kind: 'ready' }
  /** When each connection had got the whole round, ns of the machine's monotonic clock, ascending. */
  | { readonly kind: 'received'; readonly at: readonly string[]; readonly octets: number }
  | { readonly kind: 'failed'; readonly error: string };

const OPENING_AT_ONCE = 128;
const PING_EVERY_MS = 10_000;
const HANDSHAKE = '{"protocol":"json","version":1}\u001e';
const PING = '{"type":6}\u001e';

/** RFC 6455 §5.2: a masked text frame; with a mask of zeros the payload stays as it is. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([Buffer.of(0x81, 0x80 | payload.length, 0, 0, 0, 0), payload]);
}

const HANDSHAKE_FRAME = frame(HANDSHAKE);
const PING_FRAME = frame(PING);

class Client {
  seen = 0;
  #rest: Buffer = Buffer.alloc(0);
  #upgraded = false;
  #opened: (() => void) | undefined;
  readonly #socket: Socket;

  constructor(order: OpenOrder, opened: () => void, failed: (why: string) => void) {
    const { hostname, port, pathname, host } = new URL(order.url);
    this.#opened = opened;
    this.#socket = connect(Number(port), hostname);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (data) => this.#take(data));
    this.#socket.on('error', (err) => failed(err.message));
    this.#socket.on('close', () => failed('the node closed a connection'));
    this.#socket.write(
      `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n` +
        `Authorization: ApiKey ${order.key}\r\n\r\n`,
    );
  }

  ping(): void {
    this.#socket.write(PING_FRAME);
  }

  #take(data: Buffer): void {
    let buffer = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    if (!this.#upgraded) {
      const end = buffer.indexOf('\r\n\r\n');
      if (end < 0) {
        this.#rest = buffer;
        return;
      }
      const status = buffer.toString('latin1', 9, 12);
      if (status !== '101') throw new Error(`the node refused an upgrade with ${status}`);
      this.#upgraded = true;
      this.#socket.write(HANDSHAKE_FRAME);
      buffer = buffer.subarray(end + 4);
    }
    buffer = this.#frames(buffer);
    // Copied: a slice would keep the whole chunk alive.
    this.#rest = buffer.length === 0 ? EMPTY : Buffer.from(buffer);
  }

  /** Returns the part of a frame that is left. */
  #frames(buffer: Buffer): Buffer {
    let at = 0;
    while (buffer.length - at >= 2) {
      let length = buffer[at + 1]! & 0x7f;
      let start = at + 2;
      if (length === 126) {
        if (buffer.length < at + 4) break;
        length = buffer.readUInt16BE(at + 2);
        start = at + 4;
      } else if (length === 127) {
        if (buffer.length < at + 10) break;
        length = Number(buffer.readBigUInt64BE(at + 2));
        start = at + 10;
      }
      if (buffer.length < start + length) break;
      this.#payload(buffer.subarray(start, start + length));
      at = start + length;
    }
    return buffer.subarray(at);
  }

  #payload(payload: Buffer): void {
    octets += payload.length;
    if (this.#opened !== undefined) {
      this.#opened();
      this.#opened = undefined;
      return;
    }
    if (round === undefined) return;
    const before = this.seen;
    for (let at = payload.indexOf(round.needle); at >= 0; at = payload.indexOf(round.needle, at + 1)) this.seen++;
    if (before < round.events && this.seen >= round.events) arrived(round);
  }
}

interface Round {
  readonly needle: Buffer;
  readonly events: number;
  readonly at: bigint[];
}

const EMPTY = Buffer.alloc(0);
const clients: Client[] = [];
let round: Round | undefined;
let octets = 0;

function report(what: Report): void {
  process.send?.(what);
}

function fail(error: string): void {
  report({ kind: 'failed', error });
  process.exit(1);
}

function arrived({ at }: Round): void {
  at.push(process.hrtime.bigint());
  if (at.length < clients.length) return;
  round = undefined;
  report({ kind: 'received', at: at.map(String), octets });
}

async function open(order: OpenOrder): Promise<void> {
  const started = process.hrtime.bigint();
  let left = order.connections;
  const opener = async () => {
    while (left-- > 0) {
      await new Promise<void>((opened) => clients.push(new Client(order, opened, fail)));
    }
  };
  await Promise.all(Array.from({ length: OPENING_AT_ONCE }, opener));
  report({ kind: 'opened', seconds: Number(process.hrtime.bigint() - started) / 1e9 });
}

process.on('uncaughtException', (err) => fail(err.message));
process.on('disconnect', () => process.exit(0));
process.on('message', (order: Order) => {
  if (order.kind === 'open') {
    void open(order);
    return;
  }
  for (const client of clients) client.seen = 0;
  octets = 0;
  round = { needle: Buffer.from(`"target":"${order.event}"`), events: order.events, at: [] };
  report({ kind: 'ready' });
});
setInterval(() => {
  for (const client of clients) client.ping();
}, PING_EVERY_MS);
