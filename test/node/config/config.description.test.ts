// Tests what `mansio config` describes, and variables that the configuration does not know.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { describeConfig, readConfig } from '../../../src/node/config/config.js';
import test from '../../support/test.js';

test('variables of nobody are reported, not refused', (t) => {
  const env = { MANSIO_HTP_PORT: '1', MANSIO_JMAP_PORT: '1', MANSIO_EMPTY: '', PATH: '/bin' };
  t.deepEqual(readConfig(env).unknown, ['MANSIO_HTP_PORT', 'MANSIO_JMAP_PORT']);
});

test('the description says where each value came from', (t) => {
  const rows = new Map(describeConfig({ MANSIO_HTTP_PORT: '0' }).map((row) => [row.name, row]));
  t.deepEqual(rows.get('MANSIO_HTTP_PORT'), { name: 'MANSIO_HTTP_PORT', value: '0', source: 'environment' });
  t.deepEqual(rows.get('MANSIO_MX_PORT'), { name: 'MANSIO_MX_PORT', value: '2525', source: 'default' });
  t.deepEqual(rows.get('DATABASE_URL'), { name: 'DATABASE_URL', value: '', source: 'default' });
  t.is(rows.get('MANSIO_HOSTED_DOMAINS')?.source, 'demo');
});

test('config names variables that do nothing, without their values', (t) => {
  const rows = describeConfig({ MANSIO_VAPID_PRIVAT_KEY: 'hunter2', MANSIO_HTTP_PROT: '1' });
  t.deepEqual(
    rows.filter(({ source }) => source === 'unknown'),
    [
      { name: 'MANSIO_HTTP_PROT', value: '[hidden]', source: 'unknown' },
      { name: 'MANSIO_VAPID_PRIVAT_KEY', value: '[hidden]', source: 'unknown' },
    ],
  );
});

test('config shows the node id and the public URL in effect', (t) => {
  const dataDir = temporaryDirectory('mansio-test-config-');
  const row = (name: string, env: Record<string, string> = {}) =>
    describeConfig({ MANSIO_DATA_DIR: dataDir, ...env }).find((each) => each.name === name);
  t.deepEqual(row('MANSIO_NODE_ID'), { name: 'MANSIO_NODE_ID', value: '', source: 'data directory' });
  writeFileSync(join(dataDir, 'node-id'), 'abc\n');
  t.deepEqual(row('MANSIO_NODE_ID'), { name: 'MANSIO_NODE_ID', value: 'abc', source: 'data directory' });
  t.like(row('MANSIO_NODE_ID', { MANSIO_NODE_ID: 'mine' }), { value: 'mine', source: 'environment' });
  t.like(row('MANSIO_PUBLIC_URL'), { value: 'http://127.0.0.1:8080', source: 'listener' });
  t.like(row('MANSIO_PUBLIC_URL', { MANSIO_BIND: '::1' }), { value: 'http://[::1]:8080', source: 'listener' });
  t.is(row('MANSIO_PUBLIC_URL', { MANSIO_BIND: '::' })?.value, 'http://127.0.0.1:8080');
  t.like(row('MANSIO_PUBLIC_URL', { MANSIO_HTTP_BIND: '::', MANSIO_HOSTNAME: 'mx.example.org' }), {
    value: 'http://mx.example.org:8080',
  });
  t.like(row('MANSIO_PUBLIC_URL', { MANSIO_HTTP_PORT: '0' }), { value: '' });
  t.like(row('MANSIO_PUBLIC_URL', { MANSIO_PUBLIC_URL: 'https://m.example.org' }), { source: 'environment' });
});
