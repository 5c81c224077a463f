// What the search field suggests while one types: operators, folders for in:, people for from: and to:, and searches of
// before.

export interface Suggestion {
  /** The text of the field when it is taken. */
  readonly text: string;
  /** What is shown: the operator or value itself. */
  readonly label: string;
  readonly hint: string;
  /** The field is complete, and the search begins. */
  readonly isComplete: boolean;
}

interface Operator {
  readonly name: string;
  readonly hint: string;
  /** It needs a value. */
  readonly isOpen: boolean;
}

const MOST = 8;
const LAST_WORD = /(?:^|\s)((\w+:)?("[^"]*|[^\s"]*))$/;

export interface Known {
  readonly operators: readonly Operator[];
  readonly folders: readonly { readonly value: string; readonly name: string }[];
  /** Those whose name or address begins with the value of from: or to:. */
  readonly people: readonly { readonly address: string; readonly displayName: string }[];
  readonly recent: readonly string[];
  readonly recentHint: string;
}

/** The operator and the beginning of its value at the end of the text. */
export function lastPart(text: string): { readonly before: string; readonly operator: string; readonly value: string } {
  const [, part = '', operator = '', value = ''] = LAST_WORD.exec(text) ?? [];
  return { before: text.slice(0, text.length - part.length), operator: operator.toLowerCase(), value };
}

export function suggestionsFor(text: string, known: Known): readonly Suggestion[] {
  const { before, operator, value } = lastPart(text);
  const typed = value.replace(/^"/, '').toLocaleLowerCase();
  const of = (found: string, label: string, hint: string, isComplete: boolean): Suggestion => ({
    text: `${before}${found}`,
    label,
    hint,
    isComplete,
  });
  if (operator === 'in:') {
    return known.folders
      .filter(({ name }) => name.toLocaleLowerCase().startsWith(typed))
      .map(({ value: folder, name }) => of(`in:${quoted(folder)} `, `in:${quoted(folder)}`, name, true))
      .slice(0, MOST);
  }
  if (operator === 'from:' || operator === 'to:') {
    return known.people
      .map(({ address, displayName }) => of(`${operator}${address} `, `${operator}${address}`, displayName, true))
      .slice(0, MOST);
  }
  const word = `${operator}${value}`.toLowerCase();
  const recent = known.recent
    .filter((search) => search !== text && search.toLocaleLowerCase().startsWith(text.toLocaleLowerCase()))
    .map((search) => ({ text: search, label: search, hint: known.recentHint, isComplete: true }));
  const operators = known.operators
    .filter(({ name }) => name.startsWith(word) && name !== word)
    .map(({ name, hint, isOpen }) => of(isOpen ? name : `${name} `, name, hint, !isOpen));
  return [...recent.slice(0, 3), ...operators].slice(0, MOST);
}

/** The searches of before with this one in front. */
export function remembered(recent: readonly string[], search: string): readonly string[] {
  return [search, ...recent.filter((one) => one !== search)].slice(0, 10);
}

function quoted(value: string): string {
  return /\s/.test(value) ? `"${value}"` : value;
}
