// The order of things that have a number each: what changes when one moves. Pure.

interface Numbered {
  readonly id: string;
  readonly number: number;
}

/** The fewest new numbers that bring one to another position; none when it cannot go there. `items`: in order. */
export function movedNumbers(items: readonly Numbered[], id: string, to: number): readonly Numbered[] {
  const from = items.findIndex((item) => item.id === id);
  if (from === -1 || to === from || to < 0 || to >= items.length) return [];
  const order = items.toSpliced(from, 1).toSpliced(to, 0, items[from]!);
  const [down, up] = [renumbered(order, to, 1), renumbered(order, to, -1)];
  return down.length <= up.length ? down : up;
}

/** Numbers the item at `at` next to the one before it in this direction, and those after it as far as it would meet them. */
function renumbered(order: readonly Numbered[], at: number, by: 1 | -1): readonly Numbered[] {
  const before = order[at - by];
  let number = before === undefined ? order[at + by]!.number - by : before.number + by;
  const changed: Numbered[] = [];
  for (let i = at; order[i] !== undefined; i += by) {
    const item = order[i]!;
    if (i !== at) {
      if ((item.number - number) * by > 0) break;
      number += by;
    }
    if (number !== item.number) changed.push({ id: item.id, number });
  }
  return changed;
}
