import { ActorFault } from '../../src/actors/runtime/errors.js';
import { ProviderRefusal, ProviderUnavailable } from '../../src/auth/oidc/bounded-json.js';
import { Fault } from '../../src/concurrency/fault.js';
import { problemOf } from '../../src/gateways/http/problem.js';
import { completionOf } from '../../src/gateways/imap/faults.js';
import { isBug, replyTo } from '../../src/gateways/smtp/replies.js';
import { DecoderBusy, DecodingAbandoned } from '../../src/message-content/decode/decoder.js';
import { SpoolFault } from '../../src/message-content/spool/errors.js';
import { DnsFailure } from '../../src/net/dns/resolver.js';
import { StoreFault } from '../../src/store/errors.js';
import test from '../support/test.js';

const store = (code: StoreFault['code'], temporary: boolean, cause?: Error) =>
  new StoreFault(code, 'x', { temporary, cause });
const diskFull = Object.assign(new Error('could not extend file'), { code: '53100' });

const CASES: readonly (readonly [
  error: unknown,
  http: number,
  smtp: number,
  imap: string,
  isBug: readonly [http: boolean, smtp: boolean],
])[] = [
  [store('store-unavailable', true), 503, 451, 'UNAVAILABLE', [false, false]],
  [store('store-locked', true), 503, 451, 'UNAVAILABLE', [false, false]],
  [store('store-conflict', true), 503, 451, 'UNAVAILABLE', [false, false]],
  [store('store-conflict', false), 500, 451, 'UNAVAILABLE', [true, false]],
  [store('store-failed', false), 500, 451, 'UNAVAILABLE', [true, false]],
  [new SpoolFault('spool-full', 'x'), 503, 452, 'LIMIT', [false, false]],
  [new SpoolFault('spool-memory', 'x'), 503, 452, 'LIMIT', [false, false]],
  [new SpoolFault('spool-failed', 'x'), 503, 451, 'UNAVAILABLE', [false, false]],
  [new ActorFault('unreachable', 'x'), 503, 451, 'UNAVAILABLE', [false, false]],
  [new ActorFault('overloaded', 'x'), 503, 451, 'UNAVAILABLE', [false, false]],
  [new ActorFault('store-unavailable', 'x'), 503, 451, 'UNAVAILABLE', [false, false]],
  [new ActorFault('unsupported', 'x'), 503, 451, 'UNAVAILABLE', [false, false]],
  [new ActorFault('no-such-account', 'x'), 401, 451, 'UNAVAILABLE', [false, false]],
  [new ActorFault('failed', 'x'), 500, 451, 'SERVERBUG', [true, false]],
  [new DecoderBusy(), 503, 451, 'UNAVAILABLE', [false, false]],
  [new DecodingAbandoned(), 503, 451, 'UNAVAILABLE', [false, false]],
  [new ProviderUnavailable('x'), 503, 451, 'UNAVAILABLE', [false, false]],
  [new ProviderRefusal('x'), 503, 451, 'UNAVAILABLE', [false, false]],
  [store('store-failed', false, diskFull), 500, 452, 'LIMIT', [true, false]],
  [diskFull, 500, 452, 'LIMIT', [true, false]],
  [new DnsFailure('ETIMEOUT', 'x', 'A'), 500, 421, 'SERVERBUG', [true, true]],
  [new Error('x'), 500, 421, 'SERVERBUG', [true, true]],
  [Object.assign(new Error('x'), { code: 'store-unavailable', temporary: true }), 500, 421, 'SERVERBUG', [true, true]],
];

test('every fault has one reply at each gateway, and what is none of them is a bug', (t) => {
  for (const [error, http, smtp, imap, [httpBug, smtpBug]] of CASES) {
    const { problem, bug } = problemOf(error);
    const said = [problem.status, replyTo(error).code, completionOf(error).code, bug, isBug(error)];
    t.deepEqual(said, [http, smtp, imap, httpBug, smtpBug], String(error));
  }
});

test('a fault has its name, code and cause', (t) => {
  const cause = new Error('why');
  const fault = new ActorFault('unreachable', 'nobody answers', cause);
  t.true(fault instanceof Fault);
  t.like(fault, { name: 'ActorFault', code: 'unreachable', temporary: true, message: 'nobody answers' });
  t.is(fault.cause, cause);
  t.false('cause' in new SpoolFault('spool-failed', 'x'));
});
