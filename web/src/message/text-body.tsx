// Plain text: lines with links, quotations and signatures, folded where they only repeat.
import { useMemo } from 'preact/hooks';
import { holdKeys } from '../app/keyboard.js';
import { mailtoFields } from '../compose/mailto.js';
import { compose } from '../compose/open.js';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { type TextBlock, textBlocks } from './text/text-blocks.js';
import { textPieces } from './text/text-links.js';

/** Longer signatures are folded. */
const MOST_SIGNATURE_LINES = 6;

export function TextBody({ text }: { readonly text: string }) {
  const blocks = useMemo(() => textBlocks(text), [text]);
  return (
    <div class="message-text">
      {text.trim() === '' ? <p class="hint">{t('message.noText')}</p> : <Blocks blocks={blocks} />}
    </div>
  );
}

function Blocks({ blocks }: { readonly blocks: readonly TextBlock[] }) {
  return (
    <>
      {blocks.map((block, i) => (
        <Block key={i} block={block} />
      ))}
    </>
  );
}

function Block({ block }: { readonly block: TextBlock }) {
  if (block.kind === 'lines') return <Lines text={block.text} />;
  if (block.kind === 'signature') {
    const lines = <Lines text={block.text} />;
    if (block.text.split('\n').length <= MOST_SIGNATURE_LINES) return <div class="message-signature">{lines}</div>;
    return (
      <Folded name={t('message.signature')}>
        <div class="message-signature">{lines}</div>
      </Folded>
    );
  }
  const quote = (
    <blockquote class="message-quote">
      <Blocks blocks={block.blocks} />
    </blockquote>
  );
  return block.isFolded ? <Folded name={t('message.showQuote')}>{quote}</Folded> : quote;
}

function Folded({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <details class="message-folded">
      <summary>
        <Icon name="ellipsis" /> {name}
      </summary>
      {children}
    </details>
  );
}

function Lines({ text }: { readonly text: string }) {
  const pieces = useMemo(() => textPieces(text), [text]);
  return (
    <div class="message-lines" dir="auto">
      {pieces.map(({ text: piece, link }, i) =>
        link === undefined ? (
          piece
        ) : (
          <a
            key={i}
            href={link.href}
            title={link.destination}
            target="_blank"
            rel="noopener noreferrer"
            dir="ltr"
            onClick={(event) => {
              if (!link.href.startsWith('mailto:')) return;
              event.preventDefault();
              holdKeys(compose.open({ kind: 'new', ...mailtoFields(link.href) }));
            }}
          >
            {piece}
          </a>
        ),
      )}
    </div>
  );
}
