// Runs scripted conversations with an IMAP server: what is sent, and what must come back. A script is a text file:
//
//   # this line says what the group is about
//   messages 3                     puts three messages into a new mailbox, which every client of the script selects
//   > STORE 1 +FLAGS (\Seen)       is sent by client 1; `2> …` by client 2. {{text}} is sent as a literal, {{+text}} as one that
//                                  does not wait for the server's consent, {{~text}} as literal8
//   > WAIT                         sends nothing: the responses below come by themselves
//   * 1 FETCH (FLAGS (\Seen))      must come, in any order among the others of the command
//   ! EXPUNGE                      no untagged response of this name may come
//   = OK [READ-WRITE]              is how the command must end (`NO|BAD`: either; `[]`: without a code); default: OK
//
// Lists of flags match in any order. `$name` matches any value, the same one wherever the name stands again; `$_` matches any
// value each time; `...` ends a list whose rest does not matter. $mailbox is the mailbox of the script.
import { isList, parseResponse, type Response, ServerFault, textOf, type Value } from './response.js';
import { type Completed, type Literal, type Piece, type Server, TesterClient } from './tester-client.js';

interface Step {
  readonly line: number;
  readonly client: number;
  readonly command: string;
  readonly expected: readonly string[];
  readonly unwanted: readonly string[];
  readonly completion: string;
}

export interface Script {
  readonly messages: number;
  readonly steps: readonly Step[];
}

export interface ScriptUser {
  readonly server: Server;
  readonly name: string;
  readonly password: string;
}

export function parseScript(text: string): Script {
  let messages = 0;
  const steps: (Step & { expected: string[]; unwanted: string[]; completion: string })[] = [];
  for (const [i, raw] of text.split('\n').entries()) {
    const line = raw.trimEnd();
    if (line === '' || line.startsWith('#')) continue;
    const count = /^messages (\d+)$/.exec(line);
    const sent = /^(\d*)> (.*)$/.exec(line);
    const step = steps.at(-1);
    if (count !== null) messages = Number(count[1]);
    else if (sent !== null) {
      const client = sent[1] === '' ? 1 : Number(sent[1]);
      steps.push({ line: i + 1, client, command: sent[2]!, expected: [], unwanted: [], completion: 'OK' });
    } else if (step === undefined) throw new Error(`line ${i + 1} belongs to no command`);
    else if (line.startsWith('* ')) step.expected.push(line);
    else if (line.startsWith('! ')) step.unwanted.push(line.slice(2).toUpperCase());
    else if (line.startsWith('= ')) step.completion = line.slice(2);
    else throw new Error(`line ${i + 1} is no line of a script: ${line}`);
  }
  return { messages, steps };
}

/** @throws ServerFault that names the line of the script */
export async function runScript(
  script: Script,
  mailbox: string,
  { server, name, password }: ScriptUser,
): Promise<void> {
  const clients = new Map<number, TesterClient>();
  const bound = new Map<string, Value>([['$mailbox', mailbox]]);
  const open = async (): Promise<TesterClient> => {
    const client = await TesterClient.open(server);
    await client.ok(`LOGIN "${name}" "${password}"`);
    return client;
  };
  try {
    const first = await open();
    clients.set(1, first);
    await first.ok(`CREATE ${mailbox}`);
    for (let i = 1; i <= script.messages; i++) await first.ok(`APPEND ${mailbox} `, standardMessage(i));
    await first.select(mailbox);
    for (const step of script.steps) {
      let client = clients.get(step.client);
      if (client === undefined) {
        client = await open();
        await client.select(mailbox);
        clients.set(step.client, client);
      }
      try {
        await take(step, client, bound, mailbox);
      } catch (error) {
        const where = client.transcript.slice(-12).join('\n').replaceAll('\r\n', '\n');
        throw new ServerFault(`line ${step.line}: ${(error as Error).message}\n${where}`, { cause: error });
      }
    }
    await first.run('UNSELECT');
    await first.run(`DELETE ${mailbox}`);
  } finally {
    for (const client of clients.values()) client.destroy();
  }
}

