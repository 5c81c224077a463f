// Faults of the spool. They are always temporary, so the peer tries again later.
import { Fault } from '../../concurrency/fault.js';

export class SpoolFault extends Fault<'spool-full' | 'spool-memory' | 'spool-failed'> {
  constructor(code: SpoolFault['code'], message: string, cause?: unknown) {
    super(code, message, { temporary: true, cause });
  }
}

/** Converts an error of a file operation to a fault. */
export function asSpoolFault(error: unknown): SpoolFault {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'ENOSPC' || code === 'EDQUOT') return new SpoolFault('spool-full', 'the spool has no space left', error);
  return new SpoolFault('spool-failed', 'the spool cannot be used', error);
}
