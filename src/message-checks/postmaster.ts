// The postmaster is reached by everybody: who is refused wrongly says so there (RFC 5321 §4.5.1).

/** `address` may be `postmaster` alone. */
export function isPostmaster(address: string): boolean {
  return /^postmaster(?:@|$)/i.test(address);
}

export const isOnlyForPostmaster = (recipients: readonly string[]): boolean => recipients.every(isPostmaster);
