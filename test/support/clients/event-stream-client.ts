// A plain client of event streams: it reads what the server sends, block by block. It does not reconnect by itself; a test does, with the
// last id.
import { once } from 'node:events';
import http from 'node:http';
import { patiently } from '../patience.js';

export interface StreamedEvent {
  /** The last id so far; empty before the first. */
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
}

export interface EventStreamClient {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** All events so far, including `Position` and `Resync`. */
  readonly events: readonly StreamedEvent[];
  /** Blocks without an event: comments, `retry`. */
  readonly others: readonly string[];
  /** Tells how the server has ended the stream; undefined while it is open. */
  readonly ended: 'whole' | 'cut' | undefined;
  /** The body of a reply that is not an event stream. */
  readonly body: string;
  /** Resolves when `holds` returns true; it is called whenever something has arrived. @throws after five minutes */
  until(holds: () => boolean): Promise<void>;
  /** Returns the last id that arrived. */
  lastId(): string | undefined;
  pause(): void;
  resume(): void;
  /** Drops the connection. */
  close(): void;
}

export interface StreamOptions {
  readonly key?: string | undefined;
  readonly lastEventId?: string | undefined;
}

/** Resolves when the head of the reply has arrived. */
export async function openEventStream(url: string, options: StreamOptions = {}): Promise<EventStreamClient> {
  const { key, lastEventId } = options;
  const request = http.get(url, {
    agent: false,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
  });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const events: StreamedEvent[] = [];
  // An event without an id has that of the event before.
  const lastId = () => events.at(-1)?.id ?? '';
  const others: string[] = [];
  let text = '';
  let ended: 'whole' | 'cut' | undefined;
  let changed = () => {};
  response.setEncoding('utf8');
  response.on('data', (piece: string) => {
    const blocks = (text + piece).split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map((line) => [line.split(': ', 1)[0], line]));
      const fieldOf = (name: string) => fields[name]?.slice(name.length + 2);
      const data = fieldOf('data');
      if (data === undefined) others.push(block);
      else events.push({ id: fieldOf('id') ?? lastId(), type: fieldOf('event')!, data: JSON.parse(data) });
    }
    changed();
  });
  const end = (how: 'whole' | 'cut') => {
    ended ??= how;
    changed();
  };
  response.on('end', () => end('whole'));
  response.on('error', () => end('cut'));
  response.on('close', () => end('cut'));
  return {
    status: response.statusCode!,
    headers: response.headers,
    events,
    others,
    get ended() {
      return ended;
    },
    get body() {
      return text;
    },
    async until(holds) {
      const heard = async () => {
        while (!holds()) {
          if (ended !== undefined) throw new Error(`the stream has ended (${ended}) after ${events.length} events`);
          await new Promise<void>((resolve) => {
            changed = resolve;
          });
        }
      };
      await patiently(heard(), () => `${holds}, after ${events.length} events`);
    },
    lastId: () => events.at(-1)?.id,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void response.destroy(),
  };
}
