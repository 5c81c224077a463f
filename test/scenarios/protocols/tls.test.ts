// Tests TLS at every mail listener: octets from before the handshake are forgotten, old versions are refused, the host that the client
// names selects the certificate, and sessions are resumed at every listener.
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { CertificateSource } from '../../../src/net/tcp/certificate-source.js';
import { pairFor } from '../../support/key-pair.js';
import test from '../../support/test.js';
import { Conversation } from './conversation.js';
import { rows } from './rows.js';

/** Returns the name of the certificate that the client gets. */
function presented(socket: TLSSocket): string {
  return String(socket.getPeerCertificate().subject.CN);
}

for (const [name, row] of rows) {
  if (!row.implicitTls) {
    const commands = row.injected.map((command) => `${command}\r\n`).join('');
    const injections: readonly (readonly [what: string, octets: string])[] = [
      ['commands', commands],
      ['many commands', commands.repeat(350)],
      ['a part of a command', row.injected[0]!.slice(0, 4)],
    ];
    for (const [what, octets] of injections) {
      test(`${name}: ${what} pipelined behind ${row.startTls} never take effect`, async (t) => {
        const { port, logged } = await row.listen(t, {});
        const conversation = await Conversation.begin(row, port);
        conversation.client.write(`${row.startTls}\r\n${octets}`);
        t.regex((await conversation.reply()).at(-1)!, row.goAhead);
        await conversation.secure();
        conversation.client.write(`${row.hello ?? row.noop}\r\n`);
        const replies = await conversation.reply();
        t.regex(replies.at(-1)!, row.done);
        t.regex(await conversation.say(row.probe), row.untouched);
        t.is(conversation.client.pending, '');
        t.false(replies.some((line) => line.startsWith('y ')));
        t.false(logged.some(({ msg }) => msg === 'authenticated'));
      });
    }

    test(`${name}: plain text in the place of the handshake ends the connection`, async (t) => {
      const { port } = await row.listen(t, {});
      const conversation = await Conversation.begin(row, port);
      t.regex(await conversation.say(row.startTls), row.goAhead);
      conversation.client.write(`${row.noop}\r\n`.repeat(10));
      const rest = await conversation.client.rest();
      t.false(rest.some((line) => row.done.test(line)));
    });
  }

  test(`${name}: TLS 1.2 and 1.3, and nothing older`, async (t) => {
    const { port } = await row.listen(t, {});
    const only = (version: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): ConnectionOptions => ({
      minVersion: version,
      maxVersion: version,
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    for (const old of ['TLSv1', 'TLSv1.1'] as const) {
      await t.throwsAsync(Conversation.secured(row, port, only(old)), { message: /alert protocol version/ });
    }
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      t.is((await Conversation.secured(row, port, only(version))).getProtocol(), version);
    }
  });

  test(`${name}: the certificate is the one for the host that the client names`, async (t) => {
    const hosts = ['mail.example.test', '*.example.org', 'imap.example.org'];
    const tls = new CertificateSource(await Promise.all(hosts.map(pairFor)));
    const { port } = await row.listen(t, { tls });
    const certificateFor = async (servername?: string) =>
      presented(await Conversation.secured(row, port, servername === undefined ? {} : { servername }));
    t.is(await certificateFor(), 'mail.example.test');
    t.is(await certificateFor('mail.example.test'), 'mail.example.test');
    t.is(await certificateFor('imap.example.org'), 'imap.example.org', 'exact before the wildcard');
    t.is(await certificateFor('IMAP.Example.ORG'), 'imap.example.org');
    t.is(await certificateFor('smtp.example.org'), '*.example.org');
    t.is(await certificateFor('a.b.example.org'), 'mail.example.test', 'a wildcard is for one label');
    t.is(await certificateFor('elsewhere.example'), 'mail.example.test');
  });

  test(`${name}: a renewed certificate is presented from then on, one that cannot be used is not`, async (t) => {
    const tls = new CertificateSource([await pairFor('old.example.test')]);
    const { port } = await row.listen(t, { tls });
    t.is(presented(await Conversation.secured(row, port)), 'old.example.test');
    t.throws(() => tls.renew([{ cert: 'nonsense', key: 'nonsense' }]));
    t.is(presented(await Conversation.secured(row, port)), 'old.example.test');
    tls.renew([await pairFor('new.example.test')]);
    t.is(presented(await Conversation.secured(row, port)), 'new.example.test');
  });
}

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`${maxVersion}: a session is resumed at every listener of every node, after a renewal too`, async (t) => {
    const ticketKey = Buffer.alloc(48, 7);
    const pairs = [await pairFor('mail.example.test'), await pairFor('other.example.test')];
    const nodes = [new CertificateSource(pairs, { ticketKey }), new CertificateSource(pairs, { ticketKey })] as const;
    const ports = await Promise.all(
      rows.map(async ([, row]) => Promise.all(nodes.map(async (tls) => (await row.listen(t, { tls })).port))),
    );
    const tls = { maxVersion, servername: 'mail.example.test' };
    /** Returns a session that the first node gave at this row. */
    const sessionOf = async (place: number): Promise<Buffer> => {
      const socket = await Conversation.secured(rows[place]![1], ports[place]![0]!, tls);
      if (maxVersion === 'TLSv1.2') return socket.getSession()!;
      return new Promise((resolve) => socket.once('session', resolve));
    };
    const isResumed = async (place: number, node: number, session: Buffer): Promise<boolean> => {
      const socket = await Conversation.secured(rows[place]![1], ports[place]![node]!, { ...tls, session });
      const reused = socket.isSessionReused();
      socket.destroy();
      return reused;
    };
    for (const [place, [name]] of rows.entries()) {
      const session = await sessionOf(place);
      for (const [other, [otherName]] of rows.entries()) {
        for (const node of [0, 1]) t.true(await isResumed(other, node, session), `${name} to ${otherName}, ${node}`);
      }
    }
    const sessions = await Promise.all(rows.map((_, place) => sessionOf(place)));
    nodes[0].renew([await pairFor('mail.example.test')]);
    for (const [place, [name]] of rows.entries()) t.true(await isResumed(place, 0, sessions[place]!), name);
    nodes[0].rotate(Buffer.alloc(48, 8));
    for (const [place, [name]] of rows.entries()) t.false(await isResumed(place, 0, sessions[place]!), name);
  });
}
