import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, type ValidationArguments, ValidationTypes } from 'class-validator';
import { pathTo } from '../../config/config-mistakes.js';
import { InvariantViolation } from '../../kernel/errors.js';
import { echo, type Mistakes } from './mistakes.js';

export type DtoClass<T extends object = object> = new () => T;
type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];
type Check = (value: unknown, dto: object) => boolean;

interface Rule {
  readonly name: string;
  /** Applies to each item of a list. */
  readonly isOfItems: boolean;
  readonly holds: Check;
  readonly code: string;
  /** What is wrong with a value that does not keep the rule. */
  readonly message: (value: unknown, dto: object) => string;
}

interface Field {
  readonly name: string;
  /** The field is checked only if all of them hold (`@IsOptional`). */
  readonly conditions: readonly Check[];
  /** In the order of the decorators. */
  readonly rules: readonly Rule[];
  /** Class of the object, or of each object of the list. */
  readonly nested: DtoClass | null;
  readonly isList: boolean;
}

/**
 * The rules of the decorators of a DTO class, collected once; class-validator collects them again for every object
 * (docs/decisions/0018-dto-rules.md has the cost). A field is checked up to its first rule that is broken, so the rules of a list as a whole
 * stand before those of its items. Nothing is checked after the last mistake that is told. Of class-transformer's decorators they know
 * only `@Type` with a fixed class.
 */
export class DtoRules {
  private static readonly known = new WeakMap<DtoClass, DtoRules>();
  private readonly fields: readonly Field[];
  private readonly names: ReadonlySet<string>;

  private constructor(private readonly type: DtoClass) {
    const storage = getMetadataStorage();
    const rules = storage.groupByPropertyName(storage.getTargetValidationMetadatas(type, '', false, false));
    this.fields = Object.entries(rules).map(([name, ofField]) => fieldOf(type, name, ofField));
    this.names = new Set(Object.keys(rules));
    if (this.fields.length === 0) throw new InvariantViolation(`${type.name} has no rules`);
  }

  static of(type: DtoClass): DtoRules {
    const rules = DtoRules.known.get(type) ?? new DtoRules(type);
    DtoRules.known.set(type, rules);
    return rules;
  }

  /** @returns an instance that keeps all rules, or null after it added mistakes */
  read(value: unknown, mistakes: Mistakes, path = ''): object | null {
    const before = mistakes.found;
    if (!isJsonObject(value)) {
      mistakes.add(path, 'invalid_field', `${path === '' ? 'the body' : path} must be an object`);
      return null;
    }
    for (const name in value) {
      if (this.names.has(name)) continue;
      const unknown = pathTo(path, echo(name));
      mistakes.add(unknown, 'unknown_field', `${unknown} is not a known field`);
      if (mistakes.isFull) return null;
    }
    const dto: Record<string, unknown> = Object.assign(new this.type(), value);
    for (const field of this.fields) {
      check(field, dto, path, mistakes);
      if (mistakes.isFull) return null;
    }
    return mistakes.found === before ? dto : null;
  }
}

/** Replaces nested objects with instances of their class. */
function check(
  { name, conditions, rules, nested, isList }: Field,
  dto: Record<string, unknown>,
  parent: string,
  mistakes: Mistakes,
): void {
  const value = dto[name];
  if (!conditions.every((holds) => holds(value, dto))) return;
  const path = pathTo(parent, name);
  const broken = rules.find(({ holds }) => !holds(value, dto));
  if (broken !== undefined) {
    if (value === undefined && broken.name !== 'isObject') mistakes.add(path, 'missing_field', `${path} is missing`);
    else mistakes.add(path, broken.code, broken.message(value, dto));
  } else if (nested !== null && value !== undefined) {
    dto[name] =
      isList && Array.isArray(value)
        ? instancesOf(DtoRules.of(nested), value, path, mistakes)
        : DtoRules.of(nested).read(value, mistakes, path);
  }
}

function instancesOf(rules: DtoRules, items: readonly unknown[], path: string, mistakes: Mistakes): unknown[] {
  const instances: unknown[] = [];
  for (const [index, item] of items.entries()) {
    instances.push(rules.read(item, mistakes, pathTo(path, index)));
    if (mistakes.isFull) break;
  }
  return instances;
}

function fieldOf(type: DtoClass, name: string, metadata: readonly Metadata[]): Field {
  const of = (wanted: string): Metadata[] => metadata.filter((rule) => rule.type === wanted);
  // The class that class-transformer uses for an object there.
  const made: unknown = Reflect.get(plainToInstance(type, { [name]: {} }), name);
  const nested = typeof made === 'object' && made !== null && made.constructor !== Object ? made.constructor : null;
  if (nested === null && of(ValidationTypes.NESTED_VALIDATION).length > 0) {
    throw new InvariantViolation(`${type.name}.${name} is validated as an object without a @Type`);
  }
  // Decorators run from the last to the first.
  const rules = metadata.flatMap(rulesOf).reverse();
  return {
    name,
    rules,
    isList: isBoundedList(rules, `${type.name}.${name}`),
    nested: nested as DtoClass | null,
    conditions: of(ValidationTypes.CONDITIONAL_VALIDATION).map(({ constraints }) => {
      const [condition] = constraints as [(dto: object, value: unknown) => unknown];
      return (value, dto) => Boolean(condition(dto, value));
    }),
  };
}

/** @throws InvariantViolation for a list of any length, or whose items are checked before its length */
function isBoundedList(rules: readonly Rule[], field: string): boolean {
  const isList = rules.some(({ name, isOfItems }) => name === 'isArray' || isOfItems);
  const bounds = rules.findIndex(({ name }) => name === 'arrayMaxSize');
  const items = rules.findIndex(({ isOfItems }) => isOfItems);
  if (isList && (bounds < 0 || (items >= 0 && items < bounds))) {
    throw new InvariantViolation(`${field} is a list without an @ArrayMaxSize before the rules of its items`);
  }
  return isList;
}

/** Only `true` keeps a rule: there are none that return a promise. */
function rulesOf({
  target,
  constraintCls,
  constraints,
  each,
  propertyName: property,
  message,
  context,
}: Metadata): Rule[] {
  // Not the name of the object's constructor: a body may have a field of that name.
  const targetName = typeof target === 'string' ? target : target.name;
  const constraintClasses = getMetadataStorage().getTargetValidatorConstraints(constraintCls);
  return constraintClasses.map(({ instance, name }): Rule => {
    const given = (value: unknown, object: object): ValidationArguments => ({
      ...{ value, object, property, constraints, targetName },
    });
    const holds: Check = (value, dto) => instance.validate(value, given(value, dto)) === true;
    const { code } = { code: 'invalid_field', ...(context as { code?: string } | undefined) };
    return {
      ...{ name, code, isOfItems: each },
      holds: (value, dto) =>
        each && Array.isArray(value) ? value.every((item) => holds(item, dto)) : holds(value, dto),
      message: (value, dto) => {
        const words = message || (instance.defaultMessage?.(given(value, dto)) ?? '');
        return filledIn(typeof words === 'string' ? words : words(given(value, dto)), property, constraints);
      },
    };
  });
}

/** The messages of class-validator have places for the name of the field, and for what its decorator was given. */
function filledIn(words: string, property: string, constraints: readonly unknown[] = []): string {
  return words
    .replaceAll(/\$constraint(\d+)/g, (_place, number: string) => {
      const constraint = constraints[Number(number) - 1];
      return Array.isArray(constraint) ? constraint.join(', ') : String(constraint);
    })
    .replaceAll('$property', property);
}

function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
