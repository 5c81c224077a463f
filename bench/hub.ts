// Many hub connections of one account on one node: memory a connection, and how long a new email takes from its SMTP
// sender to every one of them.
import { hubLoad } from './support/hub-load.js';
import { startBenchNode } from './support/node.js';
import { SmtpSender } from './support/smtp-load.js';

export async function run(args: readonly string[]): Promise<void> {
  const node = await startBenchNode({ MANSIO_LOG_LEVEL: 'warn' });
  try {
    const [account] = await node.createAccounts(1);
    const key = await node.createKey(account!.id);
    const sender = await SmtpSender.open('127.0.0.1', node.port('mx'));
    await hubLoad({
      url: `http://127.0.0.1:${node.port('http')}/hubs/email`,
      key,
      nodePid: node.process.pid!,
      connections: Number(args[0] ?? 10_000),
      trigger: async () => {
        const message = `From: a@remote.test\r\nSubject: to many\r\n\r\ntext\r\n.\r\n`;
        if (!(await sender.send('a@remote.test', [account!.email], message))) throw new Error('mail was refused');
      },
    });
    sender.close();
  } finally {
    await node.stop();
  }
}
