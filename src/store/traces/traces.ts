// Port: what the store knows of the way of single messages, for `mansio trace`. It is derived from the logs of accounts, which are kept for 30
// days, from the headers of stored messages, and from the record of refused mail.
import type { Change, ChangeOf } from '../changes/changes.js';
import type { RefusedMail } from './refused-mail.js';

/** A record of an account's log. */
export type TracedChange = { [T in Change['type']]: Pick<ChangeOf<T>, 'type' | 'payload' | 'at'> }[Change['type']];

export interface TracedAccount {
  readonly id: string;
  readonly email: string;
}

export interface OnlyNode {
  readonly id: string;
  readonly since: number;
}

export interface TraceStore {
  /** Accounts with mail that has the Message-ID or refers to it. */
  accountsOfMessage(messageId: string): Promise<readonly TracedAccount[]>;
  /** Accounts whose log has a record about the id (UUID v7) from around the time that the id has. */
  accountsOfId(id: string): Promise<readonly TracedAccount[]>;
  /** Ids of emails by their account, whose message was received by the transaction with this id (UUID v7). */
  emailsOfTransaction(id: string): Promise<readonly { readonly account: TracedAccount; readonly emailId: string }[]>;
  /** The account that has the address. */
  accountOfAddress(address: string): Promise<TracedAccount | undefined>;
  /** The newest emails from the address, and outbound emails to it, by their account. */
  correspondence(
    address: string,
    limit: number,
  ): Promise<readonly { readonly account: TracedAccount; readonly id: string }[]>;
  /** The ids of the newest emails and outbound emails of the account. */
  newest(accountId: string, limit: number): Promise<readonly string[]>;
  /** Records of the account's log that contain one of the texts, oldest first. */
  changes(accountId: string, texts: readonly string[]): Promise<readonly TracedChange[]>;
  /** The beginnings of messages, by their blobs: as much as has the trace fields of this server. */
  headers(blobs: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** The names of the account's folders by their ids. */
  folders(accountId: string): Promise<ReadonlyMap<string, string>>;
  /** Refused mail with the transaction, Message-ID, sender or recipient; the newest, oldest first. */
  refusals(
    of: { readonly transaction?: string; readonly messageId?: string; readonly address?: string },
    limit: number,
  ): Promise<readonly RefusedMail[]>;
  /** The node that has done everything since a time (ms since the epoch), because there was no other; undefined when there were more. */
  onlyNode(): Promise<OnlyNode | undefined>;
}
