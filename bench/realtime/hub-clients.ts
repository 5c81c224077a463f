// Child process of the benchmark `realtime`: many raw WebSocket clients of one hub, with as little code of their own as possible, so that
// the node is measured. It gets its orders over IPC; keys are never in an argument list.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** Opens connections in addition to those that are open. */
export interface OpenOrder {
  readonly kind: 'open';
  /** The hub's http address; with `resume=true` in its query the clients resume from the present. */
  readonly url: string;
  /** Client `i` of the order connects with key `i` modulo the number of keys. */
  readonly keys: readonly string[];
  readonly connections: number;
}
/** Each client will get `events` events of this hub event. */
export interface RoundOrder {
  readonly kind: 'round';
  readonly event: string;
  readonly events: number;
}
/** The subjects of events hold numbers: `#17`. `arrivals` counts the first event of each number at each client. */
export interface TraceOrder {
  readonly kind: 'trace';
  readonly event: string;
  readonly arrivals: number;
}
/** Client `i` subscribes to the lists of `queries[i]`, modulo the number of queries. */
export interface SubscribeOrder {
  readonly kind: 'subscribe';
  readonly queries: readonly (readonly unknown[])[];
}
/** All clients disconnect and keep their cursors. */
export interface LeaveOrder {
  readonly kind: 'leave';
}
/** All clients connect again, resume from their cursors, and get `events` of the event. */
export interface ReturnOrder {
  readonly kind: 'return';
  readonly url: string;
  readonly event: string;
  readonly events: number;
}
export type Order = OpenOrder | RoundOrder | TraceOrder | SubscribeOrder | LeaveOrder | ReturnOrder;

export type Report =
  | { readonly kind: 'opened'; readonly seconds: number }
  | { readonly kind: 'ready' }
  | { readonly kind: 'subscribed' }
  | { readonly kind: 'left' }
  /** The times at which each client had the whole round, in ns of the machine's monotonic clock, ascending. */
  | { readonly kind: 'received'; readonly at: readonly string[]; readonly octets: number }
  /** The time at which each event reached a client, by its number, in ns. */
  | { readonly kind: 'traced'; readonly at: readonly (readonly [number: number, ns: string])[] }
  | { readonly kind: 'failed'; readonly error: string };

const OPENING_AT_ONCE = 128;
const PING_EVERY_MS = 10_000;
const HANDSHAKE = '{"protocol":"json","version":1}\u001e';
const PING = '{"type":6}\u001e';
const POSITION = Buffer.from('"target":"Position","arguments":["');
const MARK = Buffer.from('"subject":"#');
const COMPLETION = Buffer.from('{"type":3,');
const REFUSED = Buffer.from('"error":"');
const SEPARATOR = 0x1e;
const QUOTE = 0x22;
const EMPTY = Buffer.alloc(0);
/** All sockets read into this buffer; the rest of an incomplete frame is copied. */
const INPUT = Buffer.alloc(256 * 1024);

/** RFC 6455 §5.2: returns a masked text frame; a mask of zeros leaves the payload unchanged. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text);
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255];
  return Buffer.concat([Buffer.of(0x81, ...length, 0, 0, 0, 0), payload]);
}

const HANDSHAKE_FRAME = frame(HANDSHAKE);
const PING_FRAME = frame(PING);

class Client {
  seen = 0;
  /** The numbers of the trace that have arrived. */
  readonly traced = new Set<number>();
  readonly #key: string;
  #cursor: string | null = null;
  #resumes = false;
  #rest: Buffer = EMPTY;
  #state: 'upgrading' | 'joining' | 'open' = 'upgrading';
  #opened = () => {};
  #socket: Socket | undefined;

  constructor(key: string) {
    this.#key = key;
  }

  /** Resolves when the client gets events. */
  open(url: string): Promise<void> {
    const { hostname, port, pathname, search, host } = new URL(url);
    this.#resumes = search.includes('resume=true');
    this.#rest = EMPTY;
    this.#state = 'upgrading';
    const socket = connect({
      port: Number(port),
      host: hostname,
      noDelay: true,
      onread: {
        buffer: INPUT,
        callback: (octets) => {
          this.#take(INPUT.subarray(0, octets));
          return true;
        },
      },
    });
    socket.on('error', (err) => fail(err.message));
    socket.on('close', () => {
      if (this.#socket === socket) fail('the node closed a connection');
    });
    socket.write(
      `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n` +
        `Authorization: ApiKey ${this.#key}\r\n\r\n`,
    );
    this.#socket = socket;
    return new Promise((opened) => {
      this.#opened = opened;
    });
  }

  subscribe(queries: readonly unknown[]): void {
    queries.forEach((query, i) => {
      const call = { type: 1, invocationId: `${i + 1}`, target: 'Subscribe', arguments: [query] };
      this.#socket?.write(frame(`${JSON.stringify(call)}\u001e`));
    });
  }

  leave(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
  }

  ping(): void {
    if (this.#state === 'open') this.#socket?.write(PING_FRAME);
  }

  #take(data: Buffer): void {
    let buffer = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    if (this.#state === 'upgrading') {
      const end = buffer.indexOf('\r\n\r\n');
      if (end < 0) {
        this.#rest = Buffer.from(buffer);
        return;
      }
      const status = buffer.toString('latin1', 9, 12);
      if (status !== '101') throw new Error(`the node refused an upgrade with ${status}`);
      this.#state = 'joining';
      this.#socket!.write(this.#resumes ? Buffer.concat([HANDSHAKE_FRAME, this.#resumeFrame()]) : HANDSHAKE_FRAME);
      buffer = buffer.subarray(end + 4);
    }
    buffer = this.#frames(buffer);
    // The rest is copied, because a slice would keep the whole chunk in memory.
    this.#rest = buffer.length === 0 ? EMPTY : Buffer.from(buffer);
  }

  #resumeFrame(): Buffer {
    const call = { type: 1, invocationId: '0', target: 'Resume', arguments: [this.#cursor] };
    return frame(`${JSON.stringify(call)}\u001e`);
  }

  /** Reads whole frames; returns the rest of an incomplete one. */
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
    if (this.#resumes) this.#keepCursor(payload);
    if (this.#state === 'joining' && (!this.#resumes || this.#cursor !== null)) {
      this.#state = 'open';
      this.#opened();
    }
    if (answersLeft > 0) answered(payload);
    if (trace !== undefined) traced(trace, this, payload);
    if (round === undefined) return;
    const before = this.seen;
    for (let at = payload.indexOf(round.needle); at >= 0; at = payload.indexOf(round.needle, at + 1)) this.seen++;
    if (before < round.events && this.seen >= round.events) arrived(round);
  }

  #keepCursor(payload: Buffer): void {
    const at = payload.lastIndexOf(POSITION);
    if (at < 0) return;
    const start = at + POSITION.length;
    this.#cursor = payload.toString('latin1', start, payload.indexOf(QUOTE, start));
  }
}

