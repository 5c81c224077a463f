// Debian's rspamd: one worker and its controller, without the rules of the package, which take a minute of a busy processor to compile. It
// knows GTUBE, defers mail with the subject `later`, and learns: its statistics are in files, and judge no message.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from '../../../dev/executables.js';
import { freePorts } from '../../../dev/ports.js';
import { startProgram } from '../../../dev/program.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { eventually } from '../../scenarios/cluster/support/eventually.js';

export interface Rspamd {
  /** The worker that judges messages, and the controller, which learns too. */
  readonly url: string;
  readonly controller: string;
}

interface Teardown {
  teardown(end: () => Promise<unknown>): void;
}

// A worker that has read the files of the statistics may keep them locked until its next message, and then the controller learns nothing.
const RULES = `rspamd_config:register_symbol({ name = 'LATER', type = 'prefilter', callback = function(task)
  task:set_flag('no_stat')
  if task:get_header('Subject') == 'later' then task:set_pre_result('soft reject', 'Come back later') end
end })
`;

/** The antivirus module without `action`: it names viruses and leaves rspamd's own action as it is. */
const antivirus = (clamd: number) => `
modules { path = "/usr/share/rspamd/plugins/antivirus.lua"; }
antivirus { clamav { type = "clamav"; servers = "127.0.0.1:${clamd}"; symbol = "CLAM_VIRUS"; scan_mime_parts = true; } }
`;

function settings(directory: string, port: number, controller: number): string {
  return `
lua = "${directory}/rules.lua";
options {
  # No name server answers at this port, so that look-ups end at once.
  dns { nameserver = ["127.0.0.1:9"]; timeout = 0.1s; retransmits = 1; }
  filters = "";
  disable_hyperscan = true;
  url_tld = "${directory}/tld";
  control_socket = "${directory}/control mode=0600";
  tempdir = "${directory}";
  # Other versions of GTUBE have milder actions; the name of the option differs by version.
  gtube_patterns = "all";
  enable_test_patterns = true;
}
logging { type = "console"; level = "error"; }
actions { reject = 15; add_header = 6; }
worker "normal" { bind_socket = "127.0.0.1:${port}"; count = 1; }
worker "controller" { bind_socket = "127.0.0.1:${controller}"; secure_ip = "127.0.0.1"; count = 1; }
classifier "bayes" {
  backend = "sqlite3";
  min_learns = 2;
  min_tokens = 4;
  tokenizer { name = "osb"; }
  cache { type = "sqlite3"; path = "${directory}/cache.sqlite"; }
  statfile { symbol = "BAYES_HAM"; path = "${directory}/ham.sqlite"; spam = false; }
  statfile { symbol = "BAYES_SPAM"; path = "${directory}/spam.sqlite"; spam = true; }
}
group "statistics" { symbols = { "BAYES_SPAM" { weight = 7.0; } "BAYES_HAM" { weight = -3.0; } } }
`;
}

/** `clamd`: the port of the program that finds viruses. */
export async function startRspamd(t: Teardown, clamd?: number): Promise<Rspamd> {
  const directory = temporaryDirectory('mansio-rspamd-');
  const [port, controller] = (await freePorts(2)) as [number, number];
  const modules = clamd === undefined ? '' : antivirus(clamd);
  writeFileSync(join(directory, 'rspamd.conf'), settings(directory, port, controller) + modules);
  writeFileSync(join(directory, 'rules.lua'), RULES);
  writeFileSync(join(directory, 'tld'), 'test\n');
  const asRoot = process.getuid?.() === 0 ? ['--insecure', '--user', 'root', '--group', 'root'] : [];
  const variables = ['DBDIR', 'RUNDIR', 'LOGDIR'].map((name) => `--var=${name}=${directory}`);
  const program = startProgram({
    command: requireProgram('rspamd'),
    args: ['--no-fork', ...asRoot, '--config', join(directory, 'rspamd.conf'), ...variables],
    env: { PATH: process.env['PATH'] ?? '' },
  });
  // SIGTERM lets the main process end its workers.
  t.teardown(() => program.kill('SIGTERM'));
  const url = `http://127.0.0.1:${port}`;
  const control = `http://127.0.0.1:${controller}`;
  for (const worker of [url, control]) await eventually('rspamd', async () => (await fetch(`${worker}/ping`)).ok);
  return { url, controller: control };
}
