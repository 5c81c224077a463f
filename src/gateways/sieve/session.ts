// One ManageSieve session on its connection (RFC 5804 §1.4): what `MailSession` lacks.
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import type { LineConnection } from '../../net/tcp/line-connection.js';
import { MailSession, type SessionParts } from '../sessions/mail-session.js';
import { SieveCommandSource, type SieveSourceOptions } from './command-source.js';
import type { SieveContext } from './context.js';
import { bye, lineOf, ok, type SieveReply } from './replies.js';

export type SieveState = 'unauthenticated' | 'authenticated';

/** What all sessions of a listener share. */
export interface SieveSessionParts extends SessionParts<SieveReply> {
  readonly context: SieveContext;
}

const LOST_PLACE = bye('A literal has another form than {n+}, or is too large');

export class SieveSession extends MailSession<SieveReply, SieveSessionParts> {
  readonly source: SieveCommandSource;

  constructor(connection: LineConnection, parts: SieveSessionParts, input: SieveSourceOptions) {
    super(connection, parts);
    this.source = new SieveCommandSource(connection, input);
  }

  get state(): SieveState {
    return this.isLoggedIn ? 'authenticated' : 'unauthenticated';
  }

  open(login: ProtocolLogin): SieveReply {
    this.begin(login);
    return ok('Logged in');
  }

  protected endAfterFailures(): void {
    this.isOver = true;
  }

  /** Called when the start of the next command is unknown. */
  endLost(): void {
    this.output.write(lineOf(LOST_PLACE));
    this.isOver = true;
  }
}
