// Sends the requests of test/support/mail-programs as they are recorded.
import { readFileSync } from 'node:fs';
import net from 'node:net';

const FOLDER = 'test/support/mail-programs';

export interface RecordedReply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** `changed` maps recorded texts to their replacements, for example another address. */
export async function sendRecorded(
  port: number,
  name: string,
  changed: Readonly<Record<string, string>> = {},
): Promise<RecordedReply> {
  const recorded = Object.entries(changed).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    readFileSync(`${FOLDER}/${name}.http`, 'utf8'),
  );
  const end = recorded.indexOf('\n\n');
  const body = Buffer.from(recorded.slice(end + 2));
  const length = body.length === 0 ? [] : [`Content-Length: ${body.length}`];
  const head = [...recorded.slice(0, end).split('\n'), ...length, '', ''].join('\r\n');
  return reply(port, Buffer.concat([Buffer.from(head), body]));
}

function reply(port: number, request: Uint8Array): Promise<RecordedReply> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    let got = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      got = Buffer.concat([got, chunk]);
      const parsed = parse(got);
      if (parsed === undefined) return;
      socket.destroy();
      resolve(parsed);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`the connection closed after ${got.toString()}`)));
    socket.write(request);
  });
}

/** Returns undefined until the reply is complete. */
function parse(octets: Buffer): RecordedReply | undefined {
  const end = octets.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [line = '', ...fields] = octets.toString('latin1', 0, end).split('\r\n');
  const headers = new Map(
    fields.map((field) => [
      field.slice(0, field.indexOf(':')).toLowerCase(),
      field.slice(field.indexOf(':') + 1).trim(),
    ]),
  );
  const body = octets.subarray(end + 4);
  if (body.length < Number(headers.get('content-length') ?? Number.NaN)) return undefined;
  return { status: Number(line.split(' ')[1]), headers, body: body.toString() };
}
