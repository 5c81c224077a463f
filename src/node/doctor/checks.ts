// The table of all checks of `mansio doctor`, in the order of its output.
import { backupCheck } from './backup-check.js';
import { busCheck } from './bus-check.js';
import { certificateCheck } from './certificate-check.js';
import type { DomainCheck, NodeCheck } from './check.js';
import { nodesCheck, queueCheck, unclaimedCheck } from './cluster-checks.js';
import { databaseCheck } from './database-check.js';
import { dnsblCheck } from './dnsbl-check.js';
import { blockListCheck, reverseCheck, sixthVersionCheck } from './domain/address-checks.js';
import { mailExchangerCheck } from './domain/mail-exchanger-check.js';
import { autoconfigCheck, srvCheck } from './domain/mail-program-checks.js';
import { dkimCheck, dmarcCheck, spfCheck } from './domain/sender-checks.js';
import { stsCheck, tlsReportCheck } from './domain/transport-checks.js';
import { listenerCheck } from './listener-check.js';
import { clockCheck, diskCheck, filesCheck } from './machine-checks.js';
import { rspamdCheck } from './rspamd-check.js';

export const NODE_CHECKS: readonly NodeCheck[] = [
  databaseCheck,
  busCheck,
  listenerCheck,
  certificateCheck,
  clockCheck,
  diskCheck,
  filesCheck,
  nodesCheck,
  queueCheck,
  unclaimedCheck,
  backupCheck,
  rspamdCheck,
  dnsblCheck,
];

export const DOMAIN_CHECKS: readonly DomainCheck[] = [
  mailExchangerCheck,
  spfCheck,
  dkimCheck,
  dmarcCheck,
  stsCheck,
  tlsReportCheck,
  srvCheck,
  autoconfigCheck,
  reverseCheck,
  sixthVersionCheck,
  blockListCheck,
];
