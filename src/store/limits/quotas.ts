// Port: quotas, and what accounts and domains use of them. The mailbox of an account writes what it uses with each of its commits; a domain
// uses what its accounts use. Unclaimed mailboxes have bounds of their own and no quota.
import type { BlobContent } from '../blobs.js';
import type { InboundEnvelope } from '../inbound.js';

/** Emails of a mailbox, each once however many folders hold it, and the octets of their messages. */
export interface Usage {
  readonly bytes: number;
  readonly messages: number;
}

/** null: no limit. */
export interface Limits {
  readonly bytes: number | null;
  readonly messages: number | null;
}

/** What an operator has set: 0 is no limit, null the default. A member that is left out does not change. */
export type LimitSetting = Partial<Limits>;

interface Quota {
  readonly used: Usage;
  /** As an operator has set it. */
  readonly setting: Limits;
  /** ms since the epoch; null while there is room. */
  readonly fullSince: number | null;
}

export interface AccountQuota extends Quota {
  readonly accountId: string;
  readonly email: string;
  /** The user has been told that 90 % are in use. */
  readonly isNoticed: boolean;
}

export interface DomainQuota extends Quota {
  readonly name: string;
  /** The operator has been told that 90 % are in use. */
  readonly isNoticed: boolean;
}

/** A message that a notice adds as accepted mail. */
interface AddedNotice {
  readonly accountId: string;
  /** The id of the accepted mail. */
  readonly inboundId: string;
  /** The blob must be stored. */
  readonly content: Pick<BlobContent, 'hash'>;
  readonly envelope: InboundEnvelope;
}

/** The owner of a quota: an account or a domain. */
export type QuotaOwner = { readonly accountId: string } | { readonly domain: string };

export interface QuotaStore {
  /** Whether any account or domain has a setting. */
  isAnySet(): Promise<boolean>;
  /** Quotas of these accounts; unclaimed mailboxes and unknown accounts are left out. */
  accounts(ids: readonly string[]): Promise<readonly AccountQuota[]>;
  /** Quotas of these domains; those without a limit are left out. */
  domains(names: readonly string[]): Promise<readonly DomainQuota[]>;
  /** All accounts by address, and all hosted domains by name. */
  all(): Promise<{ readonly accounts: readonly AccountQuota[]; readonly domains: readonly DomainQuota[] }>;
  /** Returns false when there is no such account. */
  setAccount(accountId: string, setting: LimitSetting): Promise<boolean>;
  /** Returns false when the domain is not hosted. */
  setDomain(name: string, setting: LimitSetting): Promise<boolean>;
  /** Notes whether there is room; `fullSince` stays when it was full before. */
  setFull(owner: QuotaOwner, isFull: boolean): Promise<void>;
  /**
   * Notes that the user is told, and adds the message as accepted mail with the id `inboundId`, in one step. Returns false, and adds
   * nothing, when the user has been told before. The blob must be stored.
   */
  notice(
    accountId: string,
    inboundId: string,
    content: Pick<BlobContent, 'hash'>,
    envelope: InboundEnvelope,
  ): Promise<boolean>;
  /** Notes that less than 90 % are in use: the user will be told again. */
  endNotice(accountId: string): Promise<void>;
  /**
   * Notes that the operator is told about the domain, and adds the message in the same step; undefined where nobody reads it. Returns false,
   * and adds nothing, when the operator has been told before.
   */
  noticeDomain(name: string, added: AddedNotice | undefined): Promise<boolean>;
  /** As `endNotice`, for a domain and its operator. */
  endDomainNotice(name: string): Promise<void>;
}
