// Records the operations of this version, which neighbouring versions use from then on (decision 0082): node dist/dev/record-release.js,
// once, when the version is released.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { mailboxActorProtocol } from '../src/actors/mailbox/actor-protocol.js';
import { version } from '../src/node/version.js';
import { operationsOf, shapesOf } from './released/operation-shapes.js';

const lines = shapesOf(mailboxActorProtocol).map((shape) => `${JSON.stringify(shape)}\n`);
const file = operationsOf(version);
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, lines.join(''), { flag: 'wx' });
