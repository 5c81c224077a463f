// Faults of the spool: ours, always temporary; the peer is told to come again.

export class SpoolFault extends Error {
  readonly code: 'spool-full' | 'spool-memory' | 'spool-failed';

  constructor(code: SpoolFault['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SpoolFault';
    this.code = code;
  }
}

/** A file operation's error as the fault it is. */
export function asSpoolFault(error: unknown): SpoolFault {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'ENOSPC' || code === 'EDQUOT') return new SpoolFault('spool-full', 'the spool has no space left', error);
  return new SpoolFault('spool-failed', 'the spool cannot be used', error);
}
