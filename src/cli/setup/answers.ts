// The answers that `mansio setup` needs: from its options, else from the person at the terminal. Without a terminal, or with --yes, a missing
// answer is an error that names the option.
import { isAbsolute, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { readConfig } from '../../node/config/config.js';
import { domainName, newAddress } from '../arguments.js';
import { CommandError } from '../output.js';

export interface SetupOptions {
  readonly domain?: string;
  readonly hostname?: string;
  readonly account?: string;
  readonly acmeEmail?: string;
  readonly databaseUrl?: string;
  readonly prefix?: string;
  readonly print?: boolean;
  readonly yes?: boolean;
}

export interface SetupAnswers {
  readonly domain: string;
  readonly hostname: string;
  readonly account: string;
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
    const domain = await ask(
      { option: '--domain', text: 'Domain of the mail addresses', proposal: '', parse: domainName },
      options.domain,
    );
    const hostname = await ask(
      { option: '--hostname', text: 'Full name of this machine', proposal: `mail.${domain}`, parse: fullName },
      options.hostname,
    );
    const account = await ask(
      {
        option: '--account',
        text: 'Address of the first account',
        proposal: '',
        parse: (text) => accountAt(text, domain),
      },
      options.account,
    );
    return {
      domain,
      hostname,
      account,
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

function fullName(text: string): string {
  const name = domainName(text);
  if (!name.includes('.')) throw new CommandError(`${name} is not a full name, such as mail.example.org`);
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
