import { readFileSync } from 'node:fs';

// The runner of the tests makes the order; AVA alone takes the files by their names.
const order = process.env.TEST_ORDER === undefined ? [] : JSON.parse(readFileSync(process.env.TEST_ORDER, 'utf8'));
const place = new Map(order.map((file, i) => [file, i]));

export default {
  files: [
    'dist/test/**/*.test.js',
    ...(process.env.TEST_ENDED_FILES === undefined ? [] : ['dist/test-groups/**/*.test.js']),
  ],
  require: [
    './dist/test/support/run/property-seed.js',
    './dist/test/support/run/property-failures.js',
    './dist/test/support/run/process-end.js',
    './dist/test/support/run/ended-file.js',
  ],
  timeout: '10m',
  concurrency: 3,
  workerThreads: false,
  sortTestFiles: (a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0) || (a < b ? -1 : 1),
};
