// Tests several sessions on one folder under random histories: no client is ever told anything wrong. The same histories find
// faults that are put into the view on purpose.
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { ClientView } from '../../../../src/gateways/imap/view/client-view.js';
import type { FlagChange } from '../../../../src/gateways/imap/view/folder-mirror.js';
import type { ViewUpdates } from '../../../../src/gateways/imap/view/folder-view.js';
import type { MirroredFolder } from '../../../../src/gateways/imap/view/mirrored-folder.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { history, runHistory } from './histories.js';

const RUNS = runs(400);

test('each client knows the folder as it is whenever it is in sync', async (t) => {
  await fc.assert(
    fc.asyncProperty(history, (drawn) => runHistory(drawn)),
    { numRuns: RUNS },
  );
  t.pass();
});

async function mustFail(t: ExecutionContext, View: new (mirror: MirroredFolder) => ClientView): Promise<void> {
  const result = await fc.check(
    fc.asyncProperty(history, (drawn) => runHistory(drawn, View)),
    { numRuns: RUNS },
  );
  t.true(result.failed);
}

class Shifted extends ClientView {
  override takeUpdates(mayExpunge: boolean): ViewUpdates {
    const updates = super.takeUpdates(mayExpunge);
    return { ...updates, expunged: updates.expunged.map(({ seq, uid }) => ({ seq: Math.max(1, seq - 1), uid })) };
  }
}

test('an EXPUNGE that is off by one is found', mustFail, Shifted);

class Eager extends ClientView {
  override takeUpdates(): ViewUpdates {
    return super.takeUpdates(true);
  }
}

test('an EXPUNGE while sequence numbers are in use is found', mustFail, Eager);

class Ascending extends ClientView {
  override takeUpdates(mayExpunge: boolean): ViewUpdates {
    const updates = super.takeUpdates(mayExpunge);
    return { ...updates, expunged: [...updates.expunged].reverse() };
  }
}

test('EXPUNGEs in the wrong order are found', mustFail, Ascending);

class Silent extends ClientView {
  override takeUpdates(mayExpunge: boolean): ViewUpdates {
    return { ...super.takeUpdates(mayExpunge), flagged: [] };
  }
}

test('flags that are not told are found', mustFail, Silent);

class Presumptuous extends ClientView {
  /** Behaves as if STORE with .SILENT made all flags known, also those that another session changed. */
  override expectFlags(uids: ArrayLike<number>): () => void {
    return () => this.markFlagsSent(uids);
  }
}

test('a change of flags that a silent STORE hides is found', mustFail, Presumptuous);

class Credulous extends ClientView {
  /** Behaves as if no other session changed flags during a STORE with .SILENT. */
  override expectFlags(uids: ArrayLike<number>, change: FlagChange): () => void {
    const settle = super.expectFlags(uids, change);
    return () => settle(true);
  }
}

test('a silent STORE that takes all changes for its own is found', mustFail, Credulous);

class Short extends ClientView {
  override takeUpdates(mayExpunge: boolean): ViewUpdates {
    const updates = super.takeUpdates(mayExpunge);
    return { ...updates, exists: updates.exists === undefined ? undefined : updates.exists - 1 };
  }
}

test('an EXISTS that is off by one is found', mustFail, Short);
