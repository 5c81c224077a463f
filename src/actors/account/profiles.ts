// An account's profile and its additional addresses. A requested address receives nothing until it is verified: by the operator at a hosted
// domain, elsewhere by whoever opens the link of the mail that is sent to it. Only the hash of the link's token is stored.
import { createHash } from 'node:crypto';
import { canonicalAddress, hasTag } from '../../mail-format/address.js';
import { uuidV8 } from '../../mail-format/ids.js';
import type { AccountAddress, DirectoryStore, Profile, VerificationRates } from '../../store/directory.js';
import type { HostedDomains, SenderAlias, Senders } from '../directory/protocol.js';
import { domainOf } from '../directory/unclaimed-mailboxes.js';
import type { ProfileAddress, Profiles } from './protocol.js';
import { newToken, tokenHash, VERIFICATION_MS, verificationLink, writeVerificationMail } from './verification-mail.js';

/** The addresses of one account, verified or not. */
const MOST_ADDRESSES = 50;
const RATES: VerificationRates = { perAccountAndDay: 5 };

export interface VerificationSettings {
  /** Where the links lead; without it no mail is sent. */
  readonly publicUrl: string | undefined;
  readonly hostname: string;
  readonly newId: () => string;
  /** Queues a message that the server has written for the account. @throws StoreFault, ActorFault */
  readonly send: (accountId: string, mail: { readonly message: Uint8Array; readonly to: string }) => Promise<void>;
}

export interface ProfilesOptions {
  readonly store: DirectoryStore;
  readonly senders: Senders & HostedDomains;
  readonly verification: VerificationSettings;
  /** Returns this many random octets. */
  readonly random: (octets: number) => Uint8Array;
  /** ms since the epoch. */
  readonly time: () => number;
}

export function createProfiles(options: ProfilesOptions): Profiles {
  const { store, senders, verification, random } = options;

  async function addressOf({ isForwardingOnly, isVerified, ...address }: AccountAddress): Promise<ProfileAddress> {
    const canSend = isVerified && (await senders.accepts(domainOf(address.address)));
    return { ...address, isVerified: isVerified || isForwardingOnly, isAlias: false, canSend };
  }

  return {
    async read(accountId) {
      const profile = await store.profile(accountId);
      if (profile === undefined) return undefined;
      const { additionalAddresses } = profile;
      const additional = await Promise.all(additionalAddresses.map(addressOf));
      const verified = additionalAddresses.flatMap(({ address, isVerified }) => (isVerified ? address : []));
      const own = [profile.email, ...verified];
      const aliases = await senders.senderAliases(accountId, own);
      return { ...profile, additionalAddresses: [...additional, ...aliases.map((alias) => aliasOf(profile, alias))] };
    },
    maySendAs: (accountId, address) => senders.maySendAs(accountId, address),
    rename: (accountId, displayName) => store.renameAccount(accountId, displayName),

    async addAddress(accountId, text) {
      const address = canonicalAddress(text);
      if (address === undefined) return 'invalid';
      if (hasTag(text)) return 'tagged';
      const isHosted = await senders.accepts(domainOf(address));
      if (!isHosted && verification.publicUrl === undefined) return { kind: 'noPublicUrl' };
      const { token, hash } = newToken(random);
      const rates = isHosted ? undefined : RATES;
      const result = await store.requestAddress(accountId, address, hash, MOST_ADDRESSES, rates);
      if (result.kind === 'tooManyMails') return result;
      if (result.kind !== 'added') return result.kind;
      if (!isHosted) {
        await sendMail(options, accountId, address, token).catch(async (error: unknown) => {
          await store.removeAddress(accountId, result.address.id);
          throw error;
        });
      }
      return addressOf(result.address);
    },

    async sendVerification(accountId, addressId) {
      if (verification.publicUrl === undefined) return { kind: 'noPublicUrl' };
      const { token, hash } = newToken(random);
      const result = await store.renewVerification(accountId, addressId, hash, RATES);
      if (result.kind !== 'renewed') return result;
      await sendMail(options, accountId, result.address, token);
      return undefined;
    },

    async verificationOf(token) {
      const hash = tokenHash(token);
      return hash === undefined ? undefined : store.findVerification(hash, VERIFICATION_MS);
    },

    async confirmAddress(token) {
      const hash = tokenHash(token);
      return hash === undefined ? { kind: 'gone' } : store.confirmVerification(hash, VERIFICATION_MS);
    },

    removeAddress: (accountId, addressId) => store.removeAddress(accountId, addressId),
  };
}

/** A mail that is not sent does not count. @throws StoreFault, ActorFault */
async function sendMail(
  { store, senders, verification, time }: ProfilesOptions,
  accountId: string,
  address: string,
  token: string,
): Promise<void> {
  const { publicUrl = '', hostname, newId, send } = verification;
  try {
    const account = (await store.accountById(accountId))?.email ?? '';
    const domain = domainOf(account);
    const from = `postmaster@${(await senders.hosts(domain)) ? domain : hostname}`;
    const mail = { address, account, link: verificationLink(publicUrl, token) };
    await send(accountId, {
      message: writeVerificationMail(mail, { from, hostname, id: newId(), now: time() }),
      to: address,
    });
  } catch (error) {
    await store.withdrawVerification(accountId, address);
    throw error;
  }
}

/** An alias has no row of the account: its id is made from both. */
function aliasOf({ id: accountId, createdAt }: Profile, alias: SenderAlias): ProfileAddress {
  const id = uuidV8(createHash('sha256').update(`${accountId} ${alias.address}`).digest());
  const addedAt = alias.createdAt ?? createdAt;
  return { id, address: alias.address, isVerified: true, addedAt, isAlias: true, canSend: true };
}
