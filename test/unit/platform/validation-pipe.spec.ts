import { describe, expect, it } from '@jest/globals';
import { IsObject, IsOptional } from 'class-validator';
import { RequestValidationPipe } from '../../../src/platform/http/validation-pipe.js';

class NoteDto {
  @IsOptional()
  @IsObject()
  facts?: object;
}

const PIPE = new RequestValidationPipe();
const read = (body: object): Promise<NoteDto> => PIPE.read(NoteDto, body);
const fields = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1]));

/** class-transformer takes a time that grows with the square of the fields of an object. */
describe('an object of many fields', () => {
  it('is taken in a good body', async () => {
    expect(await read({ facts: fields(2_001) })).toEqual({ facts: fields(2_001) });
  });

  it.each([
    ['the body itself', fields],
    ['a known field of it', (count: number) => ({ facts: fields(count), stranger: 1 })],
    ['an object in a list', (count: number) => ({ facts: [{ deep: fields(count) }] })],
  ])('ends the search for mistakes when it has more than two thousand: %s', async (_words, bodyOf) => {
    await expect(read(bodyOf(2_001))).rejects.toMatchObject({ code: 'too_many_fields' });
    await expect(read(bodyOf(2_000))).rejects.toMatchObject({
      code: expect.stringMatching(/unknown_field|invalid_request/),
    });
  });

  it('is not a list of many items', async () => {
    const facts = new Array(2_001).fill(0);
    await expect(read({ facts })).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
