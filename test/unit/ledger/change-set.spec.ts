import { describe, expect, it } from '@jest/globals';
import { type ChangeSet, signersIn } from '../../../src/modules/ledger/application/writing/change-set.js';
import { aHash, aManagedTx, anAttempt, aRequest, aSigner } from '../../support/builders.js';

const SIGNER = aSigner(5);
const OTHER = aSigner(6);
const tx = aManagedTx({ signer: SIGNER }).build();
const slot = { signer: SIGNER, nonce: 7n };
const holder = { ...slot, txId: 'tx' };
const decided = { ...slot, txHash: aHash(1) };
const attempt = anAttempt({ signer: SIGNER });
const answered = { attempt, status: 'UNKNOWN', errorClass: null, error: null, notSent: false, alone: false } as const;

describe('the signers of which a change set changes something', () => {
  it.each<[string, ChangeSet]>([
    ['a new fill', { fills: [{ tx, request: aRequest() }] }],
    ['a saved tx', { txs: [tx] }],
    ['a tx of which only the events are written', { noted: [tx] }],
    ['a postponed tx', { postponed: { timer: 'resubmit', txs: [{ tx, inMs: 1 }] } }],
    ['funds that arrived', { fundsArrived: [SIGNER] }],
    ['room that came', { roomCame: [SIGNER] }],
    ['a held slot', { slots: { held: [holder] } }],
    ['an adopted slot', { slots: { adopted: [holder] } }],
    ['a slot for a fill', { slots: { filled: [holder] } }],
    ['a slot that a reorg opened again', { slots: { reopened: [slot] } }],
    ['a consumed slot', { slots: { consumed: [decided] } }],
    ['a released slot', { slots: { released: [slot] } }],
    ['a freed slot', { slots: { freed: [slot] } }],
    ['a new attempt', { attempts: { inserted: [attempt] } }],
    ['an attempt that is sent again', { attempts: { resent: [attempt] } }],
    ['an answer to an attempt', { attempts: { answered: [answered] } }],
    ['a decided attempt', { attempts: { decided: [decided] } }],
    ['an attempt that a reorg opened again', { attempts: { reopened: [slot] } }],
  ])('are named by %s alone', (_what, changes) => {
    expect(signersIn(changes)).toEqual([SIGNER]);
  });

  it('are those of all its parts', () => {
    const changes = { txs: [tx], slots: { released: [{ signer: OTHER, nonce: 1n }] } };
    expect(signersIn(changes)).toEqual([SIGNER, OTHER]);
    expect(signersIn({})).toEqual([]);
  });
});
