// Sends mail at a steady rate while something else is measured.
import { SmtpSender } from './smtp-load.js';

const CONNECTIONS = 8;
const TURN_MS = 20;
const TEXT = 'The quick brown fox jumps over the lazy dog; again and again and again.\r\n'.repeat(50);

export interface MailStream {
  /** Stops, and returns the accepted messages per second since the start. */
  stop(): Promise<number>;
}

/** Sends 4 kB messages to the recipients in turn; when the server is too slow, messages are sent late and not dropped. */
export async function startMail(port: number, recipients: readonly string[], rate: number): Promise<MailStream> {
  const senders = await Promise.all(Array.from({ length: CONNECTIONS }, () => SmtpSender.open('127.0.0.1', port)));
  const idle = [...senders];
  const started = performance.now();
  const sending = new Set<Promise<void>>();
  let begun = 0;
  let accepted = 0;
  const sendOne = async (sender: SmtpSender, i: number) => {
    const to = recipients[i % recipients.length]!;
    const head = `From: Sender ${i} <sender@remote.test>\r\nTo: ${to}\r\nSubject: Load message ${i}\r\nMessage-ID: <${i}.${started}@remote.test>\r\n`;
    if (await sender.send('sender@remote.test', [to], `${head}\r\n${TEXT}.\r\n`)) accepted++;
    idle.push(sender);
  };
  const turn = () => {
    const due = ((performance.now() - started) / 1000) * rate;
    while (begun < due && idle.length > 0) {
      // The server closes a connection that is idle for minutes, so each gets its turn.
      const sent = sendOne(idle.shift()!, begun++).finally(() => sending.delete(sent));
      sending.add(sent);
    }
  };
  const timer = setInterval(turn, TURN_MS);
  return {
    async stop() {
      clearInterval(timer);
      const seconds = (performance.now() - started) / 1000;
      const each = accepted / seconds;
      await Promise.all(sending);
      for (const sender of senders) sender.close();
      return each;
    },
  };
}
