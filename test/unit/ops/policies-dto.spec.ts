import { expect, it } from '@jest/globals';
import { SeenVersionQueryDto, SetPolicyDto } from '../../../src/modules/ops/infrastructure/http/policies.dto.js';
import { InvalidRequest } from '../../../src/platform/http/invalid-request.js';
import { RequestValidationPipe } from '../../../src/platform/http/validation-pipe.js';

const PIPE = new RequestValidationPipe();

it.each([true, false, '', '0', ' ', null, [], [0], {}, -1, 0.5, 2 ** 31])('%p is no version of a policy', (version) => {
  expect(() => PIPE.read(SetPolicyDto, { version, rules: {} })).toThrow(InvalidRequest);
});

it.each(['', ' ', '0x0', '1e0', 'true', ['0', '1'], '-1', '2147483648'])('%p is none in a query', (version) => {
  const query = { version };
  expect(() => PIPE.transform(query, { type: 'query', metatype: SeenVersionQueryDto })).toThrow(InvalidRequest);
});

it('0 and a number are', () => {
  expect(PIPE.read(SetPolicyDto, { version: 0, rules: {} })).toMatchObject({ version: 0 });
  expect(PIPE.transform({ version: '7' }, { type: 'query', metatype: SeenVersionQueryDto })).toEqual({ version: 7 });
});
