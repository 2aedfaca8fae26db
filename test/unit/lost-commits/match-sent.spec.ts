import { describe, expect, it } from '@jest/globals';
import { parseHex } from '../../../src/kernel/hex.js';
import type { SentTransaction } from '../../../src/modules/chain/index.js';
import type { RequestedTx } from '../../../src/modules/ledger/domain/managed-tx.repository.js';
import { carries, hasMoved, matchSent } from '../../../src/modules/lost-commits/domain/match-sent.js';
import { type MadePermit, withPermits } from '../../../src/modules/ledger/domain/permit.js';
import { NO_PAYLOAD, type TxPayload } from '../../../src/modules/ledger/domain/tx-request.js';
import { noOpPayload } from '../../../src/modules/ledger/domain/index.js';
import { aHash, aManagedTx, anAddress, aRequest } from '../../support/builders.js';
import { aMadePermit, aPermit } from '../../support/permit-builders.js';
import { aSentTransaction } from '../../support/sent-builders.js';

const PAYLOAD = aRequest().payload;
const OTHER: TxPayload = { ...PAYLOAD, value: 99n };

function aSent(nonce: bigint, payload: TxPayload = PAYLOAD, hash = Number(nonce)): SentTransaction {
  const { to, value, data, accessList, blobHashes, authorizationList } = payload;
  const extras = {
    ...(blobHashes && { blobHashes }),
    ...(authorizationList && { authorizationList: authorizationList.map((item) => ({ nonce: 1n, ...item })) }),
  };
  return aSentTransaction({ nonce, hash: aHash(hash), to, value, data, accessList, ...extras });
}

function aTx(txId: string, payload: TxPayload = PAYLOAD): RequestedTx {
  return { tx: aManagedTx({ txId }).build(), request: aRequest({ payload }) };
}

const NOBODY = new Map<bigint, RequestedTx>();

const match = (
  sent: readonly SentTransaction[],
  holders: ReadonlyMap<bigint, RequestedTx>,
  others: readonly RequestedTx[],
  mayBeOurs = false,
) =>
  matchSent(
    sent,
    holders,
    others,
    () => true,
    () => mayBeOurs,
  );

