// Tests which files fit into a draft, and that each travels once.
import {
  attachmentInputs,
  type DraftFile,
  fileProblem,
  roomFor,
  storedAs,
} from '../../../web/src/compose/attachments.js';
import test from '../../support/test.js';

const file = (key: string, more: Partial<DraftFile> = {}): DraftFile => ({
  key,
  fileName: `${key}.pdf`,
  contentType: 'application/pdf',
  size: 10,
  contentId: null,
  stored: null,
  ...more,
});

test('a file is told to be too large before it travels', (t) => {
  const limit = 36_700_160;
  const room = roomFor([], limit);
  t.true(room > 26_000_000 && room < 27_000_000);
  t.is(fileProblem({ size: room }, [], limit), undefined);
  t.is(fileProblem({ size: room }, [{ size: 1 }], limit), 'tooLarge');
  t.is(
    fileProblem(
      { size: 0 },
      Array.from({ length: 100 }, () => ({ size: 1 })),
      limit,
    ),
    'tooMany',
  );
});

test('a file travels once: later saves name it where it is stored, and a save that came between does not lose it', (t) => {
  const files = [file('a'), file('cat', { contentId: 'cat@x' }), file('b'), file('late')];
  const contents = new Map([
    ['a', 'QQ=='],
    ['cat', 'Qw=='],
    ['b', 'Qg=='],
  ]);
  t.deepEqual(attachmentInputs(files, contents), [
    { fileName: 'a.pdf', contentType: 'application/pdf', content: 'QQ==' },
    { fileName: 'cat.pdf', contentType: 'application/pdf', content: 'Qw==', contentId: 'cat@x' },
    { fileName: 'b.pdf', contentType: 'application/pdf', content: 'Qg==' },
  ]);
  const listed = [{ id: '1', contentId: 'cat@x' }, { id: '2', contentId: 'of-a-forward' }, { id: '3' }];
  const stored = storedAs(files, ['a', 'cat', 'b'], 'd', listed);
  t.deepEqual(
    stored.map((one) => one.stored?.attachmentId),
    ['2', '1', '3', undefined],
  );
  t.deepEqual(attachmentInputs(stored, new Map()), [
    { emailId: 'd', attachmentId: '2' },
    { emailId: 'd', attachmentId: '1', contentId: 'cat@x' },
    { emailId: 'd', attachmentId: '3' },
  ]);
});
