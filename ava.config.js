import { startsNode } from './dist/test/support/run/node-files.js';

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
  // The tests of whole nodes first: they take longest, and would otherwise run alone at the end, one processor idle.
  sortTestFiles: (a, b) => Number(startsNode(b)) - Number(startsNode(a)) || (a < b ? -1 : 1),
};
