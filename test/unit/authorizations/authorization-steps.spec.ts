import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { AuthorizationSteps } from '../../../src/modules/authorizations/application/authorization-steps.js';
import type { AuthorizationTurns } from '../../../src/modules/authorizations/application/authorization-turns.js';
import type { EndAuthorization } from '../../../src/modules/authorizations/application/end-authorization.js';
import type { GrantAuthorization } from '../../../src/modules/authorizations/application/grant-authorization.js';
import type { AuthorizationStore } from '../../../src/modules/authorizations/domain/authorization-store.js';
import type { Grant, GrantStage } from '../../../src/modules/authorizations/domain/grant.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import { InFlightLimits } from '../../../src/modules/transactions/index.js';
import { aGrant, AUTHORITY, LEASE, SENDER } from './grant-fixture.js';

let succeeds: boolean;
let isOver: boolean;
let calls: string[];
let limits: InFlightLimits;
let steps: AuthorizationSteps;

beforeEach(() => {
  [succeeds, isOver, calls, limits] = [true, false, [], new InFlightLimits(new ExecutionConfig())];
  const does = (name: string) => async () => (calls.push(name), succeeds);
  const told =
    (name: string) =>
    ({ chainId, address }: SignerId): void =>
      void calls.push(`${name} ${signerKey({ chainId, address })}`);
  steps = new AuthorizationSteps(
    { execute: does('grant') } as unknown as GrantAuthorization,
    { execute: does('end') } as unknown as EndAuthorization,
    {
      isOver: () => isOver,
      isFirstMined: () => succeeds,
      signed: told('signed'),
      payloadsMayGo: told('payloads of'),
    } as unknown as AuthorizationTurns,
    {
      postpone: async (_grant: Grant, pauseMs: number) => void calls.push(`postpone ${String(pauseMs)}`),
    } as unknown as AuthorizationStore,
    limits,
    {
      ring: (signers: readonly SignerId[]) => void calls.push(...signers.map((signer) => `ring ${signerKey(signer)}`)),
    },
  );
});

const step = (stage: GrantStage) => steps.execute({} as ChainConnector, LEASE, aGrant({ stage }));

describe('an authorization that is wanted', () => {
  it('is signed, and the lane of its tx is woken', async () => {
    await step('wanted');
    expect(calls).toEqual(['grant', `signed ${signerKey(AUTHORITY)}`, `ring ${signerKey(SENDER)}`]);
  });

  it('waits for its nonce, and only so long', async () => {
    succeeds = false;
    await step('wanted');
    isOver = true;
    await step('wanted');
    expect(calls).toEqual(['grant', 'grant', 'postpone 7500', `payloads of ${signerKey(AUTHORITY)}`]);
  });
});

describe('an authorization that is signed', () => {
  it('needs nothing while its tx is in flight', async () => {
    await step('open');
    expect(calls).toEqual([]);
  });

  it('makes the code of its account be read when its tx is mined, once', async () => {
    await step('mined');
    expect([calls, limits.mustLook(AUTHORITY)]).toEqual([[`ring ${signerKey(AUTHORITY)}`], true]);
    succeeds = false;
    await step('mined');
    expect(calls).toHaveLength(1);
  });

  it.each<GrantStage>(['overdue', 'ended'])('is ended when it is %s, and its signer goes on', async (stage) => {
    await step(stage);
    expect(calls).toEqual(['end', `payloads of ${signerKey(AUTHORITY)}`, `ring ${signerKey(AUTHORITY)}`]);
    expect(limits.mustLook(AUTHORITY)).toBe(true);
    [succeeds, calls] = [false, []];
    await step(stage);
    expect(calls).toEqual(['end']);
  });
});