describe('a transaction that is out', () => {
  it('belongs to the oldest tx with its payload, and the next nonce to the next one', () => {
    const [old, young] = [aTx('old'), aTx('young')];
    expect(match([aSent(8n), aSent(7n)], NOBODY, [old, young])).toEqual([
      { nonce: 7n, tx: old, sent: [aSent(7n)] },
      { nonce: 8n, tx: young, sent: [aSent(8n)] },
    ]);
  });

  it('belongs to nobody when no tx has its payload, or when all that have it found theirs', () => {
    expect(match([aSent(7n, OTHER)], NOBODY, [aTx('waiting')])).toEqual([
      { nonce: 7n, tx: null, sent: [aSent(7n, OTHER)] },
    ]);
    const [first, second] = match([aSent(7n), aSent(8n)], NOBODY, [aTx('only')]);
    expect([first?.tx?.tx.id, second?.tx]).toEqual(['only', null]);
  });

  it('belongs to the holder of its nonce, then to its replacement, then to another tx with its payload, and else to nobody', () => {
    const holder = aTx('holder');
    const holders = new Map([[7n, holder]]);
    const replacement = { ...aTx('b', OTHER), tx: aManagedTx({ txId: 'b', replaces: 'holder' }).build() };
    const another = aTx('c', OTHER);
    expect(match([aSent(7n)], holders, [aTx('equal')])).toMatchObject([{ tx: holder, holder }]);
    expect(match([aSent(7n, OTHER)], holders, [another, replacement])).toMatchObject([{ tx: replacement, holder }]);
    expect(match([aSent(7n, OTHER)], holders, [another])).toMatchObject([{ tx: another, holder }]);
    expect(match([aSent(7n, OTHER)], holders, [])).toMatchObject([{ tx: null, holder }]);
  });

  it('is a no-op of the holder, with or without a blob, but not of another tx, and no fill gives its slot up', () => {
    const holders = new Map([[7n, aTx('holder')]]);
    const noOp = aSent(7n, { ...noOpPayload(anAddress(1), 2), gasLimit: null });
    const withBlob = { ...aSent(7n, { ...noOpPayload(anAddress(1), 3), gasLimit: null }), type: 3 } as const;
    expect(match([noOp], holders, [])[0]?.tx?.tx.id).toBe('holder');
    expect(match([withBlob], holders, [])[0]?.tx?.tx.id).toBe('holder');
    expect(match([{ ...withBlob, blobHashes: [aHash(1)] }], holders, [])[0]?.tx).toBeNull();
    expect(match([{ ...noOp, value: 1n }], holders, [])[0]?.tx).toBeNull();
    expect(match([noOp], NOBODY, [aTx('waiting')])[0]?.tx).toBeNull();
    const fill = { ...aTx('fill'), tx: aManagedTx({ txId: 'fill', kind: 'fill' }).build() };
    expect(match([aSent(7n, OTHER)], new Map([[7n, fill]]), [aTx('waiting', OTHER)])[0]?.tx).toBeNull();
  });

  it('belongs to a tx that had moved to its nonce, when no waiting tx has the payload; a no-op with its old nonce is not its own', () => {
    const moved = { tx: aManagedTx({ txId: 'moved', nonce: 7n }).build(), request: aRequest({ payload: PAYLOAD }) };
    const holders = new Map([[7n, moved]]);
    const noOp = aSent(7n, { ...noOpPayload(anAddress(1), 2), gasLimit: null });
    const [closed, elsewhere] = match([noOp, aSent(9n)], holders, [moved]);
    expect([closed?.tx, elsewhere?.tx?.tx.id]).toEqual([null, 'moved']);
    expect([closed, elsewhere].map((each) => each && hasMoved(each))).toEqual([false, true]);
    const waiting = aTx('waiting');
    expect(match([noOp, aSent(9n)], holders, [moved, waiting]).map(({ tx }) => tx?.tx.id)).toEqual([
      'moved',
      'waiting',
    ]);
    expect(match([aSent(7n), aSent(9n)], holders, [moved]).map(({ tx }) => tx?.tx.id)).toEqual(['moved', undefined]);
  });

  it('belongs to a replaced tx that had moved to its nonce, only where nothing of its replacement is out', () => {
    const replaced = aManagedTx({ txId: 'replaced', nonce: 7n, replacedBy: 'holder' }).build();
    const moved = { tx: replaced, request: aRequest({ payload: PAYLOAD }) };
    const holder = {
      ...aTx('holder', OTHER),
      tx: aManagedTx({ txId: 'holder', nonce: 7n, replaces: 'replaced' }).build(),
    };
    const holders = new Map([[7n, holder]]);
    const ids = (sent: readonly SentTransaction[], others: readonly RequestedTx[], isElsewhere: boolean) =>
      matchSent(
        sent,
        holders,
        others,
        () => isElsewhere,
        () => false,
      ).map(({ tx }) => tx?.tx.id);
    const noOp = aSent(7n, { ...noOpPayload(anAddress(1), 2), gasLimit: null });
    expect(ids([noOp, aSent(9n)], [moved], true)).toEqual([undefined, 'replaced']);
    expect(ids([noOp, aSent(9n)], [moved], false)).toEqual(['holder', undefined]);
    expect(ids([aSent(7n, OTHER), aSent(9n)], [moved], true)).toEqual(['holder', undefined]);
    expect(ids([aSent(7n), aSent(9n)], [moved], true)).toEqual(['replaced', undefined]);
  });

  it('comes with all others of its nonce that carry the same payload', () => {
    const group = [aSent(7n, OTHER, 70), aSent(7n, PAYLOAD, 71), aSent(7n, PAYLOAD, 72)];
    const [ours] = match(group, NOBODY, [aTx('ours')]);
    expect(ours?.sent.map(({ hash }) => hash)).toEqual([aHash(71), aHash(72)]);
    const [foreign] = match(group, NOBODY, []);
    expect(foreign?.sent.map(({ hash }) => hash)).toEqual([aHash(70)]);
  });
});

describe('a transaction carries a payload', () => {
  const list = [{ address: anAddress(3), storageKeys: [aHash(4)] }];

  it('whatever gas and fees it has', () => {
    const request = aRequest({ payload: { ...PAYLOAD, gasLimit: 1n, accessList: list } });
    expect(carries(aSent(1n, { ...PAYLOAD, accessList: list }), request)).toBe(true);
  });

  it.each<[string, Partial<TxPayload>]>([
    ['receiver', { to: null }],
    ['value', { value: 2n }],
    ['data', { data: parseHex('0x01') }],
    ['access list', { accessList: list }],
  ])('only with the same %s', (_part, change) => {
    expect(carries(aSent(1n, { ...PAYLOAD, ...change }), { payload: PAYLOAD })).toBe(false);
  });

  it.each([
    ['address', [{ address: anAddress(5), storageKeys: [aHash(4)] }]],
    ['storage key', [{ address: anAddress(3), storageKeys: [aHash(5)] }]],
  ])('only with the same %s in its access list', (_part, accessList) => {
    expect(carries(aSent(1n, { ...PAYLOAD, accessList }), { payload: { ...PAYLOAD, accessList: list } })).toBe(false);
  });

  it('is no other one with other blobs, or with authorizations for other code or another chain', () => {
    const target = { chainId: 1n, address: anAddress(3), nonce: 1n };
    const signed = { ...target, yParity: 0, r: aHash(1), s: aHash(2) } as const;
    for (const [extra, others] of [
      [{ blobHashes: [aHash(1)] }, [{}, { blobHashes: [aHash(2)] }, { blobHashes: [aHash(1), aHash(1)] }]],
      [
        { authorizationList: [signed] },
        [
          {},
          { authorizationList: [{ ...signed, address: anAddress(4) }] },
          { authorizationList: [{ ...signed, chainId: 0n }] },
        ],
      ],
    ] as const) {
      const sent = aSent(1n, { ...PAYLOAD, ...extra });
      expect(carries(sent, { payload: { ...PAYLOAD, ...extra } })).toBe(true);
      for (const other of others) expect(carries(sent, { payload: { ...PAYLOAD, ...other } })).toBe(false);
    }
  });
});

