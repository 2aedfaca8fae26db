import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { pathTo } from '../../config/config-mistakes.js';
import { InvalidInput, InvariantViolation } from '../../kernel/errors.js';
import { type DtoClass, DtoRules } from './dto-rules.js';
import { InvalidRequest } from './invalid-request.js';
import { echo, Mistakes } from './mistakes.js';
import { findUnreadable, MAX_NESTING, TOO_DEEP } from './nesting.js';

/** More than any query has; class-transformer compares each name with all others. */
const MAX_PARAMETERS = 100;
/** Of what looks otherwise `Number` makes numbers, too: 0 of a space, 16 of 0x10. */
const WHOLE_NUMBER = /^-?\d+$/;

/** Refuses unknown fields, reports the first mistakes at once, and returns instances of the DTO classes. */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    assertReadable(value, new Mistakes());
    if (metatype === undefined || metatype === Object) return value;
    // Without a body all its fields are missing. A body that is null is a mistake: generators send one that may be null when there is none.
    if (type === 'body') return instanceOf(metatype, value === undefined ? {} : value, new Mistakes());
    return type === 'query' ? queryOf(metatype, value) : value;
  }

  /** Validates a part of a body like a whole body. */
  read<T extends object>(type: DtoClass<T>, value: unknown, mistakes = new Mistakes()): T {
    assertReadable(value, mistakes);
    const dto = instanceOf(type, value, mistakes);
    if (!(dto instanceof type)) throw new InvariantViolation(`validation made no ${type.name}`);
    return dto;
  }
}

function instanceOf(type: DtoClass, value: unknown, mistakes: Mistakes): object {
  const dto = DtoRules.of(type).read(value, mistakes);
  if (dto === null) throw new InvalidRequest(mistakes.told);
  return dto;
}

/** The values of a query are texts; class-transformer makes numbers and lists of them. */
function queryOf(type: DtoClass, value: unknown): object {
  if (typeof value !== 'object' || value === null || Object.keys(value).length > MAX_PARAMETERS) {
    throw new InvalidInput(
      'too_many_parameters',
      `the query has more than ${MAX_PARAMETERS} parameters`,
      'look up their names at /docs',
    );
  }
  const made: Record<string, unknown> = { ...plainToInstance(type, value) };
  const typed = Object.entries<unknown>({ ...value }).map(([name, text]) => {
    // It leaves out names that every object has, such as `constructor`.
    const one = Object.hasOwn(made, name) ? made[name] : text;
    return [name, typeof one === 'number' && !WHOLE_NUMBER.test(String(text)) ? NaN : one];
  });
  return instanceOf(type, Object.fromEntries(typed), new Mistakes());
}

/** @throws InvalidInput `nested_too_deeply`; InvalidRequest for a text or a number that cannot be stored */
function assertReadable(value: unknown, mistakes: Mistakes): void {
  const found = findUnreadable(value);
  if (found === null) return;
  if (found === TOO_DEEP) {
    throw new InvalidInput(
      'nested_too_deeply',
      `the request is nested more than ${MAX_NESTING} deep`,
      'send a request with less nesting',
    );
  }
  const path = found.reduce<string>((parent, key) => pathTo(parent, echo(String(key))), '');
  const name = path === '' ? 'the value' : path;
  const at = found.reduce<unknown>((parent, key) => Reflect.get(Object(parent), key), value);
  // Else it is the name of a field that has the text.
  if (typeof at === 'number' && !Number.isFinite(at))
    mistakes.add(path, 'invalid_number', `${name} is a number above 1.8e308: send it as text`);
  else mistakes.add(path, 'invalid_text', `${name} has NUL or half of a surrogate pair, which cannot be stored`);
  throw new InvalidRequest(mistakes.told);
}
