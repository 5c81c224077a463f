// The tests of whole nodes first: they take longest, and would otherwise run alone at the end, one processor idle.
const LONG = /^dist\/test\/(e2e|cluster|serve|cli-store)\b/;
const isShort = (file) => !LONG.test(file.slice(file.lastIndexOf('dist/test/')));

export default {
  files: ['dist/test/**/*.test.js'],
  require: ['./dist/test/support/property-seed.js'],
  timeout: '3m',
  concurrency: 3,
  workerThreads: false,
  sortTestFiles: (a, b) => Number(isShort(a)) - Number(isShort(b)) || (a < b ? -1 : 1),
};
