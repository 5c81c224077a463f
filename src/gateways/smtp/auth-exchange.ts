// The AUTH command (RFC 4954) on smtp-server's connection: the lines of a SASL exchange are passed to `ListenerLogins`. It replaces the
// exchanges of smtp-server, which accept invalid base64, lack OAUTHBEARER and cannot say why a token was refused.
import type { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import type { ListenerLogins, LoginConnection } from '../../auth/listener-logins.js';
import type { SmtpReply } from './replies.js';

const SYNTAX: SmtpReply = { code: 501, text: '5.5.4 Syntax: AUTH mechanism [initial-response]' };
const NOT_NOW: SmtpReply = { code: 503, text: '5.5.1 Already authenticated' };

/** `done` is called when the reply, or a challenge, to the command is sent. Never rejects. */
export async function authenticate(
  connection: SMTPConnection & LoginConnection<SmtpReply>,
  command: string,
  logins: ListenerLogins<SmtpReply>,
  done: () => void,
): Promise<void> {
  const [, name, initial, ...more] = command.trim().split(/ +/);
  let replied = done;
  const ask = (challenge: string) =>
    new Promise<string>((resolve) => {
      connection._nextHandler = (line: Buffer, then: () => void) => {
        replied = then;
        resolve(line.toString('latin1').trim());
      };
      connection.send(334, challenge);
      replied();
    });
  let reply = connection.session.user ? NOT_NOW : logins.refusal(connection);
  if (reply === undefined) {
    if (name === undefined || more.length > 0) reply = SYNTAX;
    else reply = await logins.authenticate(connection, { name, initial, ask });
  }
  connection.send(reply.code, reply.text);
  replied();
}
