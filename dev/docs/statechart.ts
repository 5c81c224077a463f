// Draws docs/outbound-statechart.md from the definitions of the machines. `npm run docs` writes the page; a test compares it with the code.
import { outboundEmail } from '../../src/machines/outbound-email/machine.js';
import { outboundRecipient } from '../../src/machines/outbound-recipient/machine.js';
import { paragraph } from './markdown.js';

type Named = string | { readonly type: string };

/** The part of a state's definition that is drawn. */
interface State {
  readonly key: string;
  readonly states: Readonly<Record<string, State>>;
  readonly initial?: { readonly target: readonly { readonly key: string }[] };
  readonly entry: readonly Named[];
  readonly transitions: readonly {
    readonly eventType: string;
    readonly target?: readonly { readonly key: string }[];
    readonly guard?: Named;
    readonly actions: readonly Named[];
  }[];
}

export const STATECHART_PAGE = 'docs/outbound-statechart.md';

export function statechartPage(): string {
  const email = outboundEmail.definition as unknown as State;
  const recipient = outboundRecipient.definition as unknown as State;
  return `# An outbound email

This page draws the states of an outbound email and of its recipients, from the machines in \`src/machines\` by \`npm run docs\`.

A label reads *event [guard] / actions*; of several transitions for one event the first whose guard holds is taken, in the order of
this page. The mailbox actor sends events to the machine in its command handlers and commits the snapshot with the rows; the effects that
the machine emits (\`announce…\`, \`wake\`, reports) run after the commit. The machine has no timers: \`nextRetryAt\` is a column
that the queue reads.

\`\`\`mermaid
${diagram(email)}
\`\`\`

${paragraph(`In every state: ${anywhere(email)}.`)}

## One of its recipients

\`\`\`mermaid
${diagram(recipient)}
\`\`\`
`;
}

function diagram(machine: State): string {
  const lines = ['stateDiagram-v2', `  [*] --> ${machine.initial!.target[0]!.key}`];
  for (const state of Object.values(machine.states)) {
    for (const { eventType, target, guard, actions } of state.transitions) {
      const to = target?.[0]?.key ?? state.key;
      lines.push(`  ${state.key} --> ${to}: ${label(eventType, guard, actions)}`);
    }
    if (state.transitions.every(({ target }) => target === undefined)) lines.push(`  ${state.key} --> [*]`);
    if (state.entry.length > 0) lines.push(`  note left of ${state.key}: entry / ${names(state.entry)}`);
  }
  return lines.join('\n');
}

function anywhere({ transitions }: State): string {
  return transitions.map(({ eventType, guard, actions }) => `\`${label(eventType, guard, actions)}\``).join(', ');
}

function label(event: string, guard: Named | undefined, actions: readonly Named[]): string {
  const condition = guard === undefined ? '' : ` [${name(guard)}]`;
  return `${event}${condition}${actions.length === 0 ? '' : ` / ${names(actions)}`}`;
}

const name = (named: Named) => (typeof named === 'string' ? named : named.type);
const names = (all: readonly Named[]) => all.map(name).join(', ');
