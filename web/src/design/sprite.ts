// Puts the icons into the document, as one SVG of symbols that every icon refers to. The text of icons.svg is taken apart here, because no
// policy of the page makes markup of text.
import icons from './icons.svg?raw';

const SVG = 'http://www.w3.org/2000/svg';

export function installSprite(): void {
  const sprite = element('svg', 'class="sprite" width="0" height="0" aria-hidden="true"');
  for (const [, attributes = '', content = ''] of icons.matchAll(/<symbol ([^>]*)>(.*?)<\/symbol>/g)) {
    const symbol = element('symbol', attributes);
    for (const [, name = '', values = ''] of content.matchAll(/<(\w+) ([^>]*?)\/>/g))
      symbol.append(element(name, values));
    sprite.append(symbol);
  }
  document.body.prepend(sprite);
}

function element(name: string, attributes: string): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [, attribute = '', value = ''] of attributes.matchAll(/([\w-]+)="([^"]*)"/g))
    made.setAttribute(attribute, value);
  return made;
}