/** Returns message `n` of a script: subject, date and size differ from those of the others. */
export function standardMessage(n: number): Buffer {
  return Buffer.from(
    [
      `From: "Sender ${n}" <s${n}@example.test>`,
      'To: Zoe <zoe@example.test>, b@example.test',
      `Subject: message ${n}`,
      `Date: Sun, ${10 + n} Jan 2026 10:00:00 +0200`,
      `Message-ID: <${n}@script.test>`,
      ...(n > 1 ? [`In-Reply-To: <${n - 1}@script.test>`] : []),
      'Content-Type: text/plain; charset=us-ascii',
      '',
      `body of number ${n}`,
      ...Array.from({ length: n }, (_, i) => `line ${i + 1}`),
      '',
    ].join('\r\n'),
  );
}

async function take(step: Step, client: TesterClient, bound: Map<string, Value>, mailbox: string): Promise<void> {
  const command = step.command
    .replaceAll('$mailbox', mailbox)
    .replace(/\$(\w+)/g, (whole) => textOf(bound.get(whole)) || whole);
  if (command === 'WAIT') {
    await client.until(step.expected.join(' and '), () => missing(step, client.unasked, bound) === undefined);
    client.unasked.length = 0;
    return;
  }
  client.unasked.length = 0;
  const completed = await send(client, command, mailbox);
  const line = missing(step, completed.untagged, bound);
  if (line !== undefined) throw new ServerFault(`no response ${line}`);
  const unwanted = completed.untagged.find((response) => step.unwanted.includes(response.name));
  if (unwanted !== undefined) throw new ServerFault(`unwanted: ${unwanted.raw}`);
  const [, status, code] = /^([\w|]+)(?: \[(.*)\])?$/.exec(step.completion) ?? [];
  const { completion } = completed;
  if (!status!.split('|').includes(completion.name))
    throw new ServerFault(`ended with ${completion.raw}, not ${step.completion}`);
  if (code !== undefined && !matchesCode(code, completion.code ?? '', bound)) {
    throw new ServerFault(`ended with ${completion.raw}, not ${step.completion}`);
  }
}

/** Returns the first expected response that is missing; when none is, the values of the names are kept. */
function missing({ expected }: Step, responses: readonly Response[], bound: Map<string, Value>): string | undefined {
  const rest = [...responses];
  const trial = new Map(bound);
  for (const line of expected) {
    const wanted = parseResponse(Buffer.from(withLiterals(line.replaceAll('...', '$...'))));
    const at = rest.findIndex((response) => matches(wanted, response, trial));
    if (at < 0) return line;
    rest.splice(at, 1);
  }
  for (const [name, value] of trial) bound.set(name, value);
  return undefined;
}

