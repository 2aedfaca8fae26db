import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { plainToInstance, Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsInt, IsOptional, ValidateNested, validateSync } from 'class-validator';
import { CreateTxDto, PayloadDto } from '../../../src/modules/requests/infrastructure/http/create-tx.dto.js';
import { TxBatchDto } from '../../../src/modules/requests/infrastructure/http/tx-batch.dto.js';
import { type DtoClass, DtoRules } from '../../../src/platform/http/dto-rules.js';
import { Mistakes } from '../../../src/platform/http/mistakes.js';
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

function read(type: DtoClass, body: unknown): object | null {
  return DtoRules.of(type).read(body, new Mistakes());
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
  const mistakes = new Mistakes();
  const dto = DtoRules.of(CreateTxDto).read(body, mistakes);
  expect({ body, dto }).toStrictEqual({ body, dto: theLongWay(CreateTxDto, body) });
  expect(mistakes.told.length > 0).toBe(dto === null);
}

describe('the collected rules of a create', () => {
  it('take a good one, and hand on the same instances as class-transformer', () => {
    expect(read(CreateTxDto, GOOD)).toBeInstanceOf(CreateTxDto);
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
    expect(read(CreateTxDto, { ...GOOD, metadata })).toMatchObject({ metadata });
  });
});

describe('a class', () => {
  class Untyped {
    @ValidateNested()
    payload!: PayloadDto;
  }
  class Endless {
    @IsArray()
    items!: unknown[];
  }
  class ItemsFirst {
    @IsInt({ each: true })
    @ArrayMaxSize(3)
    items!: number[];
  }

  it.each([
    ['validates an object without a type', Untyped, /without a @Type/],
    ['has a list without a maximum', Endless, /without an @ArrayMaxSize/],
    ['has a list whose items are checked before their number', ItemsFirst, /without an @ArrayMaxSize/],
    ['has no rules', Date, /no rules/],
  ])('is not accepted if it %s', (_words, type, words) => {
    expect(() => DtoRules.of(type)).toThrow(words);
  });

  it('of a request keeps these rules, wherever it is', async () => {
    const files = readdirSync('src/modules', { recursive: true, encoding: 'utf8' });
    const controllers = files.filter((file) => file.endsWith('.controller.ts'));
    const types: DtoClass[] = [];
    // One after the other: the loader of Jest cannot load a package twice at once.
    for (const file of controllers) {
      const exported: object = await import(resolve('src/modules', file));
      types.push(...Object.values(exported).flatMap(requestTypesOf));
    }
    expect(types.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['CreateTxDto', 'PauseRequestDto', 'EventsQueryDto']),
    );
    for (const type of [...types, TxBatchDto]) expect(DtoRules.of(type)).toBeInstanceOf(DtoRules);
  });

  it('may nest itself', () => {
    class Tree {
      @IsOptional()
      @IsArray()
      @ArrayMaxSize(9)
      @ValidateNested()
      @Type(() => Tree)
      children?: Tree[];
    }
    expect(read(Tree, { children: [{ children: [] }] })).toStrictEqual(
      plainToInstance(Tree, { children: [{ children: [] }] }),
    );
    expect(read(Tree, { children: [{ children: 1 }] })).toBeNull();
  });
});

/** The DTO classes of all that the methods of a controller read. */
function requestTypesOf({ prototype }: { prototype: object }): DtoClass[] {
  const types = Object.getOwnPropertyNames(prototype).map((method): unknown =>
    Reflect.getMetadata('design:paramtypes', prototype, method),
  );
  return types.flat().filter((type): type is DtoClass => typeof type === 'function' && type.name.endsWith('Dto'));
}