interface Round {
  readonly needle: Buffer;
  readonly events: number;
  readonly at: bigint[];
}

interface Trace {
  readonly needle: Buffer;
  readonly arrivals: number;
  readonly at: [number, string][];
}

const clients: Client[] = [];
let round: Round | undefined;
let trace: Trace | undefined;
let octets = 0;
/** The number of calls without an answer. */
let answersLeft = 0;

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

function traced({ needle, at, arrivals }: Trace, client: Client, payload: Buffer): void {
  const ns = String(process.hrtime.bigint());
  for (let found = payload.indexOf(needle); found >= 0; ) {
    const end = payload.indexOf(SEPARATOR, found);
    for (let mark = payload.indexOf(MARK, found); mark >= 0 && mark < end; mark = payload.indexOf(MARK, mark + 1)) {
      const start = mark + MARK.length;
      const number = Number.parseInt(payload.toString('latin1', start, start + 12), 10);
      if (client.traced.has(number)) continue;
      client.traced.add(number);
      at.push([number, ns]);
    }
    found = payload.indexOf(needle, end);
  }
  if (at.length < arrivals) return;
  trace = undefined;
  report({ kind: 'traced', at });
}

function answered(payload: Buffer): void {
  for (let found = payload.indexOf(COMPLETION); found >= 0; found = payload.indexOf(COMPLETION, found + 1)) {
    const end = payload.indexOf(SEPARATOR, found);
    const refused = payload.subarray(found, found + 100).includes(REFUSED);
    if (refused) fail(payload.toString('utf8', found, end));
    if (--answersLeft === 0) report({ kind: 'subscribed' });
  }
}

function begin({ event, events }: Pick<RoundOrder, 'event' | 'events'>): void {
  for (const client of clients) client.seen = 0;
  octets = 0;
  round = { needle: needleOf(event), events, at: [] };
}

function needleOf(event: string): Buffer {
  return Buffer.from(`"target":"${event}"`);
}

async function openAll(opening: readonly Client[], url: string): Promise<void> {
  const started = process.hrtime.bigint();
  let next = 0;
  const opener = async () => {
    while (next < opening.length) await opening[next++]!.open(url);
  };
  await Promise.all(Array.from({ length: OPENING_AT_ONCE }, opener));
  report({ kind: 'opened', seconds: Number(process.hrtime.bigint() - started) / 1e9 });
}

async function follow(order: Order): Promise<void> {
  switch (order.kind) {
    case 'open': {
      const { url, keys, connections } = order;
      const added = Array.from({ length: connections }, (_, i) => new Client(keys[i % keys.length]!));
      clients.push(...added);
      await openAll(added, url);
      return;
    }
    case 'round':
      begin(order);
      report({ kind: 'ready' });
      return;
    case 'trace':
      for (const client of clients) client.traced.clear();
      trace = { needle: needleOf(order.event), arrivals: order.arrivals, at: [] };
      report({ kind: 'ready' });
      return;
    case 'subscribe': {
      const { queries } = order;
      const asked = clients.map((client, i) => [client, queries[i % queries.length]!] as const);
      answersLeft = asked.reduce((sum, [, lists]) => sum + lists.length, 0);
      for (const [client, lists] of asked) client.subscribe(lists);
      return;
    }
    case 'leave':
      for (const client of clients) client.leave();
      report({ kind: 'left' });
      return;
    case 'return':
      begin(order);
      await openAll(clients, order.url);
      return;
  }
}

process.on('uncaughtException', (err) => fail(err.message));
process.on('disconnect', () => process.exit(0));
process.on('message', (order: Order) => void follow(order));
setInterval(() => {
  for (const client of clients) client.ping();
}, PING_EVERY_MS);
