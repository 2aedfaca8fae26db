import { describe, expect, it } from '@jest/globals';
import { commandVerdict, kindVerdict } from '../../../src/modules/commands/domain/command-verdict.js';
import { CHANGE_KINDS } from '../../../src/modules/commands/domain/tx-command.js';
import type { Closing, TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { TX_STATES, type TxState } from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { aHash, aManagedTx, aRequest } from '../../support/builders.js';

const CLOSING: Closing = { as: 'CANCELLED', reason: 'cancelled', won: false };
const REPLACEMENT = 'the-replacement';

/** What becomes of a cancel, a replace and a speed-up: the kind of the verdict, or the code of the refusal. */
type Verdicts = readonly [cancel: string, replace: string, speedUp: string];

const all = (verdict: string): Verdicts => [verdict, verdict, verdict];
const WAITING: Verdicts = ['at_once', 'at_once', 'not_sent_yet'];
const FINAL = all('already_final');

/** By state: of a tx alone, with a no-op that closes its slot, with a replacement, and with both. */
const TABLE = {
  PENDING: [WAITING, WAITING, WAITING, WAITING],
  ALLOCATED: [all('by_owner'), all('by_owner'), all('being_replaced'), all('being_replaced')],
  IN_MEMPOOL: [all('by_owner'), ['done', 'being_cancelled', 'by_owner'], all('being_replaced'), all('being_replaced')],
  MINED: [all('already_mined'), all('already_mined'), all('already_mined'), all('already_mined')],
  CONFIRMED: [FINAL, FINAL, FINAL, FINAL],
  FAILED: [FINAL, FINAL, FINAL, FINAL],
  CANCELLED: [FINAL, FINAL, FINAL, FINAL],
  REPLACED: [FINAL, FINAL, FINAL, FINAL],
  DROPPED: [FINAL, FINAL, FINAL, FINAL],
} as const satisfies Record<TxState, readonly [Verdicts, Verdicts, Verdicts, Verdicts]>;

const VARIANTS: readonly Partial<TxProgress>[] = [
  {},
  { closing: CLOSING },
  { replacedBy: REPLACEMENT },
  { closing: CLOSING, replacedBy: REPLACEMENT },
];

it.each<[boolean, boolean, boolean]>([
  [false, false, true],
  [true, true, true],
  [true, false, false],
  [false, true, false],
])('blobs are replaced by blobs only: %j by %j', (original, replacement, isPossible) => {
  const payload = { ...aRequest().payload, ...(replacement && { blobHashes: [aHash(1)] }) };
  expect(kindVerdict(original, payload)).toEqual(
    isPossible ? null : expect.objectContaining({ kind: 'refused', code: 'other_kind' }),
  );
});

function verdictsOn(progress: Partial<TxProgress>): readonly string[] {
  const tx = aManagedTx({ nonce: progress.state === 'PENDING' ? null : 7n, ...progress }).build();
  return CHANGE_KINDS.map((command) => {
    const verdict = commandVerdict(command, tx);
    return verdict.kind === 'refused' ? verdict.code : verdict.kind;
  });
}

describe('what becomes of a cancel, a replace and a speed-up', () => {
  it.each(TX_STATES.flatMap((state) => VARIANTS.map((variant, n) => ({ state, n, ...variant }))))(
    'of a tx that is $state, variant $n',
    ({ state, n, ...variant }) => {
      expect(verdictsOn({ state, ...variant })).toEqual(TABLE[state][n]);
    },
  );

  it.each([{}, { closing: CLOSING }])('of one that rests, because a rival of it is mined: %j', (variant) => {
    for (const state of ['ALLOCATED', 'IN_MEMPOOL'] as const)
      expect(verdictsOn({ state, subState: 'REPLACING', ...variant })).toEqual(all('already_mined'));
  });

  it('of one that waits until a no-op has used its nonce: it can be cancelled', () => {
    const verdicts = ['by_owner', 'being_requeued', 'by_owner'];
    const closing = { as: 'PENDING', reason: 'pool is full', won: false } as const;
    expect(verdictsOn({ state: 'IN_MEMPOOL', closing })).toEqual(verdicts);
    const mined = { state: 'MINED', closing: { ...closing, won: true } } as const;
    expect(verdictsOn(mined)).toEqual(['by_owner', 'being_requeued', 'already_mined']);
    expect(verdictsOn({ state: 'MINED', closing })).toEqual(all('already_mined'));
  });

  it('of a replacement that the nodes refused, and of what it was to replace', () => {
    const withdrawn = { subState: 'REPLACING', replaces: 'other', failureReason: 'too large' } as const;
    expect(verdictsOn({ state: 'IN_MEMPOOL', ...withdrawn })).toEqual(all('refused_by_nodes'));
    const other = { state: 'IN_MEMPOOL', withdrawnReplacement: REPLACEMENT } as const;
    expect(verdictsOn(other)).toEqual(['by_owner', 'refused_by_nodes', 'by_owner']);
  });

  it.each(TX_STATES)('of a fill that is %s: it is refused, because no client made it', (state) => {
    for (const variant of VARIANTS)
      expect(verdictsOn({ kind: 'fill', state, ...variant })).toEqual(all('not_a_payload'));
  });
});

describe('a refusal', () => {
  const refusalOf = (progress: Partial<TxProgress>) => commandVerdict('replace', aManagedTx(progress).build());

  it('names the replacement to send the command to', () => {
    expect(refusalOf({ state: 'IN_MEMPOOL', replacedBy: REPLACEMENT })).toMatchObject({
      detail: `the transaction ${REPLACEMENT} competes for its nonce`,
      advice: `send it to ${REPLACEMENT}`,
    });
  });

  it('names the state of a tx that has ended', () => {
    expect(refusalOf({ state: 'REPLACED' })).toMatchObject({ detail: 'the transaction is REPLACED' });
  });
});
