// The stored snapshot of an outbound email, and what an older version wrote of it: there the email had one time of its next
// attempt and one number of retries for all of its recipients. Nodes of both versions work on the same emails during an
// upgrade, so the snapshot carries both, and the older one counts when it was written last.

interface StoredRecipient {
  readonly snapshot: {
    readonly value: string;
    readonly context: { readonly retryCount?: number; readonly nextTryAt?: number | null };
  };
}

export interface StoredSnapshot {
  readonly value: string;
  readonly context: {
    readonly retryCount: number;
    readonly nextRetryAt: number | null;
    /** Versions that hold no email leave it out, and leave it as it is when they make the email due. */
    readonly heldUntil?: number | null;
  };
  readonly children: Readonly<Record<string, StoredRecipient>>;
}

/** When the first of those that are Pending and wait is due; null when none is. */
export function firstDue(
  recipients: Iterable<{ readonly status: string; readonly nextTryAt?: number | null }>,
): number | null {
  let first: number | null = null;
  for (const { status, nextTryAt } of recipients) {
    if (status !== 'Pending' || nextTryAt === undefined || nextTryAt === null) continue;
    first = Math.min(first ?? nextTryAt, nextTryAt);
  }
  return first;
}

/** As this version reads it. */
export function readable(stored: StoredSnapshot): StoredSnapshot {
  const children = Object.entries(stored.children);
  const { value, context } = stored;
  const known = firstDue(children.map(([, { snapshot }]) => ({ status: snapshot.value, ...snapshot.context })));
  const isHeld = value === 'Queued' && known === null;
  const own = { ...stored, context: { ...context, heldUntil: isHeld ? (context.heldUntil ?? null) : null } };
  const isWhole = children.every(([, { snapshot }]) => snapshot.context.nextTryAt !== undefined);
  if (isWhole && (value !== 'Queued' || known === context.nextRetryAt)) return own;
  const { retryCount, nextRetryAt } = context;
  const recipients = children.map(([id, child]) => {
    const nextTryAt = child.snapshot.value === 'Pending' ? nextRetryAt : null;
    const recipient = { ...child.snapshot, context: { ...child.snapshot.context, retryCount, nextTryAt } };
    return [id, { ...child, snapshot: recipient }] as const;
  });
  return { ...own, children: Object.fromEntries(recipients) };
}