describe('what is out with the nonce of a hold', () => {
  const hold = { ...aTx('hold'), tx: aManagedTx({ txId: 'hold', kind: 'hold', nonce: 7n }).build() };
  const holders = new Map([[7n, hold]]);

  it('is of its outside sender, when an equal payload waits, which gets no nonce that an outside sender had', () => {
    expect(match([aSent(7n, OTHER)], holders, [aTx('waiting', OTHER)])[0]?.tx).toBe(hold);
  });

  it('is a payload of ours that waits, when the commit that gave it the nonce may be lost', () => {
    expect(match([aSent(7n, OTHER)], holders, [aTx('waiting', OTHER)], true)).toMatchObject([
      { tx: { tx: { id: 'waiting' } }, holder: hold },
    ]);
  });

  it('is of its outside sender, when that has named one of what is out', () => {
    const sent = [aSent(7n, OTHER, 70), aSent(7n, OTHER, 71)];
    const isNotNamed = ({ hash }: SentTransaction): boolean => hash !== aHash(71);
    const [found] = matchSent(sent, holders, [aTx('waiting', OTHER)], () => true, isNotNamed);
    expect(found).toMatchObject({ tx: hold, sent });
  });

  it('is of its outside sender, when none of ours has the payload, whatever it is, and however often it was signed', () => {
    const own = { ...noOpPayload(anAddress(1), 2), gasLimit: null };
    for (const payload of [OTHER, PAYLOAD, own]) {
      const sent = [aSent(7n, payload), aSent(7n, { ...payload, value: 5n }, 70)];
      for (const mayBeOurs of [true, false])
        expect(match(sent, holders, [hold], mayBeOurs)).toMatchObject([{ tx: hold, holder: hold, sent }]);
    }
  });

  it('is of its outside sender for good, once that has sent something', () => {
    const used = { ...hold, tx: aManagedTx({ txId: 'hold', kind: 'hold', nonce: 7n, state: 'IN_MEMPOOL' }).build() };
    expect(match([aSent(7n, OTHER)], new Map([[7n, used]]), [aTx('waiting', OTHER)])[0]?.tx).toBe(used);
  });

  it('never makes a hold the sender of anything else', () => {
    const empty = { ...hold, request: aRequest({ payload: NO_PAYLOAD }) };
    expect(match([aSent(8n, NO_PAYLOAD)], new Map([[7n, empty]]), [empty])[0]?.tx).toBeNull();
  });
});

describe('a payload with a permit', () => {
  const template = parseHex(`0x12345678${'00'.repeat(65)}`);
  const permit = aPermit({ places: [{ part: 'signature', at: 4, bytes: 65 }] });
  const remade = aMadePermit({ signature: { r: aHash(8), s: aHash(9), yParity: 1 } });
  const withIts = (made: MadePermit): TxPayload => ({ ...PAYLOAD, data: withPermits(template, [{ ...permit, made }]) });

  it.each([
    ['is awaited', template, {}],
    ['was made anew since', withPermits(template, [{ ...permit, made: remade }]), { made: remade }],
  ])('that %s is ours with any that was made for it, and with no other call', (_what, data, made) => {
    const ours = aTx('ours', { ...PAYLOAD, data, permits: [{ ...permit, ...made }] });
    const sent = aSent(7n, withIts(aMadePermit()));
    expect(match([sent], NOBODY, [ours])).toMatchObject([{ tx: ours, sent: [sent] }]);
    expect(match([sent], new Map([[7n, ours]]), [])).toMatchObject([{ tx: ours, holder: ours }]);
    for (const other of [`0x12345679${'01'.repeat(65)}`, `${sent.data}00`, sent.data.slice(0, -2)])
      expect(match([{ ...sent, data: parseHex(other) }], NOBODY, [ours])).toMatchObject([{ tx: null }]);
  });

  it('belongs to the tx with its very permit, also when an older one wants the same call', () => {
    const [first, second] = [aMadePermit(), remade].map(withIts) as [TxPayload, TxPayload];
    const old = aTx('old', { ...PAYLOAD, data: template, permits: [permit] });
    const young = aTx('young', { ...second, permits: [{ ...permit, made: remade }] });
    const found = match([aSent(7n, second), aSent(8n, first)], NOBODY, [old, young]);
    expect(found.map(({ tx }) => tx?.tx.id)).toEqual(['young', 'old']);
    const swapped = match([aSent(7n, first), aSent(8n, second)], NOBODY, [young, old]);
    expect(swapped.map(({ tx }) => tx?.tx.id)).toEqual(['old', 'young']);
  });
});
