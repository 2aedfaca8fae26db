import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CloseHold } from '../../../src/modules/commands/application/close-hold.js';
import { ConsumeHold } from '../../../src/modules/commands/application/consume-hold.js';
import { type CommandInput, SubmitCommand } from '../../../src/modules/commands/application/submit-command.js';
import { CommandStore } from '../../../src/modules/commands/domain/tx-command.js';
import { CommandScheduler } from '../../../src/modules/commands/infrastructure/command-scheduler.js';
import { AnswerCommand } from '../../../src/modules/commands/infrastructure/http/answer-command.js';
import { HoldCommandsController } from '../../../src/modules/commands/infrastructure/http/hold-commands.controller.js';
import { TxQueries, type TxView } from '../../../src/modules/ledger/index.js';
import { WaitForState } from '../../../src/modules/requests/index.js';
import { aCommand, aHash, anAddress, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { txIdOf } from '../../support/stored-rows.js';
import { aTxView } from '../../support/view-builders.js';
import { type HttpApp, send, startHttpApp } from '../platform/http-app.js';

const SIGNER = aSigner();
const HOLD_ID = txIdOf(1);
const HASH = aHash(7);
const COMMAND = aCommand({ txId: HOLD_ID });

let http: HttpApp;
let hold: TxView;
/** What was stored, by which way. */
let stored: unknown[][];

beforeAll(async () => {
  const told =
    (way: string) =>
    async (...args: unknown[]) => (stored.push([way, ...args]), { command: COMMAND, isNew: stored.length === 1 });
  http = await startHttpApp({
    controllers: [HoldCommandsController],
    providers: [
      AnswerCommand,
      { provide: SubmitCommand, useValue: { execute: told('submit') } },
      { provide: ConsumeHold, useValue: { execute: told('consume') } },
      { provide: CloseHold, useValue: { execute: told('close') } },
      { provide: TxQueries, useValue: { find: async (id: string) => (id === HOLD_ID ? hold : null) } },
      { provide: CommandStore, useValue: { get: async () => ({ ...COMMAND, status: 'DONE' }) } },
      { provide: CommandScheduler, useValue: { wake: () => undefined } },
      { provide: WaitForState, useValue: { execute: async () => undefined } },
    ],
  });
});
beforeEach(() => {
  stored = [];
  hold = aTxView({
    txId: HOLD_ID,
    kind: 'hold',
    chainId: DEV_CHAIN,
    signer: SIGNER.address,
    nonce: 7,
    state: 'ALLOCATED',
  });
});
afterAll(() => http.app.close());

async function say(what: string, payload: object, headers = {}): Promise<{ status: number; body: { code?: string } }> {
  const url = `/api/v1/signers/${DEV_CHAIN}/${SIGNER.address}/nonces/${what}`;
  const { status, text } = await send(http.port, { method: 'POST', url, payload, headers });
  return { status, body: JSON.parse(text) as { code?: string } };
}

describe('what an outside sender says about a nonce', () => {
  it('is stored as a command about its hold, which the owner carries out', async () => {
    const answer = await say('7/consume', { holdId: HOLD_ID, txHash: HASH.toUpperCase().replace('0X', '0x') });
    expect(answer).toMatchObject({ status: 202, body: { status: 'QUEUED', tx: { txId: HOLD_ID } } });
    const done = await say('7/release?waitFor=CANCELLED', { holdId: HOLD_ID }, { 'idempotency-key': 'k' });
    expect(done).toMatchObject({ status: 200, body: { status: 'DONE' } });
    await say('7/extend', { holdId: HOLD_ID, ttl: 60, requestId: 'e' });
    const base = { txId: HOLD_ID, requestId: null };
    expect(stored).toEqual([
      ['consume', { signer: SIGNER, nonce: 7n }, expect.objectContaining({ ...base, kind: 'consume', txHash: HASH })],
      ['submit', expect.objectContaining({ ...base, kind: 'release', requestId: 'k' })],
      ['submit', expect.objectContaining({ ...base, kind: 'extend', ttl: 60, requestId: 'e' })],
    ]);
  });

  it('gives it back by its id alone, also before it has a nonce', async () => {
    hold = { ...hold, nonce: null, state: 'PENDING' };
    expect(await say('release', { holdId: HOLD_ID, requestId: 'k' })).toMatchObject({ status: 202 });
    expect(stored).toEqual([['submit', expect.objectContaining({ txId: HOLD_ID, kind: 'release', requestId: 'k' })]]);
    hold = { ...hold, signer: anAddress(99) };
    expect(await say('release', { holdId: HOLD_ID })).toMatchObject({ status: 404, body: { code: 'tx_not_found' } });
  });

  it('is closed by an operator, who is told nothing of the transaction, which may be of another account', async () => {
    hold = { ...hold, signer: anAddress(99) };
    const answer = await say('7/close', { holdId: HOLD_ID, reason: 'lost' }, { 'idempotency-key': 'k' });
    expect(answer).toMatchObject({ status: 202, body: { status: 'QUEUED', txId: HOLD_ID } });
    expect(answer.body).not.toHaveProperty('tx');
    expect(await say('7/close', { holdId: HOLD_ID, reason: 'lost' })).toMatchObject({ status: 200 });
    const slot = { signer: SIGNER, nonce: 7n };
    expect(stored).toEqual([
      ['close', slot, { sender: expect.anything(), requestId: 'k', holdId: HOLD_ID, reason: 'lost' }],
      ['close', slot, { sender: expect.anything(), requestId: null, holdId: HOLD_ID, reason: 'lost' }],
    ]);
  });

  it('is another command with another hash or time', async () => {
    for (const txHash of [HASH, HASH, aHash(8)]) await say('7/consume', { holdId: HOLD_ID, txHash });
    const [first, again, other] = stored.map(([, , input]) => (input as CommandInput).requestHash);
    expect([again === first, other === first]).toEqual([true, false]);
  });

  it('is refused for another nonce than that of the hold, for none, and for the hold of another signer', async () => {
    expect(await say('8/release', { holdId: HOLD_ID })).toMatchObject({
      status: 409,
      body: { code: 'other_nonce', facts: { nonce: 7, state: 'ALLOCATED' } },
    });
    hold = { ...hold, nonce: null, state: 'PENDING' };
    expect(await say('7/release', { holdId: HOLD_ID })).toMatchObject({ status: 409, body: { code: 'other_nonce' } });
    hold = { ...hold, nonce: 7, signer: anAddress(99) };
    expect(await say('7/release', { holdId: HOLD_ID })).toMatchObject({ status: 404, body: { code: 'tx_not_found' } });
    expect(await say('7/release', { holdId: txIdOf(2) })).toMatchObject({ status: 404 });
    expect(stored).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['7/consume', { holdId: HOLD_ID }, 'invalid_request'],
    ['7/consume', { holdId: HOLD_ID, txHash: '0x1' }, 'invalid_request'],
    ['7/extend', { holdId: HOLD_ID, ttl: 9 }, 'invalid_request'],
    ['7/release', {}, 'invalid_request'],
    ['7/close', { holdId: HOLD_ID }, 'invalid_request'],
    ['7/close', { reason: 'lost' }, 'invalid_request'],
    ['7/close', { holdId: HOLD_ID, reason: '' }, 'invalid_request'],
    ['x/close', { holdId: HOLD_ID, reason: 'lost' }, 'invalid_nonce'],
    ['x/release', { holdId: HOLD_ID }, 'invalid_nonce'],
  ])('%s is refused with the body %j', async (what, body, code) => {
    expect(await say(what, body)).toMatchObject({ status: 400, body: { code } });
    expect(stored).toEqual([]);
  });
});
