import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AdminAction, AuditLog } from '../../../src/kernel/audit-log.js';
import { ANYONE } from '../../../src/kernel/caller.js';
import type { Tx } from '../../../src/kernel/unit-of-work.js';
import { CloseHold } from '../../../src/modules/commands/application/close-hold.js';
import { type CommandInput, SubmitCommand } from '../../../src/modules/commands/application/submit-command.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { ManagedTxRepository } from '../../../src/modules/ledger/index.js';
import { aCommand, aManagedTx, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const SIGNER = aSigner();
const COMMIT = {} as Tx;

let hold: Partial<TxProgress>;
let custody: KeysOf;
let stored: CommandInput[];
/** Whether a command has its key. */
let isStored: boolean;
let recorded: [AdminAction, Tx | undefined][];

beforeEach(() => {
  [stored, recorded, custody, isStored] = [[], [], new KeysOf([]), false];
  hold = { kind: 'hold', signer: SIGNER, nonce: 7n, state: 'IN_MEMPOOL' };
});

function close(holdId = 'hold', reason = 'it lost what it signed', nonce = 7n) {
  return new CloseHold(
    fakeOf(ManagedTxRepository, {
      byIds: async (ids) => ids.filter((id) => id !== 'unknown').map((txId) => aManagedTx({ ...hold, txId }).build()),
    }),
    fakeOf(SubmitCommand, {
      isStored: async () => isStored,
      execute: async (input) => (stored.push(input), { command: aCommand({ kind: 'close' }), isNew: true }),
    }),
    fakeOf(AuditLog, { record: async (action, tx) => void recorded.push([action, tx]) }),
    custody,
  ).execute({ signer: SIGNER, nonce }, { sender: ANYONE, requestId: 'k', holdId, reason });
}

describe('a close of a hold', () => {
  it('is a command about this hold, and is in the audit log by the commit that stores it', async () => {
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
    await close('hold', 'another reason');
    await close('other');
    const [first, again, ...others] = stored.map(({ requestHash }) => requestHash);
    expect(again).toBe(first);
    expect(new Set([first, ...others]).size).toBe(3);
  });

  it('is stored for the hold that it names when that has ended, too, and never for the next one of its nonce', async () => {
    hold = { ...hold, state: 'CANCELLED' };
    await close();
    expect(stored).toMatchObject([{ txId: 'hold' }]);
  });

  it('is refused of a signer whose key no node has: nobody can sign the no-op', async () => {
    custody.external = [SIGNER];
    await expect(close()).rejects.toMatchObject({ code: 'external_signer', kind: 'unprocessable' });
    expect(stored).toEqual([]);
  });

  it('that was stored before the key went is answered as before', async () => {
    [custody.external, isStored] = [[SIGNER], true];
    expect(await close()).toMatchObject({ command: { kind: 'close' } });
    expect(stored).toMatchObject([{ requestId: 'k' }]);
  });

  it.each<[string, Partial<TxProgress>, string, string]>([
    ['nothing', {}, 'unknown', 'hold_not_found'],
    ['a payload', { kind: 'payload' }, 'hold', 'hold_not_found'],
    ['a hold of another signer', { signer: aSigner(98) }, 'hold', 'hold_not_found'],
    ['a hold with another nonce', { nonce: 8n }, 'hold', 'other_nonce'],
    ['a hold without a nonce', { nonce: null, state: 'PENDING' }, 'hold', 'other_nonce'],
  ])('is refused for %s, and nothing is stored', async (_, other, holdId, code) => {
    hold = { ...hold, ...other };
    await expect(close(holdId)).rejects.toMatchObject({ code });
    expect(stored).toEqual([]);
  });
});
