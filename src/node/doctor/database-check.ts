// The check `database`: version, settings, space and replication of the server, and whether connections to it are encrypted.
import type { DatabaseCondition } from '../../store/postgres/driver/database-condition.js';
import { problemOf } from '../../store/postgres/driver/durability-check.js';
import { explain } from '../start-failure.js';
import type { NodeCheck } from './check.js';
import { encryptionOf } from './encryption.js';
import { type CheckResult, counted, fail, ok, reasonOf, sizeOf, warn } from './finding.js';

/** Fewer free connections than this keep commands and a restarted node out. */
const LEAST_CONNECTIONS = 5;
/** PostgreSQL warns at 40 million. */
const FEW_TRANSACTIONS = 200_000_000;
const LAGGING_OCTETS = 1_000_000_000;
/** It changes settings by itself, so a setting made by hand would only stand in its way. */
const PATRONI = 'patronictl -c /etc/patroni/config.yml list';

export const databaseCheck: NodeCheck = {
  name: 'database',
  async run({ store, config }) {
    let condition: DatabaseCondition;
    try {
      condition = await store.condition();
    } catch (error) {
      const where = config.databaseUrl === undefined ? 'systemctl start mansio' : 'systemctl start postgresql';
      return [fail('server', explain(error) ?? reasonOf(error), where), ...encryptionOf('DATABASE_URL', config)];
    }
    return [
      versionOf(condition),
      settingsOf(condition, config.allowUnsafeDatabase),
      spaceOf(condition),
      replicationOf(condition),
      ...encryptionOf('DATABASE_URL', config),
    ];
  },
};

function versionOf({ facts }: DatabaseCondition): CheckResult {
  const problem = problemOf({ ...facts, fsync: 'on', fullPageWrites: 'on' }, true);
  if (problem === undefined) return ok('version', `PostgreSQL ${facts.version}, encoding ${facts.encoding}`);
  return fail('version', problem, 'DATABASE_URL of a primary of PostgreSQL 15 or later with encoding UTF8');
}

function settingsOf({ facts, connections, autovacuum }: DatabaseCondition, allowUnsafe: boolean): CheckResult {
  const unsafe = [
    ...(facts.fsync === 'off' ? ['fsync'] : []),
    ...(facts.fullPageWrites === 'off' ? ['full_page_writes'] : []),
  ];
  if (unsafe.length > 0) {
    const detail = `${unsafe.join(' and ')} off: a crash loses mail that was acknowledged`;
    const fix = `alter system set ${unsafe[0]} = on; select pg_reload_conf();`;
    return allowUnsafe ? warn('settings', detail, fix) : fail('settings', detail, fix);
  }
  const free = connections.most - connections.used;
  if (free < LEAST_CONNECTIONS)
    return warn(
      'settings',
      `${connections.used} of ${connections.most} connections are in use`,
      `alter system set max_connections = ${connections.most * 2}; -- and restart PostgreSQL`,
    );
  if (!autovacuum)
    return warn(
      'settings',
      'autovacuum is off: tables grow, and the database stops writing in the end',
      'alter system set autovacuum = on; select pg_reload_conf();',
    );
  return ok('settings', `commits are durable; ${connections.used} of ${connections.most} connections in use`);
}

function spaceOf({ database, sizeOctets, transactionsLeft }: DatabaseCondition): CheckResult {
  const size = `${database} takes ${sizeOf(sizeOctets)}`;
  if (transactionsLeft < FEW_TRANSACTIONS)
    return warn(
      'space',
      `${size}; after ${Math.max(0, Math.round(transactionsLeft / 1e6))} million transactions the server refuses to write, because old rows are not frozen`,
      'vacuumdb --all --freeze',
    );
  return ok('space', size);
}

function replicationOf(condition: DatabaseCondition): CheckResult {
  const { facts, standbys, idleSlots } = condition;
  if (facts.recovery) return fail('replication', 'the server is a standby', 'DATABASE_URL of the primary');
  const unsafe = waitingFor(condition);
  if (unsafe !== undefined) return unsafe;
  const idle = idleSlots.find(({ keptOctets }) => (keptOctets ?? 0) > LAGGING_OCTETS);
  if (idle !== undefined)
    return warn(
      'replication',
      `nobody reads slot ${idle.name}, and the server keeps ${sizeOf(idle.keptOctets!)} of its log for it`,
      `select pg_drop_replication_slot('${idle.name}');`,
    );
  const late = standbys.find(
    ({ state, lagOctets }) => (state ?? 'streaming') !== 'streaming' || (lagOctets ?? 0) > LAGGING_OCTETS,
  );
  if (late !== undefined)
    return warn(
      'replication',
      `${late.name} is ${late.state ?? 'streaming'} and ${late.lagOctets === null ? 'late' : `${sizeOf(late.lagOctets)} behind`}`,
      'select * from pg_stat_replication;',
    );
  if (standbys.length === 0) return ok('replication', 'no standby is connected');
  const names = standbys.map(({ name }) => name).join(', ');
  const { synchronousNames } = condition;
  return ok(
    'replication',
    `${counted(standbys.length, 'standby', 'standbys')}: ${names}; commits wait for ${synchronousNames || 'none'}`,
  );
}

/** The finding when commits wait in vain, or when Patroni may promote a standby that lacks what was acknowledged. */
function waitingFor({ standbys, synchronousNames, hasPatroni }: DatabaseCondition): CheckResult | undefined {
  const isHidden = standbys.some(({ syncState }) => syncState === null);
  const isSynchronous = standbys.some(({ syncState }) => syncState === 'sync' || syncState === 'quorum');
  if (synchronousNames !== '' && !isSynchronous && !isHidden)
    return fail(
      'replication',
      `commits wait for ${synchronousNames}, and ${standbys.length === 0 ? 'no standby is connected' : 'no standby is synchronous'}`,
      hasPatroni ? PATRONI : "alter system set synchronous_standby_names = ''; select pg_reload_conf();",
    );
  if (!hasPatroni || synchronousNames !== '') return undefined;
  if (standbys.length === 0)
    return warn('replication', 'no standby of Patroni is connected: mail is on this machine alone', PATRONI);
  return warn(
    'replication',
    'commits wait for no standby, so a fail-over of Patroni may lose acknowledged mail',
    'patronictl -c /etc/patroni/config.yml edit-config --force -s synchronous_mode=true',
  );
}
