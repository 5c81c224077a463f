// SMTP servers that accept everything and store nothing, on several addresses, in their own process: they do as little work per message as
// possible, so that the sender is measured. The parent gets the number of messages that arrived, and of those that have a DKIM signature.
// Arguments: port, address, address, …
import { createServer, type Socket } from 'node:net';

const [port, ...addresses] = process.argv.slice(2);
let delivered = 0;
let signed = 0;
let told = 0;

const SIGNATURE = '\r\nDKIM-Signature:';
/** The signature begins within these first characters, because relays put it below the fields that they add. */
const BEGIN = 1_000;

function serve(socket: Socket): void {
  let text = '';
  let inData = false;
  let isBegin = false;
  socket.setNoDelay(true).setEncoding('latin1');
  socket.on('error', () => socket.destroy());
  socket.write('220 sink.test ESMTP\r\n');
  socket.on('data', (chunk: string) => {
    text += chunk;
    let replies = '';
    for (;;) {
      if (inData) {
        const end = text.indexOf('\r\n.\r\n');
        if (isBegin && (text.length > BEGIN || end >= 0)) {
          if (text.slice(0, BEGIN).includes(SIGNATURE)) signed++;
          isBegin = false;
        }
        if (end < 0) {
          if (isBegin) break;
          // Octets before the last four can no longer be part of the end.
          text = text.slice(-4);
          break;
        }
        text = text.slice(end + 5);
        inData = false;
        delivered++;
        replies += '250 2.0.0 Ok\r\n';
      }
      const end = text.indexOf('\r\n');
      if (end < 0) break;
      const verb = text.slice(0, 4).toUpperCase();
      text = text.slice(end + 2);
      if (verb === 'EHLO')
        replies += '250-sink.test\r\n250-PIPELINING\r\n250-SIZE 50000000\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n';
      else if (verb === 'DATA') {
        // The text starts a line, so its end may follow at once.
        text = `\r\n${text}`;
        inData = true;
        isBegin = true;
        replies += '354 Go on\r\n';
        if (text.length > 2) continue;
        break;
      } else if (verb === 'QUIT') {
        socket.end(`${replies}221 2.0.0 Bye\r\n`);
        return;
      } else replies += '250 2.0.0 Ok\r\n';
    }
    if (replies !== '') socket.write(replies);
  });
}

for (const address of addresses) createServer(serve).listen(Number(port), address);
setInterval(() => {
  if (delivered === told) return;
  told = delivered;
  process.send?.({ delivered, signed });
}, 10);
process.on('disconnect', () => process.exit());
