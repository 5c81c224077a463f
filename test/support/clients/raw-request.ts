// Sends a request with exactly these header fields, which fetch does not do: any Host, Origin, Cookie and Accept.
import { connect } from 'node:net';
import { patiently } from '../patience.js';

export interface RawReply {
  readonly status: number;
  readonly headers: Headers;
  /** Not decoded. */
  readonly body: Buffer;
}

/** `line`: method and path. */
export async function rawRequest(
  port: number,
  line: string,
  fields: Readonly<Record<string, string>> = {},
  body = '',
): Promise<RawReply> {
  const length: Record<string, string> = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const all = { Host: 'localhost', Connection: 'close', ...length, ...fields };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const got = await exchange(port, `${line} HTTP/1.1\r\n${head.join('')}\r\n${body}`);
  const [top = '', ...rest] = got.split('\r\n\r\n');
  const headers = new Headers(
    top
      .split('\r\n')
      .slice(1)
      .map((field): [string, string] => [field.split(': ')[0]!, field.slice(field.indexOf(': ') + 2)]),
  );
  return { status: Number(top.slice(9, 12)), headers, body: Buffer.from(rest.join('\r\n\r\n'), 'latin1') };
}

/** Resolves with everything that was received when the server closes. */
function exchange(port: number, request: string): Promise<string> {
  let got = '';
  const closed = new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(got));
    socket.write(request);
  });
  return patiently(closed, () => `the end of the answer ${JSON.stringify(got.slice(0, 200))}`);
}
