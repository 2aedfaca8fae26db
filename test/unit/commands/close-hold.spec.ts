import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AdminAction, AuditLog } from '../../../src/kernel/audit-log.js';
import { ANYONE } from '../../../src/kernel/caller.js';
import type { Tx } from '../../../src/kernel/unit-of-work.js';
import { CloseHold } from '../../../src/modules/commands/application/close-hold.js';
import { type CommandInput, SubmitCommand } from '../../../src/modules/commands/application/submit-command.js';
import { CommandedTxs } from '../../../src/modules/ledger/index.js';
import { aCommand, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const SIGNER = aSigner();
const COMMIT = {} as Tx;

let holder: string | null;
let stored: CommandInput[];
let recorded: [AdminAction, Tx | undefined][];

beforeEach(() => {
  [holder, stored, recorded] = ['hold', [], []];
});

function close(nonce = 7n, reason = 'it lost what it signed') {
  return new CloseHold(
    fakeOf(CommandedTxs, { holdAt: async (slot) => (slot.nonce === 7n ? holder : null) }),
    fakeOf(SubmitCommand, {
      execute: async (input) => (stored.push(input), { command: aCommand({ kind: 'close' }), isNew: true }),
    }),
    fakeOf(AuditLog, { record: async (action, tx) => void recorded.push([action, tx]) }),
  ).execute({ signer: SIGNER, nonce }, { sender: ANYONE, requestId: 'k', reason });
}

describe('a close of a hold', () => {
  it('is a command about the tx that has the nonce, and is in the audit log by the commit that stores it', async () => {
    await close();
    expect(stored).toMatchObject([{ txId: 'hold', kind: 'close', requestId: 'k' }]);
    expect(recorded).toEqual([]);
    await stored[0]?.inSameCommit?.(COMMIT);
    expect(recorded).toEqual([
      [
        {
          by: ANYONE,
          action: 'closeHold',
          object: `signer:${DEV_CHAIN}:${SIGNER.address}`,
          detail: { nonce: '7', txId: 'hold', reason: 'it lost what it signed' },
        },
        COMMIT,
      ],
    ]);
  });

  it('is another one with another reason, or of another hold', async () => {
    await close();
    await close();
    await close(7n, 'another reason');
    holder = 'other';
    await close();
    const [first, again, ...others] = stored.map(({ requestHash }) => requestHash);
    expect(again).toBe(first);
    expect(new Set([first, ...others]).size).toBe(3);
  });

  it('is refused where no outside sender has the nonce, and nothing is stored', async () => {
    await expect(close(8n)).rejects.toMatchObject({ code: 'hold_not_found' });
    expect(stored).toEqual([]);
  });
});
