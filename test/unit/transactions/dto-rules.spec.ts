import { describe, expect, it } from '@jest/globals';
import { plainToInstance, Type } from 'class-transformer';
import { IsArray, IsInt, IsOptional, ValidateNested, validateSync } from 'class-validator';
import { CreateTxDto, PayloadDto } from '../../../src/modules/transactions/infrastructure/http/create-tx.dto.js';
import { ListQueryDto } from '../../../src/modules/transactions/infrastructure/http/tx-query.dto.js';
import { type DtoClass, DtoRules } from '../../../src/platform/http/dto-rules.js';
import { anAddress } from '../../support/builders.js';

const GOOD = {
  chainId: 31337,
  signer: anAddress(1),
  requestId: 'r-1',
  payload: {
    to: anAddress(2),
    value: '1',
    data: '0x00',
    gasLimit: 21_000,
    accessList: [
      { address: anAddress(3), storageKeys: [`0x${'0'.repeat(64)}`] },
      { address: anAddress(4), storageKeys: [] },
    ],
  },
  fees: { maxFeePerGas: '2', maxPriorityFeePerGas: '1' },
  speed: 'fast',
  allocate: 'later',
  priority: 3,
  confirmations: 5,
  expiresAt: '2030-01-01T00:00:00.000Z',
  metadata: { order: { lines: [1, null, 'two'] } },
};

/** What may stand where something else belongs. */
const ODD = [
  null,
  0,
  -1,
  1.5,
  1e300,
  true,
  '',
  'text',
  '0x',
  '0xzz',
  anAddress(9),
  [],
  [null],
  [[]],
  [1],
  {},
  { a: 1 },
];

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, item]) => pathsOf(item, [...path, key]))];
}

function withValue(value: unknown, [key, ...rest]: Path, odd: unknown): unknown {
  if (key === undefined) return odd;
  const copy: Record<string, unknown> = Object.assign(Array.isArray(value) ? [] : {}, value);
  copy[key] = withValue(copy[key], rest, odd);
  return copy;
}

/** class-transformer and class-validator themselves, with the options of the pipe. */
function theLongWay(type: DtoClass, body: unknown): object | null {
  const dto: unknown = plainToInstance(type, body);
  if (!(dto instanceof type)) return null;
  return validateSync(dto, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false }).length === 0
    ? dto
    : null;
}

function expectSame(given: unknown): void {
  const body: unknown = JSON.parse(JSON.stringify(given));
  const read = DtoRules.of(CreateTxDto).read(body);
  expect({ body, read }).toStrictEqual({ body, read: theLongWay(CreateTxDto, body) });
}

describe('the collected rules of a create', () => {
  it('take a good one, and hand on the same instances as class-transformer', () => {
    expect(DtoRules.of(CreateTxDto).read(GOOD)).toBeInstanceOf(CreateTxDto);
    expectSame(GOOD);
    const { signer, requestId } = GOOD;
    expectSame({ signer, requestId, payload: { to: anAddress(2) } });
  });

  it('decide as class-validator does when anything at all stands in any place', () => {
    for (const path of pathsOf(GOOD)) for (const odd of ODD) expectSame(withValue(GOOD, path, odd));
  });

  it('decide as class-validator does when a field is missing, or is one too many', () => {
    for (const path of pathsOf(GOOD)) {
      const without = structuredClone(GOOD);
      const holder = path.slice(0, -1).reduce<object>((value, key) => Reflect.get(value, key), without);
      Reflect.deleteProperty(holder, path.at(-1) ?? '');
      expectSame(without);
      expectSame(withValue(GOOD, [...path, 'stranger'], 1));
    }
  });

  it('hand on metadata as it is, whatever its keys are called', () => {
    const metadata = { constructor: 1, toString: 2, nested: [{ valueOf: null }] };
    expect(DtoRules.of(CreateTxDto).read({ ...GOOD, metadata })).toMatchObject({ metadata });
  });
});

describe('rules that are not understood', () => {
  class Typed {
    @IsInt()
    @Type(() => Number)
    count!: number;
  }
  class Untyped {
    @ValidateNested()
    payload!: PayloadDto;
  }

  it.each([
    ['has a type without rules', Typed, { count: 1 }],
    ['has rules without a type', Untyped, { payload: {} }],
    ['is a query', ListQueryDto, { limit: 1 }],
    ['is no DTO', Date, {}],
  ])('leave a class that %s to the long way', (_words, type, body) => {
    expect(DtoRules.of(type).read(body)).toBeNull();
  });

  it('do not keep a class from nesting itself', () => {
    class Tree {
      @IsOptional()
      @IsArray()
      @ValidateNested()
      @Type(() => Tree)
      children?: Tree[];
    }
    const read = DtoRules.of(Tree).read({ children: [{ children: [] }] });
    expect(read).toStrictEqual(plainToInstance(Tree, { children: [{ children: [] }] }));
    expect(DtoRules.of(Tree).read({ children: [{ children: 1 }] })).toBeNull();
  });
});
