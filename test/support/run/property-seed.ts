// Loaded before every test file: properties draw the same cases in every run, so that a test that has passed passes again. `npm run
// test:soak` draws others.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 1), includeErrorInReport: true });
