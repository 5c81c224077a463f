// Outbound mail of mailboxes that send none.
export const NO_OUTBOUND = {
  blobs: { index: () => Promise.reject(new Error('no message is sent here')) },
  outbound: { retry: { maxRetries: 0, baseMs: 1, capMs: 1 }, note() {} },
};
