// A bare smtp-server with an empty handler, in its own process: it shows what accepting mail costs when nothing is done with it. It prints
// its port.
import { SMTPServer } from 'smtp-server';

const server = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  logger: false,
  onData(stream, _session, done) {
    stream.on('end', () => done());
    stream.resume();
  },
});
const listening = server.listen(0, '127.0.0.1', () => {
  const address = listening.address();
  process.stdout.write(`${typeof address === 'object' && address !== null ? address.port : 0}\n`);
});
