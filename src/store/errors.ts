// Faults of the store: ours, not the peer's. `temporary` says whether the same call may succeed later.

export class StoreFault extends Error {
  /** `store-locked`: somebody else works on the same rows, and for long. */
  readonly code: 'store-unavailable' | 'store-locked' | 'store-conflict' | 'store-failed';
  readonly temporary: boolean;

  constructor(code: StoreFault['code'], message: string, options: { temporary: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'StoreFault';
    this.code = code;
    this.temporary = options.temporary;
  }
}
