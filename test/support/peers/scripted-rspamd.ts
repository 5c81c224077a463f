// An rspamd that answers as a test says, and notes what it was asked.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ScriptedRspamd {
  readonly url: string;
  readonly asked: Asked[];
  /** Answers the next requests; by default every message is fine. A function that ends nothing makes it silent. */
  answer: (response: ServerResponse, asked: Asked) => void;
}

interface Teardown {
  teardown(end: () => unknown): void;
}

export const FINE = { action: 'no action', score: 0.1, required_score: 15, symbols: {}, messages: {} };

export function answers(result: object): ScriptedRspamd['answer'] {
  return (response) => void response.end(JSON.stringify({ ...FINE, ...result }));
}

export async function startScriptedRspamd(t: Teardown): Promise<ScriptedRspamd> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('error', () => undefined);
    request.on('end', () => {
      const each = { path: request.url!, headers: request.headers, body: Buffer.concat(pieces).toString('latin1') };
      asked.push(each);
      if (each.path === '/ping') response.end('pong\r\n');
      else scripted.answer(response, each);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const scripted: ScriptedRspamd = { url, asked, answer: answers({}) };
  return scripted;
}
