// The colours that the page offers for labels. Each can be seen on every background of both themes: 3 : 1, as WCAG 2.2 asks of graphics.
// A label may have any other colour, which other programs give it.

export const LABEL_COLORS = [
  { color: '#d0463b', name: 'organise.red' },
  { color: '#c05a10', name: 'organise.orange' },
  { color: '#987000', name: 'organise.yellow' },
  { color: '#5a8000', name: 'organise.lime' },
  { color: '#268540', name: 'organise.green' },
  { color: '#00837a', name: 'organise.teal' },
  { color: '#007fb0', name: 'organise.cyan' },
  { color: '#3b78d8', name: 'organise.blue' },
  { color: '#7d66d9', name: 'organise.violet' },
  { color: '#a855b8', name: 'organise.purple' },
  { color: '#cc4680', name: 'organise.pink' },
  { color: '#757c85', name: 'organise.grey' },
] as const;

/** The colour that the fewest labels have, the first of them. */
export function nextColor(labels: readonly { readonly color: string | null }[]): string {
  const uses = (color: string) => labels.filter((label) => label.color?.toLowerCase() === color).length;
  const counted = LABEL_COLORS.map(({ color }) => ({ color, count: uses(color) }));
  const least = Math.min(...counted.map(({ count }) => count));
  return counted.find(({ count }) => count === least)!.color;
}
