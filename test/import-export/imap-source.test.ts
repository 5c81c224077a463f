// Tests an import from a fake IMAP server: what it sends is limited, whatever it announces.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { imapServer } from '../../src/import-export/imap-server.js';
import { imapSource } from '../../src/import-export/imap-source.js';
import { eventually } from '../scenarios/cluster/support/eventually.js';
import test from '../support/test.js';

/** Serves an inbox of three messages; `fetch` answers a FETCH of their octets. */
async function played(fetch: (socket: Socket) => void, mailbox = 'INBOX') {
  const answers: Readonly<Record<string, (socket: Socket) => void>> = {
    CAPABILITY: (socket) => socket.write('* CAPABILITY IMAP4rev1\r\n'),
    LIST: (socket) => socket.write(`* LIST () "/" ${mailbox}\r\n`),
    STATUS: (socket) => socket.write(`* STATUS ${mailbox} (MESSAGES 3)\r\n`),
    EXAMINE: (socket) => socket.write('* 3 EXISTS\r\n* OK [UIDVALIDITY 1] .\r\n* FLAGS ()\r\n'),
    SIZES: (socket) => {
      for (const i of [1, 2, 3]) socket.write(`* ${i} FETCH (UID ${i} RFC822.SIZE 10)\r\n`);
    },
    FETCH: fetch,
  };
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.write('* OK ready\r\n');
    const lines = createInterface({ input: socket });
    lines.on('error', () => {});
    lines.on('line', (line) => {
      const [tag = '', verb = ''] = line.split(' ');
      const command = line.includes('RFC822.SIZE') ? 'SIZES' : verb === 'UID' ? 'FETCH' : verb;
      answers[command]?.(socket);
      socket.write(`${tag} OK done\r\n`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `imap://a:b@127.0.0.1:${port}`, connections: () => connections, close: () => server.close() };
}

async function read(url: string, positions: string[] = []): Promise<string[]> {
  const server = imapServer(url, false);
  if ('problem' in server) throw new Error(server.problem);
  const source = await imapSource(server, async (name) => {
    positions.push(name);
    return undefined;
  });
  const found: string[] = [];
  for await (const item of source.items()) {
    found.push(item.kind === 'message' ? Buffer.from(item.bytes).toString() : item.kind);
  }
  return found;
}

const sent = (socket: Socket, uid: number, octets: Buffer) => {
  socket.write(`* ${uid} FETCH (UID ${uid} FLAGS () BODY[] {${octets.length}}\r\n`);
  socket.write(octets);
  socket.write(')\r\n');
};

test('messages that were not asked for are passed over', async (t) => {
  const server = await played((socket) => {
    for (const uid of [7, 1, 2, 8, 3]) sent(socket, uid, Buffer.from(`Subject: ${uid}\r\n\r\n`));
  });
  t.teardown(server.close);
  t.deepEqual(await read(server.url), ['skip', ...[1, 2, 3].map((uid) => `Subject: ${uid}\r\n\r\n`), 'checkpoint']);
});

test('a server that sends far more than it announced ends the import', async (t) => {
  const large = Buffer.alloc(60 * 1024 * 1024, 'x\r\n');
  const server = await played((socket) => {
    for (const uid of [1, 2, 3]) sent(socket, uid, large);
  });
  t.teardown(server.close);
  await t.throwsAsync(read(server.url), {
    message: 'the IMAP server: INBOX, UID 1 to 3: more than 157286400 octets, and other sizes were announced',
  });
  t.is(server.connections(), 1, 'it is not asked again');
});

test('a line without an end is read no further than a megabyte', async (t) => {
  let sentOctets = 0;
  let isOpen = true;
  const piece = Buffer.alloc(256 * 1024, 'x');
  const server = await played((socket) => {
    socket.on('close', () => {
      isOpen = false;
    });
    socket.write('* 1 FETCH (UID 1 FLAGS (');
    const more = () => {
      if (socket.destroyed || sentOctets >= 256 * 1024 * 1024) return;
      sentOctets += piece.length;
      socket.write(piece, more);
    };
    more();
  });
  t.teardown(server.close);
  await t.throwsAsync(read(server.url), { message: /^the IMAP server: / });
  await eventually('the end of the connection', () => !isOpen);
  t.true(sentOctets < 128 * 1024 * 1024, `${sentOctets} octets were sent`);
});

test('a mailbox whose name the store cannot keep has a position under another name', async (t) => {
  const server = await played((socket) => {
    for (const uid of [1, 2, 3]) sent(socket, uid, Buffer.from(`Subject: ${uid}\r\n\r\n`));
  }, 'a&AAA-b');
  t.teardown(server.close);
  const positions: string[] = [];
  t.is((await read(server.url, positions)).at(-1), 'checkpoint');
  t.true(positions.length > 0);
  for (const position of positions) t.regex(position, /^a@127\.0\.0\.1:\d+\/".*a\\u0000b"$/);
});
