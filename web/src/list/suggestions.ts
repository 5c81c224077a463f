// What the search field suggests while one types: operators; people, folders, labels, dates and sizes as their values; and searches of
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

/** What an operator can be followed by, and how the reader calls it. */
export interface OperatorValue {
  readonly value: string;
  readonly name: string;
}

const MOST = 8;
const MOST_RECENT = 3;
const LAST_WORD = /(?:^|\s)((\w+:)?("[^"]*|[^\s"]*))$/;
/** The operators whose values are people. */
const OF_PEOPLE = ['from:', 'to:', 'cc:'];

export interface Known {
  readonly operators: readonly Operator[];
  /** The values of operators, by the operator with its colon. */
  readonly values: Readonly<Record<string, readonly OperatorValue[]>>;
  /** Those whose name or address begins with the value of from:, to: or cc:. */
  readonly people: readonly { readonly address: string; readonly displayName: string }[];
  readonly recent: readonly string[];
  readonly recentHint: string;
}

/** The operator and the beginning of its value at the end of the text. */
function lastPart(text: string): { readonly before: string; readonly operator: string; readonly value: string } {
  const [, part = '', operator = '', value = ''] = LAST_WORD.exec(text) ?? [];
  return { before: text.slice(0, text.length - part.length), operator: operator.toLowerCase(), value };
}

/** The beginning of a name or address for which people are suggested. */
export function personPart(text: string): string | undefined {
  const { operator, value } = lastPart(text);
  return OF_PEOPLE.includes(operator) ? value.replace(/^"/, '') : undefined;
}

export function suggestionsFor(text: string, known: Known): readonly Suggestion[] {
  const { before, operator, value } = lastPart(text);
  const typed = value.replace(/^"/, '').toLocaleLowerCase();
  const begins = (name: string): boolean => name.toLocaleLowerCase().startsWith(typed);
  const of = (found: string, label: string, hint: string, isComplete: boolean): Suggestion => ({
    text: `${before}${found}`,
    label,
    hint,
    isComplete,
  });
  const values = OF_PEOPLE.includes(operator)
    ? known.people.map(({ address, displayName }) => ({ value: address, name: displayName }))
    : known.values[operator]?.filter((one) => begins(one.value) || begins(one.name));
  if (values !== undefined) {
    return values
      .map((one) => ({ ...one, label: `${operator}${quoted(one.value)}` }))
      .map(({ label, name }) => of(`${label} `, label, name, true))
      .slice(0, MOST);
  }
  const word = `${operator}${value}`.toLowerCase();
  const recent = known.recent
    .filter((search) => search !== text && search.toLocaleLowerCase().startsWith(text.toLocaleLowerCase()))
    .map((search) => ({ text: search, label: search, hint: known.recentHint, isComplete: true }));
  const operators = known.operators
    .filter(({ name }) => name.startsWith(word) && name !== word)
    .map(({ name, hint, isOpen }) => of(isOpen ? name : `${name} `, name, hint, !isOpen));
  return [...recent.slice(0, MOST_RECENT), ...operators];
}

/** The days that after: and before: begin with; each as the field writes it. */
export function knownDays(now: Date): Readonly<Record<'today' | 'yesterday' | 'week' | 'month' | 'year', string>> {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  return {
    today: dayText(now),
    yesterday: dayText(new Date(year, month, day - 1)),
    week: dayText(new Date(year, month, day - 7)),
    month: dayText(new Date(year, month, 1)),
    year: dayText(new Date(year, 0, 1)),
  };
}

/** `2026-11-29`, in the zone of the reader. */
function dayText(day: Date): string {
  const two = (number: number): string => `${number}`.padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** The searches of before with this one in front. */
export function remembered(recent: readonly string[], search: string): readonly string[] {
  return [search, ...recent.filter((one) => one !== search)].slice(0, 10);
}

function quoted(value: string): string {
  return /\s/.test(value) ? `"${value}"` : value;
}
