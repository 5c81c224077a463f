// The program's version, from its package.json, which has the name `#package.json` in `imports` for compiled and for bundled code.
import { createRequire } from 'node:module';

export const version = String(createRequire(import.meta.url)('#package.json').version);
