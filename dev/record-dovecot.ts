// Asks an installed Dovecot about the golden messages of test/gateways/imap/golden, and records its answers in the same folder. Its IMAP
// process is started without a login, on a Maildir in a temporary directory: node dist/dev/record-dovecot.js
import { spawn } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { indexMessage } from '../src/mail-format/mime-index/indexer.js';
import { goldenAttributes } from './imap-golden/attributes.js';
import { GOLDEN_MESSAGES } from './imap-golden/messages.js';

const IMAP = '/usr/lib/dovecot/imap';
const RECORD = 'dev/imap-golden/dovecot.json';
/** The id of `nobody` in Debian: Dovecot never runs as root. */
const NOBODY = 65_534;

const owner = userInfo().uid === 0 ? NOBODY : userInfo().uid;
const directory = mkdtempSync(join(tmpdir(), 'mansio-dovecot-'));
try {
  const names = Object.keys(GOLDEN_MESSAGES);
  for (const folder of ['mail/cur', 'mail/new', 'mail/tmp']) mkdirSync(join(directory, folder), { recursive: true });
  for (const [i, name] of names.entries()) {
    const file = join(directory, `mail/cur/${1000 + i}.M1.host:2,S`);
    writeFileSync(file, Buffer.from(GOLDEN_MESSAGES[name]!, 'latin1'));
  }
  writeFileSync(
    join(directory, 'dovecot.conf'),
    `base_dir = ${directory}\nstate_dir = ${directory}\nlog_path = ${directory}/log\nssl = no\nprotocols = imap\n` +
      `mail_location = maildir:${directory}/mail\nmail_uid = ${owner}\nmail_gid = ${owner}\n` +
      'namespace inbox {\n  inbox = yes\n}\n',
  );
  own(directory);
  const asked = names.map((name) => {
    const { root } = indexMessage(Buffer.from(GOLDEN_MESSAGES[name]!, 'latin1'));
    return { name, attributes: goldenAttributes(root) };
  });
  const commands = asked.flatMap(({ attributes }, i) => attributes.map((each) => `a FETCH ${i + 1} (${each})`));
  const responses = fetchResponses(await answers(['a EXAMINE INBOX', ...commands, 'a LOGOUT', ''].join('\r\n')));
  const record: Record<string, Record<string, string>> = {};
  for (const { name, attributes } of asked) {
    record[name] = Object.fromEntries(attributes.map((each) => [each, responses.shift()!]));
  }
  writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`);
} finally {
  rmSync(directory, { recursive: true });
}

function own(path: string): void {
  chownSync(path, owner, owner);
  for (const { parentPath, name } of readdirSync(path, { recursive: true, withFileTypes: true })) {
    chownSync(join(parentPath, name), owner, owner);
  }
}

/** Returns octets as a binary string. The commands come from `cat`: Dovecot refuses the sockets that Node would give it. */
async function answers(commands: string): Promise<string> {
  const input = join(directory, 'commands');
  writeFileSync(input, commands);
  const shell = spawn('sh', ['-c', `cat ${input} | ${IMAP} -c ${directory}/dovecot.conf | cat`], {
    env: { ...process.env, USER: 'nobody', HOME: directory },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const pieces: Buffer[] = [];
  for await (const piece of shell.stdout) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('latin1');
}

/** Returns the text in the parentheses of each FETCH response, in order: one for each command. */
function fetchResponses(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = at;
    for (;;) {
      const lineEnd = text.indexOf('\r\n', end);
      const literal = /\{(\d+)\}$/.exec(text.slice(end, lineEnd));
      end = lineEnd + 2;
      if (literal === null) break;
      end += Number(literal[1]);
    }
    const response = /^\* \d+ FETCH \((.*)\)\r\n$/s.exec(text.slice(at, end));
    if (response !== null) found.push(response[1]!);
    at = end;
  }
  return found;
}