async function send(client: TesterClient, command: string, mailbox: string): Promise<Completed> {
  const select = /^(SELECT|EXAMINE) (\S+)$/.exec(command);
  if (select !== null) return client.select(select[2]!, select[1]!);
  if (command === 'IDLE') return (await client.idle()).done();
  const pieces: Piece[] = command.split(/\{\{(.*?)\}\}/).map((piece, i) => (i % 2 === 0 ? piece : literalOf(piece)));
  if (pieces.at(-1) === '') pieces.pop();
  const completed = await client.run(...pieces);
  if (/^NOTIFY SET .*\(selected \(/.test(command) && client.mailbox !== undefined) client.mailbox.isNotified = true;
  const isOver = /^(CLOSE|UNSELECT)$/.test(command) || (/^(SELECT|EXAMINE) /.test(command) && mailbox !== '');
  if (isOver) client.mailbox = undefined;
  return completed;
}

function literalOf(text: string): Literal {
  const mark = /^[+~]/.exec(text)?.[0];
  const octets = Buffer.from(unescaped(mark === undefined ? text : text.slice(1)));
  return { octets, isUninvited: mark === '+', isBinary: mark === '~' };
}

/** Turns quoted strings with line breaks into literals. */
const withLiterals = (line: string): string =>
  line.replace(/"([^"]*\\r[^"]*)"/g, (_, text: string) => {
    const octets = unescaped(text);
    return `{${Buffer.byteLength(octets)}}\r\n${octets}`;
  });

const unescaped = (text: string): string => text.replaceAll('\\r', '\r').replaceAll('\\n', '\n');

function matches(wanted: Response, response: Response, bound: Map<string, Value>): boolean {
  if (wanted.name !== response.name || wanted.number !== response.number) return false;
  const trial = new Map(bound);
  const isSame =
    wanted.code !== undefined
      ? matchesCode(wanted.code, response.code ?? '', trial)
      : matchesAll(wanted.values, response.values, trial);
  if (isSame) for (const [name, value] of trial) bound.set(name, value);
  return isSame;
}

function matchesCode(wanted: string, code: string, bound: Map<string, Value>): boolean {
  const pieces = code.split(/[ ()]+/);
  const wantedPieces = wanted.split(/[ ()]+/);
  return (
    (pieces.length === wantedPieces.length || wantedPieces.includes('...')) &&
    wantedPieces.every((piece, i) => piece === '...' || matchesValue(piece, pieces[i] ?? '', bound))
  );
}

function matchesAll(wanted: readonly Value[], values: readonly Value[], bound: Map<string, Value>): boolean {
  if (wanted.at(-1) === '$...') return matchesAll(wanted.slice(0, -1), values.slice(0, wanted.length - 1), bound);
  // The pairs of FETCH and STATUS match in any order.
  if (isPairs(wanted) && isPairs(values)) return matchesPairs(wanted, values, bound);
  if (isFlags(wanted) && isFlags(values)) return String(folded(wanted)) === String(folded(values));
  return wanted.length === values.length && wanted.every((value, i) => matchesValue(value, values[i]!, bound));
}

function matchesValue(wanted: Value, value: Value, bound: Map<string, Value>): boolean {
  if (isList(wanted)) return isList(value) && matchesAll(wanted, value, bound);
  if (typeof wanted === 'string' && wanted.startsWith('$') && !/^\$(Forwarded|MDNSent|Junk|NotJunk)$/i.test(wanted)) {
    if (wanted === '$_') return true;
    const before = bound.get(wanted);
    if (before !== undefined) return !isList(value) && textOf(before) === textOf(value);
    bound.set(wanted, value);
    return true;
  }
  if (isList(value)) return false;
  return textOf(wanted).toLowerCase() === textOf(value).toLowerCase();
}

const PAIR_NAMES =
  /^(UID|FLAGS|MODSEQ|ENVELOPE|BODY|BODYSTRUCTURE|INTERNALDATE|RFC822|BINARY|EMAILID|THREADID|PREVIEW|SAVEDATE|MESSAGES|UIDNEXT|UIDVALIDITY|UNSEEN|RECENT|SIZE|DELETED|HIGHESTMODSEQ|MAILBOXID|APPENDLIMIT)/i;

const isPairs = (values: readonly Value[]): boolean =>
  values.length > 0 &&
  values.length % 2 === 0 &&
  values.every((value, i) => i % 2 === 1 || (typeof value === 'string' && PAIR_NAMES.test(value)));

function matchesPairs(wanted: readonly Value[], values: readonly Value[], bound: Map<string, Value>): boolean {
  for (let i = 0; i < wanted.length; i += 2) {
    const at = values.findIndex(
      (name, j) => j % 2 === 0 && textOf(name).toUpperCase() === textOf(wanted[i]).toUpperCase(),
    );
    const areFlags = at >= 0 && /^FLAGS$/i.test(textOf(wanted[i])) && isList(wanted[i + 1]) && isList(values[at + 1]);
    if (areFlags) {
      const [mine, theirs] = [wanted[i + 1], values[at + 1]] as [readonly Value[], readonly Value[]];
      if (String(folded(mine)) !== String(folded(theirs))) return false;
    } else if (at < 0 || !matchesValue(wanted[i + 1]!, values[at + 1]!, bound)) return false;
  }
  return true;
}

const isFlags = (values: readonly Value[]): boolean =>
  values.every((value) => typeof value === 'string' && /^[\\$]?[\w*-]+$/.test(value)) &&
  values.some((value) => /^[\\$][A-Za-z*]/.test(String(value)) && !String(value).startsWith('$_'));

const folded = (values: readonly Value[]): string[] =>
  values
    .map((value) => textOf(value).toLowerCase())
    .filter((flag) => flag !== '\\recent')
    .sort();
