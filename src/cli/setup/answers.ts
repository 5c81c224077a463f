// The answers that `mansio setup` needs: from its options, else from the person at the terminal. Without a terminal, or with --yes, a missing
// answer is an error that names the option.
import { hostname } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { readConfig } from '../../node/config/config.js';
import { domainName, newAddress } from '../arguments.js';
import { CommandError } from '../output.js';

export interface SetupOptions {
  readonly domain?: string;
  readonly hostname?: string;
  /** False with --no-account. */
  readonly account?: string | false;
  readonly acmeEmail?: string;
  readonly databaseUrl?: string;
  readonly prefix?: string;
  readonly print?: boolean;
  readonly yes?: boolean;
}

/** What is made in the store. */
export interface FirstAccount {
  readonly domain: string;
  readonly account: string;
}

export interface SetupAnswers {
  readonly hostname: string;
  /** Undefined when the store is left to a restore. */
  readonly first: FirstAccount | undefined;
  readonly acmeEmail: string | undefined;
  readonly databaseUrl: string | undefined;
  /** Absolute, without a final slash; '' for the machine itself. */
  readonly prefix: string;
  readonly isPrint: boolean;
}

interface Question {
  readonly option: string;
  readonly text: string;
  readonly proposal: string;
  parse(text: string): string;
}

/** @throws CommandError for a wrong or missing answer */
export async function askAnswers(options: SetupOptions): Promise<SetupAnswers> {
  const isAsked = options.yes !== true && process.stdin.isTTY === true && process.stderr.isTTY === true;
  const prompt = isAsked ? createInterface({ input: process.stdin, output: process.stderr }) : undefined;
  try {
    const ask = (question: Question, given: string | undefined) => answer(question, given, prompt);
    const domain = await domainOf(options, ask);
    const machine = domain === undefined ? hostname() : `mail.${domain}`;
    const proposal = machine.includes('.') ? machine : '';
    const name = await ask(
      { option: '--hostname', text: 'Full name of this machine', proposal, parse: (text) => fullName(text) },
      options.hostname,
    );
    return {
      hostname: name,
      first: domain === undefined ? undefined : { domain, account: await accountOf(options, domain, ask) },
      acmeEmail: await contact(options.acmeEmail, prompt),
      // A password in an option would be in the list of processes.
      databaseUrl: options.databaseUrl ?? readConfig().databaseUrl,
      prefix: prefixOf(options.prefix),
      isPrint: options.print === true,
    };
  } finally {
    prompt?.close();
  }
}

type Ask = (question: Question, given: string | undefined) => Promise<string>;

/** Undefined with --no-account: a backup has its domains. */
async function domainOf({ account, domain }: SetupOptions, ask: Ask): Promise<string | undefined> {
  if (account !== false)
    return ask({ option: '--domain', text: 'Domain of the mail addresses', proposal: '', parse: fullDomain }, domain);
  if (domain !== undefined)
    throw new CommandError('--domain does not go with --no-account: the backup that is restored has the domains');
  return undefined;
}

function accountOf({ account }: SetupOptions, domain: string, ask: Ask): Promise<string> {
  const parse = (text: string) => accountAt(text, domain);
  return ask({ option: '--account', text: 'Address of the first account', proposal: '', parse }, account || undefined);
}

async function answer(question: Question, given: string | undefined, prompt: Interface | undefined): Promise<string> {
  const { option, text, proposal, parse } = question;
  if (given !== undefined) return named(option, () => parse(given));
  if (prompt === undefined) throw new CommandError(`${option} is missing (${text.toLowerCase()})`);
  for (;;) {
    const written = (await prompt.question(`${text}${proposal === '' ? '' : ` [${proposal}]`}: `)).trim() || proposal;
    try {
      if (written !== '') return parse(written);
    } catch (error) {
      process.stderr.write(`${(error as Error).message}\n`);
    }
  }
}

/** No certificate is requested without a contact. */
async function contact(given: string | undefined, prompt: Interface | undefined): Promise<string | undefined> {
  const text = given ?? (await prompt?.question('E-mail for certificates of Let’s Encrypt (empty: none): '))?.trim();
  return text === undefined || text === '' ? undefined : named('--acme-email', () => newAddress(text));
}

function named(option: string, parse: () => string): string {
  try {
    return parse();
  } catch (error) {
    throw new CommandError(`${option}: ${(error as Error).message}`);
  }
}

const fullDomain = (text: string) => fullName(text, 'example.org');

function fullName(text: string, sample = 'mail.example.org'): string {
  const name = domainName(text);
  if (!name.includes('.')) throw new CommandError(`${name} is not a full name, such as ${sample}`);
  return name;
}

function accountAt(text: string, domain: string): string {
  const address = newAddress(text);
  if (!address.endsWith(`@${domain}`)) throw new CommandError(`${address} is not an address at ${domain}`);
  return address;
}

function prefixOf(text: string | undefined): string {
  if (text === undefined) return '';
  const path = isAbsolute(text) ? resolve(text) : resolve(process.cwd(), text);
  return path === '/' ? '' : path;
}
