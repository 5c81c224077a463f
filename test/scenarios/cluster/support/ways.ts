// The ways to send messages to a node: SMTP from another server, submission, IMAP APPEND, REST.
import type { TestAccount } from '../../../../dev/node-accounts.js';
import { AppendChannel } from './append-channel.js';
import type { Channel, ChannelOptions } from './channel.js';
import type { Target } from './load.js';
import type { Copy } from './mailing.js';
import { RestChannel } from './rest-channel.js';
import { SmtpChannel } from './smtp-channel.js';

export type WayName = 'mx' | 'submission' | 'append' | 'rest';

interface Way {
  /** A channel is kept for further messages. */
  readonly isKept: boolean;
  /** Where the target offers it. */
  at(target: Target): string | undefined;
  open(address: string, options: ChannelOptions, account: TestAccount): Promise<Channel>;
  /** The copies of an acknowledged message that `account` sends to `to`. */
  copies(account: TestAccount, to: readonly string[]): readonly Copy[];
}

const incoming = (to: readonly string[]): Copy[] => to.map((email) => ({ email, folder: 'INBOX' }));
const sent = ({ email }: TestAccount, to: readonly string[]): Copy[] => [...incoming(to), { email, folder: 'Sent' }];

export const WAYS: Readonly<Record<WayName, Way>> = {
  mx: {
    isKept: true,
    at: ({ mx }) => mx,
    open: (address, options) => SmtpChannel.open(address, options),
    copies: (_, to) => incoming(to),
  },
  submission: {
    isKept: true,
    at: ({ submission }) => submission,
    open: (address, options, account) => SmtpChannel.open(address, options, account),
    copies: sent,
  },
  append: {
    isKept: true,
    at: ({ imap }) => imap,
    open: (address, options, account) => AppendChannel.open(address, options, account),
    copies: ({ email }) => [{ email, folder: 'Archive' }],
  },
  rest: {
    // As a browser does, it asks a node that is well at each request.
    isKept: false,
    at: ({ http }) => http,
    open: async (address, options, account) => new RestChannel(address, options, account),
    copies: sent,
  },
};
