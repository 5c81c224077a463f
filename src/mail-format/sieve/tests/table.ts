// All tests, by name.
import { BODY_TESTS } from './body.js';
import { DATE_TESTS } from './date.js';
import { HEADER_TESTS } from './headers.js';
import { LOGIC_TESTS } from './logic.js';
import { MAILBOX_TESTS } from './mailbox.js';
import type { SieveTests } from './sieve-test.js';
import { TRACKING_TESTS } from './tracking.js';
import { VALUE_TESTS } from './values.js';

export const TESTS: SieveTests = {
  ...LOGIC_TESTS,
  ...HEADER_TESTS,
  ...BODY_TESTS,
  ...DATE_TESTS,
  ...MAILBOX_TESTS,
  ...TRACKING_TESTS,
  ...VALUE_TESTS,
};
