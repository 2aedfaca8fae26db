import { describe, expect, it } from '@jest/globals';
import { TypedDataEncoder } from 'ethers';
import { ANYONE, limitedTo } from '../../../src/kernel/caller.js';
import {
  type CreateTxDto,
  type PermitDto,
  PermitDto as Permit,
} from '../../../src/modules/requests/infrastructure/http/create-tx.dto.js';
import { toRequest } from '../../../src/modules/requests/infrastructure/http/to-request.js';
import { anAddress, aSigner, DEV_CHAIN } from '../../support/builders.js';

const [OWNER, TOKEN, SPENDER] = [anAddress(2), anAddress(0x70), anAddress(3)];
const part = (name: string, permit = 0) => ({ $permit: permit, part: name });
const aDto = (overrides: Partial<PermitDto> = {}): PermitDto =>
  Object.assign(
    new Permit(),
    { kind: 'eip2612', owner: OWNER, token: TOKEN, name: 'Coin', spender: SPENDER, value: '5' },
    overrides,
  );
const ALL = [OWNER, part('deadline'), part('v'), part('r'), part('s')];
const FUNCTION = 'pull(address,uint256,uint8,bytes32,bytes32)';

function request(permits: readonly PermitDto[] | null, args: readonly unknown[] = ALL, called = FUNCTION, by = ANYONE) {
  const call = { function: called, args: [...args] };
  const payload = { to: anAddress(9), call, ...(permits && { permits: [...permits] }) };
  const body = { signer: aSigner().address, requestId: 'r', payload } as unknown as CreateTxDto;
  return toRequest(body, DEV_CHAIN, undefined, by);
}

describe('permits of a request', () => {
  it('are typed data of their tokens, as EIP-2612 has it, with the places of their parts', () => {
    const { payload } = request([aDto({ version: '2', ttl: 60, value: 0x10 })]);
    const [permit] = payload.permits ?? [];
    expect(permit).toEqual({
      kind: 'eip2612',
      contract: TOKEN,
      owner: OWNER,
      ttl: 60,
      text: {
        domain: { name: 'Coin', version: '2', chainId: DEV_CHAIN, verifyingContract: TOKEN },
        types: expect.anything(),
        primaryType: 'Permit',
        message: { owner: OWNER, spender: SPENDER, value: '16' },
      },
      places: [
        { part: 'deadline', at: 4 + 32, bytes: 32 },
        { part: 'v', at: 4 + 95, bytes: 1 },
        { part: 'r', at: 4 + 96, bytes: 32 },
        { part: 's', at: 4 + 128, bytes: 32 },
      ],
    });
    const types = Object.fromEntries(
      Object.entries(permit?.text.types ?? {}).map(([name, fields]) => [name, [...fields]]),
    );
    expect(TypedDataEncoder.from(types).encodeType('Permit')).toBe(
      'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)',
    );
    expect(payload.data).toBe(`${payload.data.slice(0, 10)}${OWNER.slice(2).padStart(64, '0')}${'00'.repeat(4 * 32)}`);
  });

  it('last for an hour, in version 1 of their domain', () => {
    expect(request([aDto()]).payload.permits).toMatchObject([{ ttl: 3_600, text: { domain: { version: '1' } } }]);
    expect(request(null, [], 'f()').payload).not.toHaveProperty('permits');
  });

  it('may be two, of one owner at two tokens', () => {
    const two = [aDto(), aDto({ token: anAddress(0x71) })];
    const { payload } = request(
      two,
      [...ALL, part('signature', 1), part('deadline', 1)],
      `pull(address,uint256,uint8,bytes32,bytes32,bytes,uint256)`,
    );
    expect(payload.permits?.map(({ places }) => places.length)).toEqual([4, 2]);
    expect(() => request([aDto(), aDto()], ALL)).toThrow(expect.objectContaining({ code: 'invalid_permit' }));
  });

  it.each<[string, readonly unknown[], string]>([
    ['its deadline', [OWNER, '1', part('v'), part('r'), part('s')], FUNCTION],
    ['its v', [OWNER, '1', '1', part('r'), part('s')], FUNCTION],
    ['its signature', [part('deadline')], 'pull(uint256)'],
    ['anything of it', [], 'pull()'],
  ])('are refused where the call does not use %s', (_what, args, called) => {
    expect(() => request([aDto()], args, called)).toThrow(
      expect.objectContaining({ code: 'invalid_permit', message: expect.stringMatching(/does not use permit 0/) }),
    );
  });

  it('are refused twice of one owner at one token, and without a call', () => {
    const args = [...ALL, part('signature', 1), part('deadline', 1)];
    expect(() => request([aDto(), aDto()], args, 'pull(address,uint256,uint8,bytes32,bytes32,bytes,uint256)')).toThrow(
      /names an owner of a token twice/,
    );
    const payload = { to: anAddress(9), data: '0xab', permits: [aDto()] };
    const body = { signer: aSigner().address, requestId: 'r', payload } as unknown as CreateTxDto;
    expect(() => toRequest(body, DEV_CHAIN, undefined, ANYONE)).toThrow(/permits need a call/);
  });

  it.each<[string, unknown, unknown]>([
    ['names another account', SPENDER, '0'],
    ['has its owner as a number only', SPENDER, BigInt(OWNER).toString()],
  ])(
    'are refused where the call %s: after lost commits that of another owner would look the same',
    (_what, named, number) => {
      const [called, args] = ['pull(address,uint256,uint256,uint8,bytes32,bytes32)', [named, number, ...ALL.slice(1)]];
      expect(() => request([aDto()], args, called)).toThrow(
        expect.objectContaining({
          code: 'invalid_permit',
          message: expect.stringMatching(/^the owner of permit 0 is neither/),
        }),
      );
      expect(request([aDto({ owner: aSigner().address })], args, called).payload.permits).toHaveLength(1);
      const inTuple = [
        'pull((address,uint256)[],uint256,uint8,bytes32,bytes32)',
        [[[OWNER, '1']], ...ALL.slice(1)],
      ] as const;
      expect(request([aDto()], inTuple[1], inTuple[0]).payload.permits).toHaveLength(1);
    },
  );

  it('are refused with values that no typed data has', () => {
    expect(() => request([aDto({ name: '\ud800' })])).toThrow(expect.objectContaining({ code: 'invalid_typed_data' }));
    expect(() => request([aDto({ value: (1n << 256n).toString() })])).toThrow(
      expect.objectContaining({ code: 'invalid_quantity' }),
    );
  });

  it('need the scope of typed data, and an owner that the caller may use', () => {
    const scopes = ANYONE.scopes.filter((scope) => scope !== 'typed-data');
    expect(() => request([aDto()], ALL, FUNCTION, { ...ANYONE, scopes })).toThrow(
      expect.objectContaining({ code: 'missing_scope' }),
    );
    const only = limitedTo([aSigner()], null);
    expect(() => request([aDto()], ALL, FUNCTION, { ...ANYONE, only })).toThrow(
      expect.objectContaining({ code: 'outside_limits' }),
    );
    const both = limitedTo([aSigner(), { chainId: DEV_CHAIN, address: OWNER }], null);
    expect(request([aDto()], ALL, FUNCTION, { ...ANYONE, only: both }).payload.permits).toHaveLength(1);
  });
});
