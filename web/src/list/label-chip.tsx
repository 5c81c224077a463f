// A label as a chip: its hue on a tint of it, so that its name can be read in both themes whatever colour the user has chosen.
import './label-chip.css';

export function LabelChip({ label }: { readonly label: { readonly name: string; readonly color: string } }) {
  return (
    <span class="chip" style={{ '--label': label.color }}>
      {label.name}
    </span>
  );
}
